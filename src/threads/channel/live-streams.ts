/**
 * The streams of changes of one HTTP thread. Each catches up piece by piece, as fast as its reader takes them. Then it
 * joins a channel: its batches are sent to all of its readers, and share their bytes with those of the environment's other channels.
 *
 * The stream of a reader that does not keep up ends with `slow`: it connects again, and catches up at its own pace. Such a reader has too
 * much before it, or needs the oldest block when the blocks that are kept reach their limit (`HeldBytes`).
 */
import { endText } from '#management/changes/event-text.ts'
import { type Held, HeldBytes } from '#management/changes/held-bytes.ts'
import { LiveBytes, type Outlet, wholeBytes } from '#management/changes/live-bytes.ts'
import type { StreamEnd } from '#model/wire/change-event.ts'
import type { ThreadCounters } from '#telemetry/thread-counters.ts'
import type { FromHttpThread, StreamPiece, ToHttpThread } from './messages.ts'

type Batch = ToHttpThread & { readonly kind: 'stream-batch' }
type EndReason = 'left' | 'slow' | 'key' | 'closing'

interface Stream {
  readonly call: number
  readonly outlet: Outlet
  readonly isAdmitted: () => boolean
  /** Null while it catches up. */
  channel: number | null
  endReason: EndReason
}

/** How many times as much may be kept for a reader whose socket takes what comes, while this thread has other things to do. */
const WAITING_FOR_TURN = 4
/** How often keys are looked at that end by themselves. */
const KEYS_LOOK_MS = 2_000

const ENDS: { readonly [Reason in Exclude<EndReason, 'left'>]: readonly [event: StreamEnd, reason: string] } =
  {
    slow: [
      'slow',
      'this reader does not keep up: connect again with the last id, and take what comes faster',
    ],
    key: ['closing', 'the key of this stream is not valid any more'],
    closing: ['closing', 'this node stops or cannot go on: connect again with the last id'],
  }

export interface LiveStreamsOptions {
  readonly bytesMax: number
  readonly heldMax: number
  readonly counters: ThreadCounters | null
}

export class LiveStreams {
  readonly #send: (message: FromHttpThread) => void
  readonly #bytesMax: number
  readonly #counters: ThreadCounters | null
  readonly #streams = new Map<number, Stream>()
  readonly #channels = new Map<number, Set<Stream>>()
  readonly #held: HeldBytes<Stream>
  /** The blocks that are kept for readers. */
  readonly #blocks = new Map<number, Held<Stream>>()
  #lastTaken = 0
  /** The block that streams are being sent. */
  #handing: Held<Stream> | null = null
  readonly #looking: NodeJS.Timeout
  #isClosed = false

  /** `bytesMax`: limit of what one reader has before it. `heldMax`: limit of all blocks of this thread; half of it for an environment. */
  constructor(send: (message: FromHttpThread) => void, { bytesMax, heldMax, counters }: LiveStreamsOptions) {
    this.#send = send
    this.#bytesMax = bytesMax
    this.#held = new HeldBytes(heldMax, stream => this.#end(stream, 'slow'))
    this.#counters = counters
    this.#looking = setInterval(() => this.lookAtKeys(), KEYS_LOOK_MS)
    this.#looking.unref()
  }

  /** The answer to a call that was granted a stream. `isAdmitted`: whether its key is still good. */
  answerTo(call: number, isAdmitted: () => boolean): LiveBytes {
    return new LiveBytes(
      outlet => this.#begin({ call, outlet, isAdmitted, channel: null, endReason: 'left' }),
      () => this.#send({ kind: 'leave-stream', call }),
    )
  }

  receivePiece(call: number, piece: StreamPiece): void {
    const stream = this.#streams.get(call)
    if (!stream) return
    if ('error' in piece) return this.#end(stream, 'closing')
    if ('isSlow' in piece) return this.#end(stream, 'slow')
    const { bytes, channel } = piece
    this.#count(1, { ...piece, length: bytes.length })
    stream.outlet.send(wholeBytes(bytes))
    if (channel === null) void this.#pullWhenTaken(stream)
    else this.#join(stream, channel)
  }

