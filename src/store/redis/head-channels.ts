/**
 * The signal that there is something new: one connection that listens to the channels of all environments. Signals may be
 * lost, and are after every interruption; whoever listens is told when that may have happened.
 */
import { Cluster } from 'ioredis'
import { UnansweredError } from './redis-link.ts'
import type { RedisClient } from './redis-client.ts'

export interface HeadListener {
  /** A commit was made there. */
  onHead(epoch: string, sequence: number): void
  /** Something may have been missed. */
  onDoubt(): void
}

export class HeadChannels {
  readonly #client: RedisClient
  readonly #listeners = new Map<string, HeadListener>()

  constructor(client: RedisClient) {
    this.#client = client
    client.on('message', (channel: string, message: string) => {
      const hyphen = message.lastIndexOf('.')
      this.#listeners.get(channel)?.onHead(message.slice(0, hyphen), Number(message.slice(hyphen + 1)))
    })
    client.on('ready', () => void this.#subscribe([...this.#listeners.keys()]))
  }

  /** Listens from now on, and after every interruption again. */
  async listen(channel: string, listener: HeadListener): Promise<void> {
    this.#listeners.set(channel, listener)
    await this.#subscribe([channel])
  }

  /** Listens there no more; what Redis still sends is for nobody. */
  leave(channel: string): void {
    this.#listeners.delete(channel)
    if (this.#client.status === 'ready') void this.#client.unsubscribe(channel).catch(() => undefined)
  }

  /** Makes sure that the connection lives, of which nothing may be heard for long. */
  async probe(): Promise<void> {
    // The client of a cluster listens on a connection of its own choice, and may lose what it had subscribed to unseen.
    const probe = this.#client instanceof Cluster ? this.#subscribeAgain() : this.#client.ping()
    await probe.catch(() => undefined)
  }

  close(): void {
    this.#client.disconnect()
  }

  async #subscribeAgain(): Promise<void> {
    const channels = [...this.#listeners.keys()]
    if (this.#client.status === 'ready' && channels.length > 0) await this.#client.subscribe(...channels)
  }

  /** Without a connection nothing is asked: it is when there is one. */
  async #subscribe(channels: readonly string[]): Promise<void> {
    if (this.#client.status !== 'ready' || channels.length === 0) return
    try {
      await this.#client.subscribe(...channels)
    } catch (error) {
      if (error instanceof Error && error.name === 'ReplyError') throw new UnansweredError(false, error)
      return
    }
    for (const channel of channels) this.#listeners.get(channel)?.onDoubt()
  }
}
