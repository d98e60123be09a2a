/**
 * The signals that an environment has a new commit: one connection that listens to the channels of all environments.
 * Signals may be lost, and are after every interruption; listeners are told when that may have happened. If Redis refuses
 * the channels of a running node, all signals are lost until it accepts them again.
 */
import { Cluster } from 'ioredis'
import type { RedisClient } from './redis-client.ts'
import { failure, isReply } from './redis-link.ts'
import { StandingFailure } from './standing-failure.ts'
import type { StoreLog } from '#store/store-log.ts'

export interface HeadListener {
  /** The environment has a new commit. */
  onHead(epoch: string, sequence: number): void
  /** A signal may have been missed. */
  onDoubt(): void
}

export class HeadChannels {
  readonly #client: RedisClient
  readonly #listeners = new Map<string, HeadListener>()
  readonly #refusal: StandingFailure
  #wasEverAllowed = false

  constructor(client: RedisClient, log: StoreLog) {
    this.#client = client
    this.#refusal = new StandingFailure({
      log,
      fields: {},
      failing: 'Redis refuses its channels: what other nodes change is seen by the timer only',
      over: 'Redis has its channels open again',
    })
    client.on('message', (channel: string, message: string) => {
      const hyphen = message.lastIndexOf('.')
      this.#listeners.get(channel)?.onHead(message.slice(0, hyphen), Number(message.slice(hyphen + 1)))
    })
    client.on('ready', () => void this.#subscribeToAll({ isInDoubt: true }))
  }

  /**
   * Listens from now on, and again after every interruption. Throws as a link does when Redis refuses the first channel of
   * all: that is a start whose operator has the rights wrong. A later refusal is noted.
   */
  async listen(channel: string, listener: HeadListener): Promise<void> {
    this.#listeners.set(channel, listener)
    try {
      if (await this.#subscribe([channel])) listener.onDoubt()
    } catch (error) {
      if (!this.#wasEverAllowed) throw error
      this.#refusal.noteFailure(error)
    }
  }

  /** Ends listening there. Messages that still come are ignored. */
  leave(channel: string): void {
    this.#listeners.delete(channel)
    if (this.#client.status === 'ready') void this.#client.unsubscribe(channel).catch(() => undefined)
  }

  /**
   * Makes sure that the connection is alive, on which nothing may come for long, and subscribes again to channels that were
   * refused.
   */
  async probe(): Promise<void> {
    // The client of a cluster listens on a connection of its own choice, and may lose its subscriptions without a sign.
    const isOwed = this.#client instanceof Cluster || this.#refusal.reason !== null
    if (isOwed) await this.#subscribeToAll({ isInDoubt: false })
    else await this.#client.ping().catch(() => undefined)
  }

  close(): void {
    this.#client.disconnect()
  }

  async #subscribeToAll({ isInDoubt }: { readonly isInDoubt: boolean }): Promise<void> {
    try {
      if (!(await this.#subscribe([...this.#listeners.keys()]))) return
      this.#refusal.noteSuccess()
    } catch (error) {
      this.#refusal.noteFailure(error)
    }
    if (isInDoubt) for (const listener of this.#listeners.values()) listener.onDoubt()
  }

  /** False without a connection: the next connection subscribes. Throws the refusal of Redis. */
  async #subscribe(channels: readonly string[]): Promise<boolean> {
    if (this.#client.status !== 'ready' || channels.length === 0) return false
    try {
      await this.#client.subscribe(...channels)
    } catch (error) {
      if (isReply(error)) throw failure(error)
      return false
    }
    this.#wasEverAllowed = true
    return true
  }
}
