/**
 * Every key in Redis. The keys of one environment share a hash tag, so that one script may touch them all wherever a cluster keeps
 * them; those of the nodes have another. `docs/redis-internals.md` says who writes them and what they hold.
 */

export interface RedisKeys {
  /** Hash: `epoch`, `format`, `sequence`, `id` (of the newest commit), `first` (oldest sequence the log has). */
  readonly meta: string
  /** Hash: row key → stored row (`stored-row.ts`). */
  readonly rows: string
  /** Stream: entry `<sequence>-<part>` → one part of a commit (`log-part.ts`). */
  readonly log: string
  /** Sorted set: commit id → sequence, as far back as the log reaches. */
  readonly ids: string
  /** List: not empty for a day after the environment was removed on purpose. */
  readonly removed: string
  /** Pub/sub channel: `<epoch>.<sequence>` of each commit. */
  readonly channel: string
  /** List: the rows of one large commit on their way. It expires after a while. */
  staged(name: string): string
}

export function redisKeys(prefix: string, environmentId: string): RedisKeys {
  const base = `${prefix}:{${environmentId}}`
  return {
    meta: `${base}:meta`,
    rows: `${base}:rows`,
    log: `${base}:log`,
    ids: `${base}:ids`,
    removed: `${base}:removed`,
    channel: `${base}:head`,
    staged: name => `${base}:staged:${name}`,
  }
}

export interface NodeKeys {
  /** Hash: the id of each node → nothing. */
  readonly ids: string
  /** Hash with what that node says of itself. It expires. */
  of(id: string): string
}

/** Where nodes say that they live. No environment has that id. */
export function nodeKeys(prefix: string): NodeKeys {
  const base = `${prefix}:{nodes}`
  return { ids: `${base}:ids`, of: id => `${base}:node:${id}` }
}
