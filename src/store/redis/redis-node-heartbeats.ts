/**
 * Heartbeats of the nodes in Redis. The text of each node is in a separate key that expires by the clock of
 * Redis, because the clocks of nodes can differ. One hash contains the ids, so that no node has to scan all
 * keys of a server. A node that reads the heartbeats removes ids whose text has expired.
 */
import { BEAT_EXPIRY_SECONDS, type NodeHeartbeats } from '#store/node-heartbeats.ts'
import { type NodeKeys, nodeKeys } from '#store/redis/link/redis-keys.ts'
import type { RedisLink, RedisReply } from '#store/redis/link/redis-link.ts'
import { HEARTBEAT } from '#store/redis/scripts/scripts.ts'

export class RedisNodeHeartbeats implements NodeHeartbeats {
  readonly #link: RedisLink
  readonly #keys: NodeKeys

  constructor(link: RedisLink, prefix: string) {
    this.#link = link
    this.#keys = nodeKeys(prefix)
  }

  async publish(id: string, text: string): Promise<void> {
    await this.#link.run(HEARTBEAT, [this.#keys.ids, this.#keys.of(id)], [id, text, BEAT_EXPIRY_SECONDS])
  }

  async read(
    most: number,
  ): Promise<{ readonly texts: ReadonlyMap<string, string>; readonly isAll: boolean }> {
    const { ids, isAll } = await this.#ids(most)
    const texts = await Promise.all(ids.map(id => this.#link.send('HGET', this.#keys.of(id), 'said')))
    const gone = ids.filter((_, index) => texts[index] === null)
    // If a node was only paused, it adds its id again with its next heartbeat.
    if (gone.length > 0) await this.#link.send('HDEL', this.#keys.ids, ...gone)
    const found = ids.flatMap((id, index): [string, string][] =>
      texts[index] === null ? [] : [[id, String(texts[index])]],
    )
    return { texts: new Map(found), isAll }
  }

  async leave(id: string): Promise<void> {
    // Both commands are sent together, because the connection might end soon.
    await Promise.all([
      this.#link.send('UNLINK', this.#keys.of(id)),
      this.#link.send('HDEL', this.#keys.ids, id),
    ])
  }

  async #ids(most: number): Promise<{ readonly ids: readonly string[]; readonly isAll: boolean }> {
    const ids = new Set<string>()
    let cursor = '0'
    do {
      const [next, found] = (await this.#link.send('HSCAN', this.#keys.ids, cursor, 'COUNT', most)) as [
        RedisReply,
        readonly RedisReply[],
      ]
      // Names and values alternate; a name can occur twice.
      for (let index = 0; index < found.length; index += 2) ids.add(String(found[index]))
      cursor = String(next)
    } while (cursor !== '0' && ids.size <= most)
    return { ids: [...ids].slice(0, most), isAll: ids.size <= most }
  }
}
