/** Which environments Redis has a history of, and which it has none of any more because they were removed. */
import { AuthzError } from '#model/errors.ts'
import { redisKeys } from './redis-keys.ts'
import { RedisLedger } from './redis-ledger.ts'
import { type RedisLink, type Reply, UnansweredError } from './redis-link.ts'

/** How long it is known that an environment was removed, by when nobody follows it any more. */
const REMOVED_SECONDS = 86_400

export class Histories {
  readonly #link: RedisLink
  readonly #prefix: string

  constructor(link: RedisLink, prefix: string) {
    this.#link = link
    this.#prefix = prefix
  }

  /** Whether there is one of any of these, whole or damaged. O(environments), one after the other. */
  async isAnyThere(environmentIds: readonly string[]): Promise<boolean> {
    for (const id of environmentIds) {
      const keys = redisKeys(this.#prefix, id)
      if (await RedisLedger.isThere({ link: this.#link, keys })) return true
    }
    return false
  }

  /** Whether somebody removed the environment, so that what is there of it is gone for good reason. */
  async isRemoved(environmentId: string): Promise<boolean> {
    const marks = await this.#link.send('LRANGE', this.#removed(environmentId), 0, 0)
    return (marks as readonly Reply[]).length > 0
  }

  /** A hint: a server that is full, and refuses it, gets room by the removal. */
  async markRemoved(environmentId: string): Promise<void> {
    const removed = this.#removed(environmentId)
    try {
      await this.#link.send('RPUSH', removed, environmentId)
      await this.#link.send('EXPIRE', removed, REMOVED_SECONDS)
    } catch (error) {
      if (!(error instanceof AuthzError) || error instanceof UnansweredError) throw error
    }
  }

  /** One of that id begins anew. */
  async forgetRemoved(environmentId: string): Promise<void> {
    await this.#link.send('UNLINK', this.#removed(environmentId))
  }

  #removed(environmentId: string): string {
    return redisKeys(this.#prefix, environmentId).removed
  }
}
