/**
 * Serves the change streams of one HTTP thread. Each stream first catches up, chunk by chunk, as fast as its
 * reader consumes them. Then it joins a channel. The batches of a channel are sent to all of its readers, and
 * share their bytes with the other channels of the environment.
 *
 * The stream of a slow consumer ends with the event `slow`: the client reconnects and catches up at its own
 * pace. A consumer is slow if too many bytes are buffered for it, or if it needs the oldest block when the
 * buffered blocks reach their limit (`HeldBytes`).
 */
import { endText } from '#management/changes/event-text.ts'
import { type Held, HeldBytes } from '#management/changes/held-bytes.ts'
import { LiveBytes, type Outlet, type StreamHolder, wholeBytes } from '#management/changes/live-bytes.ts'
import type { StreamEnd } from '#entities/change-event.ts'
import type { ThreadCounters } from '#telemetry/thread-counters.ts'
import type { FromHttpThread, StreamPiece, ToHttpThread } from './messages.ts'

type StreamBatch = ToHttpThread & { readonly kind: 'stream-batch' }
type EndReason = 'left' | 'slow' | 'key' | 'closing'

interface Stream {
  readonly call: number
  readonly outlet: Outlet
  readonly isAdmitted: () => boolean
  readonly holder: StreamHolder
  /** Channel that the stream has joined; null during the catch-up. */
  channel: number | null
  endReason: EndReason
}

/**
 * Factor by which the buffer limit is larger while the socket accepts data but this thread has not sent it
 * yet.
 */
const WAITING_FOR_TURN = 4
/** Interval of the checks for keys that have expired. */
const KEYS_LOOK_MS = 2_000

/** Reasons for the end of a stream whose key or session no longer counts. */
const ENDED: Readonly<Record<StreamHolder, string>> = {
  key: 'the API key of this stream is no longer valid',
  session: 'the session of this stream has ended, or its grants are no longer sufficient',
}

const ENDS: { readonly [Reason in Exclude<EndReason, 'left'>]: readonly [event: StreamEnd, reason: string] } =
  {
    slow: ['slow', 'this client reads too slowly: reconnect with the last id and read faster'],
    key: ['closing', ENDED.key],
    closing: ['closing', 'this node stops or cannot continue: reconnect with the last id'],
  }

export interface ChangeStreamReadersOptions {
  readonly bytesMax: number
  readonly heldMax: number
  readonly counters: ThreadCounters | null
}

export class ChangeStreamReaders {
  readonly #send: (message: FromHttpThread) => void
  readonly #bytesMax: number
  readonly #counters: ThreadCounters | null
  readonly #streams = new Map<number, Stream>()
  readonly #channels = new Map<number, Set<Stream>>()
  readonly #held: HeldBytes<Stream>
  /** Blocks that are buffered for readers. */
  readonly #blocks = new Map<number, Held<Stream>>()
  #lastTaken = 0
  /** The block that is being sent to streams. */
  #handing: Held<Stream> | null = null
  readonly #looking: NodeJS.Timeout
  #isClosed = false

  /**
   * `bytesMax` limits the bytes buffered for one reader. `heldMax` limits all blocks of this thread; an
   * environment can use half of it.
   */
  constructor(
    send: (message: FromHttpThread) => void,
    { bytesMax, heldMax, counters }: ChangeStreamReadersOptions,
  ) {
    this.#send = send
    this.#bytesMax = bytesMax
    this.#held = new HeldBytes(heldMax, stream => this.#end(stream, 'slow'))
    this.#counters = counters
    this.#looking = setInterval(() => this.lookAtKeys(), KEYS_LOOK_MS)
    this.#looking.unref()
  }

  /**
   * Body of the response to a call that was granted a stream. `isAdmitted` returns whether its key is still
   * valid, or its session.
   */
  answerTo(call: number, isAdmitted: () => boolean, holder: StreamHolder = 'key'): LiveBytes {
    return new LiveBytes(
      outlet => this.#begin({ call, outlet, isAdmitted, holder, channel: null, endReason: 'left' }),
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

  receiveBatch(batch: StreamBatch): void {
    // Batches of a block arrive consecutively.
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

  /** Bytes that are buffered for readers of channels. Shared bytes are counted once. */
  get heldBytes(): number {
    return this.#held.bytes
  }

  #blockOf({ owner, block, bytes }: StreamBatch): Held<Stream> {
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

  /**
   * Whether the buffered bytes exceed the limit. Data that waits for this thread is shared by all readers and
   * not caused by a slow reader, so the limit is then higher.
   */
  #isTooMuch({ keptBytes, isFull }: Outlet, bytes: number): boolean {
    const bytesMax = isFull ? this.#bytesMax : WAITING_FOR_TURN * this.#bytesMax
    return keptBytes > 0 && keptBytes + bytes > bytesMax
  }

  /** Ends the streams whose keys or sessions are no longer valid. */
  lookAtKeys(): void {
    for (const stream of this.#streams.values()) {
      if (!stream.isAdmitted()) this.#end(stream, 'key', bytesOfEnd('key', stream.holder))
    }
  }

  /**
   * Asks all readers to reconnect to another node. If `isForGood`, later readers are sent away immediately.
   */
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
    // A stream with a full socket remains open until its reader has consumed the buffered bytes. It receives
    // no more batches.
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

  #count(
    readers: number,
    { length, events, resets }: Pick<StreamBatch, 'length' | 'events' | 'resets'>,
  ): void {
    if (this.#counters === null) return
    this.#counters.add('changeEvents', events * readers)
    this.#counters.add('changeBytes', length * readers)
    if (resets > 0) this.#counters.add('changeResets', resets * readers)
  }
}

const NOTHING = new Uint8Array(0)
const encoder = new TextEncoder()

function bytesOfEnd(reason: Exclude<EndReason, 'left'>, holder: StreamHolder = 'key'): Uint8Array {
  const [event, text] = ENDS[reason]
  return encoder.encode(endText(event, reason === 'key' ? ENDED[holder] : text))
}
