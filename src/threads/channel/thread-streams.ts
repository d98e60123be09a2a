/**
 * Main-thread side of the change streams of one HTTP thread. A reader that catches up requests one part after
 * the other. Readers that are caught up share the batches of their channel, which are sent to the thread
 * once, independent of the number of readers. The blocks in transit to the thread are limited: if the thread
 * is too busy to accept them, the streams end as slow.
 */
import type { ChangeBatch, ChangeChannel } from '#management/changes/change-channel.ts'
import { ChangeSubscription } from '#management/changes/change-subscription.ts'
import type { ErrorData } from '#model/errors.ts'
import type { FromHttpThread, ToHttpThread } from './messages.ts'

export type StreamMessage = FromHttpThread & {
  readonly kind: 'pull-stream' | 'leave-stream' | 'took-block'
}

export function isAboutStreams(message: FromHttpThread): message is StreamMessage {
  const { kind } = message
  return kind === 'pull-stream' || kind === 'leave-stream' || kind === 'took-block'
}

interface KeptStream {
  readonly subscription: ChangeSubscription
  readonly dataOf: (error: unknown) => ErrorData
  /** Channel that the stream has joined; null during the catch-up. */
  channel: ChangeChannel | null
}

interface ListenedChannel {
  readers: number
  readonly stop: () => void
}

export class ThreadStreams {
  readonly #send: (message: ToHttpThread) => void
  readonly #streams = new Map<number, KeptStream>()
  readonly #channels = new Map<ChangeChannel, ListenedChannel>()
  readonly #bytesMax: number
  /** Bytes of blocks that the thread has not acknowledged. */
  readonly #underWay = new Map<number, number>()
  #bytesUnderWay = 0

  /** `bytesMax` limits the bytes in transit to the thread. */
  constructor(send: (message: ToHttpThread) => void, bytesMax: number) {
    this.#send = send
    this.#bytesMax = bytesMax
  }

  keep(call: number, stream: Pick<KeptStream, 'subscription' | 'dataOf'>): void {
    this.#streams.set(call, { ...stream, channel: null })
    stream.subscription.whenSlow(() => this.#endSlow(call))
  }

  receive(message: StreamMessage): void {
    if (message.kind === 'pull-stream') void this.#pull(message.call)
    else if (message.kind === 'leave-stream') this.#leave(message.call)
    else {
      this.#bytesUnderWay -= this.#underWay.get(message.block) ?? 0
      this.#underWay.delete(message.block)
    }
  }

  /** Called when the thread has ended. */
  end(): void {
    for (const call of this.#streams.keys()) this.#leave(call)
  }

  async #pull(call: number): Promise<void> {
    const stream = this.#streams.get(call)
    if (!stream) return
    try {
      await stream.subscription.next(({ channel, ...piece }) => {
        if (channel !== null) this.#join(stream, channel)
        this.#send({ kind: 'stream-piece', call, piece: { ...piece, channel: channel && channel.id } })
      })
    } catch (error) {
      if (!this.#streams.has(call)) return
      this.#leave(call)
      this.#send({ kind: 'stream-piece', call, piece: { error: stream.dataOf(error) } })
    }
  }

  /**
   * Sends the pending batches of the channel first, because the reader has already received them from the
   * log.
   */
  #join(stream: KeptStream, channel: ChangeChannel): void {
    channel.flush()
    stream.channel = channel
    const listened = this.#channels.get(channel)
    if (listened) listened.readers += 1
    else
      this.#channels.set(channel, { readers: 1, stop: channel.listen(batch => this.#hand(channel, batch)) })
  }

  #hand(channel: ChangeChannel, batch: ChangeBatch): void {
    if (!this.#underWay.has(batch.block)) {
      const { length } = batch.bytes
      if (this.#underWay.size > 0 && this.#bytesUnderWay + length > this.#bytesMax) {
        for (const [call, stream] of this.#streams) if (stream.channel === channel) this.#endSlow(call)
        return
      }
      this.#underWay.set(batch.block, length)
      this.#bytesUnderWay += length
    }
    this.#send({ kind: 'stream-batch', channel: channel.id, ...batch })
  }

  #endSlow(call: number): void {
    this.#leave(call)
    this.#send({ kind: 'stream-piece', call, piece: { isSlow: true } })
  }

  #leave(call: number): void {
    const stream = this.#streams.get(call)
    if (!stream) return
    this.#streams.delete(call)
    const { channel, subscription } = stream
    const listened = channel && this.#channels.get(channel)
    if (channel && listened) {
      listened.readers -= 1
      if (listened.readers === 0) {
        listened.stop()
        this.#channels.delete(channel)
        subscription.forget(channel)
      }
    }
    subscription.cancel()
  }
}

export function isSubscription(value: unknown): value is ChangeSubscription {
  return value instanceof ChangeSubscription
}
