/**
 * A streaming response that continues until the service or the client ends it. Events are written while the
 * socket accepts bytes. Events that must wait are kept by reference and not copied, because many clients
 * receive the same events. `threads/channel/change-stream-readers.ts` decides when a reader is too slow.
 */
import type { EventBytes, Outlet } from '#management/changes/live-bytes.ts'
import type { StreamScheduler, Pouring } from './stream-scheduler.ts'
import { type Wire, writePiece } from './wire.ts'

/**
 * Approximate number of bytes that are passed to a socket at a time. If the socket does not accept all of
 * them, the HTTP library copies the rest.
 */
const PIECE_BYTES = 65_536
/** Text that ends an event. A response can be ended only after it. */
const EVENT_END = '\n\n'
const LINE_END = Buffer.from('\n')
const NOTHING = new Uint8Array(0)

/** Events that the socket has not accepted yet. */
interface Kept {
  readonly events: EventBytes
  readonly whenGone: () => void
  /**
   * Index of the next range in the events, and the number of bytes of this range that were already written.
   */
  range: number
  gone: number
}

export class LiveAnswer implements Outlet, Pouring {
  readonly #wire: Wire
  readonly #scheduler: StreamScheduler
  readonly #onEnd: () => void
  readonly #listeners: (() => void)[] = []
  #kept: Kept[] = []
  /** The last bytes of the response. Null until `end` is called. */
  #ending: Uint8Array | null = null
  /** Whether the last written piece ended in the middle of an event. */
  #isAmidEvent = false
  #waiting: (() => void) | null = null
  keptBytes = 0
  isFull = false
  isOver = false

  /**
   * `onEnd` is called when the response was ended by the service. It is not called when the client
   * disconnected.
   */
  constructor(wire: Wire, scheduler: StreamScheduler, onEnd: () => void) {
    this.#wire = wire
    this.#scheduler = scheduler
    this.#onEnd = onEnd
  }

  send(events: EventBytes, whenGone: () => void = () => {}): void {
    if (this.isOver || this.#ending !== null || events.length === 0) return whenGone()
    this.#kept.push({ events, whenGone, range: 0, gone: 0 })
    this.keptBytes += events.length
    this.#pour()
  }

  drained(): Promise<void> {
    if (this.keptBytes === 0 || this.isOver) return Promise.resolve()
    return new Promise(resolve => {
      this.#waiting = resolve
    })
  }

  end(bytes: Uint8Array, { dropsKept }: { readonly dropsKept: boolean }): void {
    if (this.isOver || (this.#ending !== null && !dropsKept)) return
    if (dropsKept) this.#drop()
    this.#ending = bytes
    // Writes the last bytes even if the socket is full. The HTTP library buffers them, and closes the
    // connection if the socket stays full.
    if (dropsKept) this.isFull = false
    this.#pour()
  }

  whenOver(listener: () => void): void {
    if (this.isOver) listener()
    else this.#listeners.push(listener)
  }

  /** Called when the request is over. The wire must not be used any more. */
  stop(): void {
    if (this.isOver) return
    this.isOver = true
    this.#drop()
    this.#wake()
    for (const listener of this.#listeners) listener()
  }

  #drop(): void {
    const kept = this.#kept
    this.#kept = []
    this.keptBytes = 0
    for (const { whenGone } of kept) whenGone()
  }

  pourPiece(): boolean {
    if (this.isOver || this.isFull) return false
    const piece = this.#kept.length > 0 ? this.#takePiece() : this.#takeEnding()
    if (piece.length > 0 && !writePiece(this.#wire, piece)) {
      this.isFull = true
      this.#wire.onWritable(() => {
        this.isFull = false
        if (!this.isOver) this.#pour()
        return true
      })
    }
    if (this.#kept.length > 0) return !this.isFull
    if (this.#ending === null && !this.isFull) this.#wake()
    // The end of the response is also written if the socket is full, because no other bytes follow.
    else if (this.#ending?.length === 0) this.#finish()
    else return !this.isFull
    return false
  }

  /**
   * Takes the next bytes of the oldest kept events, up to the end of the event in which the piece reaches
   * `PIECE_BYTES`.
   */
  #takePiece(): Uint8Array {
    const kept = this.#kept[0]!
    const { bytes, ranges } = kept.events
    const taken: Uint8Array[] = []
    let length = 0
    while (kept.range < ranges.length && length < PIECE_BYTES) {
      const from = ranges[kept.range]! + kept.gone
      const to = ranges[kept.range + 1]!
      const cut = endOfEvent(bytes, from + PIECE_BYTES - length, to)
      taken.push(bytes.subarray(from, cut))
      length += cut - from
      kept.gone += cut - from
      if (cut < to) continue
      kept.range += 2
      kept.gone = 0
    }
    this.keptBytes -= length
    const piece = taken.length === 1 ? taken[0]! : Buffer.concat(taken)
    this.#isAmidEvent = !isWhole(piece)
    if (kept.range === ranges.length) {
      this.#kept.shift()
      kept.whenGone()
    }
    return piece
  }

  #takeEnding(): Uint8Array {
    const ending = this.#ending ?? NOTHING
    if (this.#ending !== null) this.#ending = NOTHING
    return this.#isAmidEvent && ending.length > 0 ? Buffer.concat([LINE_END, ending]) : ending
  }

  #pour(): void {
    if (this.isFull) return
    // The previous call wrote the last kept events, but the socket was full. Nothing is left to write, so
    // `drained` must be resolved here.
    if (this.#kept.length === 0 && this.#ending === null) this.#wake()
    else this.#scheduler.take(this)
  }

  #finish(): void {
    if (this.isOver) return
    this.#wire.cork(() => this.#wire.end('', false))
    this.#onEnd()
    this.stop()
  }

  #wake(): void {
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.()
  }
}

/** Offset after the first event end that is found from `least` on. Returns `to` if there is none. */
function endOfEvent(bytes: Uint8Array, least: number, to: number): number {
  if (least >= to) return to
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, to)
  const end = buffer.indexOf(EVENT_END, least)
  return end < 0 ? to : end + EVENT_END.length
}

/** Whether the last event in the bytes is complete. */
function isWhole(bytes: Uint8Array): boolean {
  // An event ends with two line breaks. A piece can consist of only the second one.
  return bytes.at(-1) === LINE_END[0] && (bytes.length === 1 || bytes.at(-2) === LINE_END[0])
}
