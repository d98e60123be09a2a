/**
 * An answer that goes on until one side ends it. Bytes go to the socket while it takes them; the rest is kept by reference, since many
 * readers are sent the same.
 */
import type { Outlet } from '#management/changes/live-bytes.ts'
import type { LiveTurns, Pouring } from './live-turns.ts'
import { type Wire, writePiece } from './wire.ts'

/** Bytes given to a socket at a time, about: what it does not take of them the library copies. */
const PIECE_BYTES = 65_536
/** Ends an event, so an answer may end behind it. */
const EVENT_END = '\n\n'

export class LiveAnswer implements Outlet, Pouring {
  readonly #wire: Wire
  readonly #turns: LiveTurns
  readonly #onEnd: () => void
  readonly #listeners: (() => void)[] = []
  #kept: Uint8Array[] = []
  #isEnding = false
  #waiting: (() => void) | null = null
  keptBytes = 0
  isFull = false
  isOver = false

  /** `onEnd` is called when the answer has ended, but not when its reader has left. */
  constructor(wire: Wire, turns: LiveTurns, onEnd: () => void) {
    this.#wire = wire
    this.#turns = turns
    this.#onEnd = onEnd
  }

  send(bytes: Uint8Array): void {
    if (this.isOver || this.#isEnding) return
    this.#keep(bytes)
    this.#pour()
  }

  drained(): Promise<void> {
    if (this.keptBytes === 0 || this.isOver) return Promise.resolve()
    return new Promise(resolve => {
      this.#waiting = resolve
    })
  }

  end(bytes: Uint8Array, { dropsKept }: { readonly dropsKept: boolean }): void {
    if (this.isOver || this.#isEnding) return
    if (dropsKept) {
      this.#kept = []
      this.keptBytes = 0
    }
    this.#keep(bytes)
    this.#isEnding = true
    // The library keeps the last bytes for a socket that is full, and ends the connection if it stays so.
    if (dropsKept) this.isFull = false
    this.#pour()
  }

  whenOver(listener: () => void): void {
    if (this.isOver) listener()
    else this.#listeners.push(listener)
  }

  /** The wire must not be touched any more. */
  stop(): void {
    if (this.isOver) return
    this.isOver = true
    this.#kept = []
    this.keptBytes = 0
    this.#wake()
    for (const listener of this.#listeners) listener()
  }

  /** Cut where events end. */
  #keep(bytes: Uint8Array): void {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    for (let from = 0; from < bytes.length;) {
      const end = buffer.indexOf(EVENT_END, Math.min(from + PIECE_BYTES, bytes.length - EVENT_END.length))
      const to = end < 0 ? bytes.length : end + EVENT_END.length
      this.#kept.push(bytes.subarray(from, to))
      from = to
    }
    this.keptBytes += bytes.length
  }

  pourPiece(): boolean {
    if (this.isOver || this.isFull) return false
    const piece = this.#kept.shift()
    if (piece === undefined) return false
    this.keptBytes -= piece.length
    if (!writePiece(this.#wire, piece)) {
      this.isFull = true
      this.#wire.onWritable(() => {
        this.isFull = false
        if (!this.isOver) this.#pour()
        return true
      })
    }
    if (this.#kept.length > 0) return !this.isFull
    if (this.#isEnding) this.#finish()
    else if (!this.isFull) this.#wake()
    return false
  }

  #pour(): void {
    if (this.isFull) return
    // The last piece of a socket that was full: nothing is kept any more that would ask for it.
    if (this.#kept.length === 0) this.#wake()
    else this.#turns.take(this)
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
