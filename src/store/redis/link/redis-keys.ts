/**
 * Names of all keys in Redis. The keys of one environment share a hash tag, so that one script can access
 * all these keys in a cluster. The keys of the heartbeats share another hash tag. `docs/redis-internals.md`
 * documents the writers and the content of each key.
 */

export interface RedisKeys {
  /**
   * Hash: `epoch`, `format`, `sequence`, `id` (of the newest commit), `first` (oldest sequence in the log).
   */
  readonly meta: string
  /** Hash: row key → stored row (`stored-row.ts`). */
  readonly rows: string
  /** Stream: entry `<sequence>-<part>` → one part of a commit (`log-part.ts`). */
  readonly log: string
  /** Sorted set: commit id → sequence, for the commits in the log. */
  readonly ids: string
  /** List: not empty for a day after the environment was removed deliberately. */
  readonly removed: string
  /** Pub/sub channel: `<epoch>.<sequence>` of each commit. */
  readonly channel: string
  /** List: the rows of one large commit that is being sent. The list expires after a while. */
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
  /** Hash: the id of each node → an empty value. */
  readonly ids: string
  /** Hash with the heartbeat of the node. The hash expires. */
  of(id: string): string
}

/** Returns the keys of the heartbeats of nodes. No environment has the id `nodes`. */
export function nodeKeys(prefix: string): NodeKeys {
  const base = `${prefix}:{nodes}`
  return { ids: `${base}:ids`, of: id => `${base}:node:${id}` }
}
