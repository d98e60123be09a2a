/**
 * Receives notifications of new commits: one connection subscribes to the channels of all environments.
 * Notifications can be lost, and are always lost while the connection is interrupted. `onDoubt` reports that
 * a notification might have been lost. If Redis rejects the channels of a running node, all notifications are
 * lost until it accepts them again.
 */
import { Cluster } from 'ioredis'
import type { RedisClient } from './redis-client.ts'
import { failure, isReply } from './redis-link.ts'
import { OngoingFailure } from './ongoing-failure.ts'
import type { StoreLog } from '#store/store-log.ts'

export interface HeadListener {
  /** The environment has a new commit. */
  onHead(epoch: string, sequence: number): void
  /** A notification might have been missed. */
  onDoubt(): void
}

export class HeadChannels {
  readonly #client: RedisClient
  readonly #listeners = new Map<string, HeadListener>()
  readonly #refusal: OngoingFailure
  #wasEverAllowed = false

  constructor(client: RedisClient, log: StoreLog) {
    this.#client = client
    this.#refusal = new OngoingFailure({
      log,
      fields: {},
      failing:
        'Redis rejects subscriptions to its channels: changes of other nodes are received only by polling',
      over: 'Redis accepts subscriptions to its channels again',
    })
    client.on('message', (channel: string, message: string) => {
      const hyphen = message.lastIndexOf('.')
      this.#listeners.get(channel)?.onHead(message.slice(0, hyphen), Number(message.slice(hyphen + 1)))
    })
    client.on('ready', () => void this.#subscribeToAll({ isInDoubt: true }))
  }

  /**
   * Subscribes immediately, and again after every interruption. If Redis rejects the first channel of a
   * process, throws the same error as `RedisLink`: a start must fail if permissions are missing. A later
   * rejection is logged.
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

  /** Unsubscribes. Messages that still arrive are ignored. */
  leave(channel: string): void {
    this.#listeners.delete(channel)
    if (this.#client.status === 'ready') void this.#client.unsubscribe(channel).catch(() => undefined)
  }

  /**
   * Checks that the connection is alive, because there might be no messages for a long time, and subscribes
   * again to rejected channels.
   */
  async probe(): Promise<void> {
    // The client of a cluster uses a separate connection for subscriptions. This connection can lose
    // subscriptions without reporting the loss, so they are always renewed.
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

  /**
   * Subscribes to the channels. Returns false if there is no connection. In that case, the next connection
   * subscribes to them. Throws the rejection of Redis.
   */
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
