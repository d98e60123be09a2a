/**
 * Finds the entities that a fact might affect. For a fact about an instance, these are the instances below
 * it, to which its roles might lead, and the users with a role on it or above it. Each search uses one state.
 * It does not check whether roles are actually derived along the edges, so the result can contain entities
 * that are not affected.
 */
import type { IndexHandle } from '#engine/index-handle.ts'
import { Key } from '#engine/shared-index/memory/key.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import { isDead, keyText } from '#engine/shared-index/memory/records.ts'
import * as table from '#engine/shared-index/memory/string-table.ts'
import { type SchemaView, emptySchema } from '#engine/shared-index/schema/schema-view.ts'
import { assigneesOf } from '#engine/shared-index/search/holdings.ts'
import { tenantOf, typeOf } from '#engine/shared-index/search/listings.ts'
import type { InstanceKey } from '#model/change.ts'
import { ConsistentReads, type ReaderOptions } from '#engine/shared-index/schema/consistent-reads.ts'

const ATTEMPTS = 50

export class Reach {
  readonly #reads: ConsistentReads
  readonly #key: Key
  #schema: SchemaView = emptySchema()

  constructor(handle: IndexHandle, options: ReaderOptions) {
    this.#reads = new ConsistentReads(handle, options, schema => {
      this.#schema = schema
    })
    const { header } = this.#reads.regions
    this.#key = new Key(header[L.H_HASH_START]!, header[L.H_HASH_MULTIPLIER]!)
  }

  /**
   * Returns the instance and all instances below it. Returns no instances if the instance is not stored, and
   * null if there are more than `limit`. O(limit, and edges of these instances).
   */
  below(instance: InstanceKey, limit: number): InstanceKey[] | null {
    return this.#read(instance, start => {
      const found = this.#walk(start, limit, false)
      return found && Array.from(found.items.subarray(0, found.length), line => this.#nameOf(line))
    })
  }

  /**
   * Returns the users who hold a role on the instance or on an instance above it, each once. Returns null if
   * there are more than `limit` users, or too many instances. O(limit, and edges of these instances).
   */
  usersAbove(instance: InstanceKey, limit: number): string[] | null {
    return this.#read(instance, start => {
      const { regions } = this.#reads
      const above = this.#walk(start, limit, true)
      if (!above) return null
      const users = new Set<number>()
      for (let at = 0; at < above.length; at++) {
        for (const user of assigneesOf(regions, above.items[at]!)) {
          if (users.add(user).size > limit) return null
        }
      }
      return Array.from(users, line => keyText(regions.graph, line))
    })
  }

  #read<Found>(instance: InstanceKey, find: (line: number) => Found[] | null): Found[] | null {
    return this.#reads.read(ATTEMPTS, () => {
      const line = this.#lineOf(instance)
      return line === 0 ? [] : find(line)
    })
  }

  #lineOf({ type, key }: InstanceKey): number {
    const { regions } = this.#reads
    const known = this.#schema.types.get(type)
    const line = known && this.#key.read(key, known.id) ? table.find(regions, this.#key, known.id) : 0
    return line !== 0 && !isDead(regions.graph, tenantOf(regions.graph, line)) ? line : 0
  }

  #nameOf(line: number): InstanceKey {
    const { graph } = this.#reads.regions
    return { type: typeOf(this.#schema, graph, line)?.key ?? '', key: keyText(graph, line) }
  }

  /** Returns the instances that a breadth-first search finds, or null if there are more than `limit`. */
  #walk(start: number, limit: number, isUp: boolean): NumberList | null {
    const { graph } = this.#reads.regions
    const seen = new Set([start])
    const found = new NumberList()
    found.push(start)
    for (let at = 0; at < found.length; at++) {
      const record = found.items[at]! << L.LINE_WORDS_LOG2
      const container = graph[record + L.I_CONTAINER]! << L.LINE_WORDS_LOG2
      const descriptors = isUp
        ? [record + L.I_IN]
        : container === 0
          ? []
          : [container + L.C_OUT_CONTAINERS, container + L.C_OUT_OTHERS]
      for (const descriptor of descriptors) {
        for (const entry of firstWords(graph, descriptor)) {
          const line = isUp ? graph[(entry << L.LINE_WORDS_LOG2) + L.C_INSTANCE]! : entry
          if (seen.has(line) || isDead(graph, line)) continue
          if (found.length === limit) return null
          seen.add(line)
          found.push(line)
        }
      }
    }
    return found
  }
}

/** Yields the first words of a slab of pairs. */
function* firstWords(graph: Int32Array, descriptor: number): Iterable<number> {
  const ptr = graph[descriptor]!
  const meta = graph[descriptor + 1]!
  if (!meta) return
  if ((meta & L.LOG2_MASK) === L.INLINE) {
    yield ptr
    return
  }
  const end = Math.min(ptr + (2 << (meta & L.LOG2_MASK)), graph.length)
  for (let at = ptr; at < end; at += 2) if (graph[at] !== 0) yield graph[at]!
}
