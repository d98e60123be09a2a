/**
 * The signal that there is something new: one connection that listens to the channels of all environments. Signals may be
 * lost, and are after every interruption; whoever listens is told when that may have happened. A Redis that refuses the
 * channels of a node that runs loses all of them, until it is asked again and has nothing against it.
 */
import { Cluster } from 'ioredis'
import type { RedisClient } from './redis-client.ts'
import { failure, isReply } from './redis-link.ts'
import { StandingFailure } from './standing-failure.ts'
import type { StoreLog } from './store-log.ts'

export interface HeadListener {
  /** A commit was made there. */
  onHead(epoch: string, sequence: number): void
  /** Something may have been missed. */
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
   * Listens from now on, and after every interruption again. Throws as a link does when Redis refuses the first channel of
   * all: that is a start, whose operator has the rights wrong. A refusal later is noted.
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

  /** Listens there no more; what Redis still sends is for nobody. */
  leave(channel: string): void {
    this.#listeners.delete(channel)
    if (this.#client.status === 'ready') void this.#client.unsubscribe(channel).catch(() => undefined)
  }

  /** Makes sure that the connection lives, of which nothing may be heard for long, and asks again for what was refused. */
  async probe(): Promise<void> {
    // The client of a cluster listens on a connection of its own choice, and may lose what it had subscribed to unseen.
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

  /** False without a connection: it is asked again when there is one. Throws what Redis says against it. */
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
