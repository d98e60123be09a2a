/**
 * Marks environments in Redis that a node removed. Other nodes find no data of such an environment: the mark
 * shows that it was removed and not lost.
 */
import { AuthzError } from '#model/errors.ts'
import { redisKeys } from '#store/redis/link/redis-keys.ts'
import { type RedisLink, type RedisReply, UnansweredError } from '#store/redis/link/redis-link.ts'

/** How long a mark is kept. After a day, no node follows the environment any more. */
const REMOVED_SECONDS = 86_400

export class RemovedEnvironments {
  readonly #link: RedisLink
  readonly #prefix: string

  constructor(link: RedisLink, prefix: string) {
    this.#link = link
    this.#prefix = prefix
  }

  async has(environmentId: string): Promise<boolean> {
    const marks = await this.#link.send('LRANGE', this.#keyOf(environmentId), 0, 0)
    return (marks as readonly RedisReply[]).length > 0
  }

  /**
   * Marks an environment as removed. Does not throw if a full server rejects the mark: the removal that
   * follows frees space.
   */
  async add(environmentId: string): Promise<void> {
    const key = this.#keyOf(environmentId)
    try {
      await this.#link.send('RPUSH', key, environmentId)
      await this.#link.send('EXPIRE', key, REMOVED_SECONDS)
    } catch (error) {
      if (!(error instanceof AuthzError) || error instanceof UnansweredError) throw error
    }
  }

  /** Removes the mark of an environment that is created again under the same id. */
  async forget(environmentId: string): Promise<void> {
    await this.#link.send('UNLINK', this.#keyOf(environmentId))
  }

  #keyOf(environmentId: string): string {
    return redisKeys(this.#prefix, environmentId).removed
  }
}
