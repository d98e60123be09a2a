/**
 * Looks up the names of many queries together. A lookup is a chain of two cache misses: the slot, then the
 * record. If the queries were looked up one after another, the misses would add up. In stages, the processor
 * overlaps the misses. It overlaps only loads within its reorder window. Therefore the prefetching loops only
 * load from positions that were computed before.
 */
import type { Key } from '#engine/shared-index/memory/key.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import type { ActionView, SchemaView, TypeView } from '#engine/shared-index/schema/schema-view.ts'
import type { QueryTerms } from '#model/packed-queries.ts'
import type { BatchSource } from './batch-source.ts'
import { BATCH_MAX, KeyColumn } from './key-column.ts'

/** The names in the queries of one batch: actions, tenants, users, instances. */
export class BatchLookup {
  readonly users: KeyColumn
  readonly instances: KeyColumn
  /**
   * The action of each query; null if the type or action is not declared. Such a query is denied without
   * further lookups.
   */
  readonly actions: (ActionView | null)[] = Array.from({ length: BATCH_MAX }, () => null)
  /**
   * The tenant names of the queries. Tenants are looked up in a later stage, which looks up each run of equal
   * names only once.
   */
  readonly tenants: (string | null)[] = Array.from({ length: BATCH_MAX }, () => null)

  /**
   * Stores a value that depends on all prefetching loads, so that the compiler does not remove the loads. The
   * value has no meaning.
   */
  prefetchSink = 0

  constructor(key: Key) {
    this.users = new KeyColumn(key)
    this.instances = new KeyColumn(key)
  }

  run(regions: Regions, schema: SchemaView, source: BatchSource, from: number, count: number): void {
    this.prefetchSink ^= source.prefetch(from, count)
    this.#read(regions.header, schema, source, from, count)
    const { users, instances } = this
    this.prefetchSink ^= users.prefetchSlots(regions, count) ^ instances.prefetchSlots(regions, count)
    users.probe(regions, count)
    instances.probe(regions, count)
    this.prefetchSink ^= users.prefetchRecords(regions, count) ^ instances.prefetchRecords(regions, count)
    users.verify(regions, count)
    instances.verify(regions, count)
  }

  #read(header: Int32Array, schema: SchemaView, source: BatchSource, from: number, count: number): void {
    const { users, instances, actions, tenants } = this
    // Caches the last two terms and the last type: consecutive queries often have equal terms, alternate
    // between two terms, or have the same type.
    let terms: QueryTerms | null = null
    let otherTerms: QueryTerms | null = null
    let typeKey = ''
    let type: TypeView | undefined
    let action: ActionView | null = null
    let otherAction: ActionView | null = null
    for (let i = 0; i < count; i++) {
      const next = source.terms(from + i)
      if (next !== terms) {
        if (next.type !== typeKey) {
          typeKey = next.type
          type = schema.types.get(typeKey)
        }
        const actionBefore: ActionView | null = action
        action = next === otherTerms ? otherAction : (type?.actions.get(next.action) ?? null)
        otherTerms = terms
        otherAction = actionBefore
        terms = next
      }
      actions[i] = action
      tenants[i] = next.tenant
      if (action === null) {
        users.skip(i)
        instances.skip(i)
        continue
      }
      source.readUser(from + i, users, header, i)
      source.readInstance(from + i, instances, header, i, type!.id)
    }
  }
}