  receiveBatch(batch: Batch): void {
    // Batches of a block come one after the other.
    if (batch.block !== this.#lastTaken) this.#send({ kind: 'took-block', block: batch.block })
    this.#lastTaken = batch.block
    const streams = this.#channels.get(batch.channel)
    if (!streams) return
    this.#count(streams.size, batch)
    const block = this.#blockOf(batch)
    this.#handing = block
    for (const stream of streams) {
      const { outlet } = stream
      if (this.#isTooMuch(outlet, batch.length)) {
        this.#end(stream, 'slow')
        continue
      }
      block.holders.add(stream)
      outlet.send(batch, () => this.#letGo(block, stream))
      if (batch.isLast) this.#end(stream, 'closing', NOTHING)
    }
    this.#handing = null
    if (block.holders.size === 0) this.#held.drop(block)
  }

  /** Bytes that are kept for readers of channels, each once. */
  get heldBytes(): number {
    return this.#held.bytes
  }

  #blockOf({ owner, block, bytes }: Batch): Held<Stream> {
    const known = this.#blocks.get(block)
    if (known) return known
    const held = this.#held.add(owner, bytes.length, () => this.#blocks.delete(block))
    this.#blocks.set(block, held)
    return held
  }

  #letGo(block: Held<Stream>, stream: Stream): void {
    if (block.holders.delete(stream) && block.holders.size === 0 && block !== this.#handing)
      this.#held.drop(block)
  }

  /** What waits for its turn is shared by all readers, and nobody's fault: there may be more of it. */
  #isTooMuch({ keptBytes, isFull }: Outlet, bytes: number): boolean {
    const bytesMax = isFull ? this.#bytesMax : WAITING_FOR_TURN * this.#bytesMax
    return keptBytes > 0 && keptBytes + bytes > bytesMax
  }

  /** Ends the streams whose keys are not valid any more. */
  lookAtKeys(): void {
    for (const stream of this.#streams.values()) if (!stream.isAdmitted()) this.#end(stream, 'key')
  }

  /** Sends all readers elsewhere. Those that come afterwards are sent away at once if `isForGood`. */
  sendAway({ isForGood }: { readonly isForGood: boolean }): void {
    this.#isClosed ||= isForGood
    for (const stream of this.#streams.values()) this.#end(stream, 'closing')
    if (isForGood) clearInterval(this.#looking)
  }

  #begin(stream: Stream): void {
    const { call, outlet } = stream
    this.#streams.set(call, stream)
    this.#counters?.add('changeStreams', 1)
    outlet.whenOver(() => this.#forget(stream))
    if (this.#isClosed) this.#end(stream, 'closing')
    else this.#send({ kind: 'pull-stream', call })
  }

  async #pullWhenTaken({ call, outlet }: Stream): Promise<void> {
    await outlet.drained()
    if (!outlet.isOver && this.#streams.has(call)) this.#send({ kind: 'pull-stream', call })
  }

  #join(stream: Stream, channel: number): void {
    stream.channel = channel
    const known = this.#channels.get(channel)
    if (known) known.add(stream)
    else this.#channels.set(channel, new Set([stream]))
  }

  #end(stream: Stream, reason: Exclude<EndReason, 'left'>, bytes = bytesOfEnd(reason)): void {
    stream.endReason = reason
    stream.outlet.end(bytes, { dropsKept: reason === 'slow' })
    // One that is full goes on until its reader has taken what is kept: it hears nothing more.
    this.#leaveChannel(stream)
  }

  #forget(stream: Stream): void {
    if (!this.#streams.delete(stream.call)) return
    this.#leaveChannel(stream)
    this.#counters?.add('changeStreams', -1)
    this.#counters?.add('changeStreamEnds', 1, stream.endReason)
    this.#send({ kind: 'leave-stream', call: stream.call })
  }

  #leaveChannel(stream: Stream): void {
    if (stream.channel === null) return
    const streams = this.#channels.get(stream.channel)
    streams?.delete(stream)
    if (streams?.size === 0) this.#channels.delete(stream.channel)
    stream.channel = null
  }

  #count(readers: number, { length, events, resets }: Pick<Batch, 'length' | 'events' | 'resets'>): void {
    if (this.#counters === null) return
    this.#counters.add('changeEvents', events * readers)
    this.#counters.add('changeBytes', length * readers)
    if (resets > 0) this.#counters.add('changeResets', resets * readers)
  }
}

const NOTHING = new Uint8Array(0)
const encoder = new TextEncoder()

function bytesOfEnd(reason: Exclude<EndReason, 'left'>): Uint8Array {
  return encoder.encode(endText(...ENDS[reason]))
}
