/**
 * Looks up the names of many queries together. A lookup is a chain of two cache misses: slot, then record. If
 * queries were looked up one after the other, the misses would add up; in stages, the processor overlaps
 * them. Only loads within its reorder window overlap, so the prefetching loops only load from positions that
 * were computed before.
 */
import type { Key } from '#engine/shared-index/memory/key.ts'
import type { Regions } from '#engine/shared-index/memory/regions.ts'
import type { ActionView, SchemaView, TypeView } from '#engine/shared-index/schema/schema-view.ts'
import type { QueryTerms } from '#model/packed-queries.ts'
import type { BatchSource } from './batch-source.ts'
import { BATCH_MAX, KeyColumn } from './key-column.ts'

/** The names in the queries of one batch: actions, tenants, users, instances. */
export class BatchLookup {
  readonly users: KeyColumn
  readonly instances: KeyColumn
  /** Null if the type or action is not declared: the query is denied without further lookups. */
  readonly actions: (ActionView | null)[] = Array.from({ length: BATCH_MAX }, () => null)
  /**
   * Tenant names as given. They are looked up later, because most consecutive queries name the same tenant.
   */
  readonly tenants: (string | null)[] = Array.from({ length: BATCH_MAX }, () => null)

  /**
   * Uses the result of prefetching loads, so that the compiler does not remove them. The value has no
   * meaning.
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
    // Consecutive queries often have the same terms or alternate between two kinds, and even more of them
    // share the type.
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
