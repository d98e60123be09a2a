/**
 * Looks up the names of many questions at once. A lookup is a chain of two cache misses: slot, then record. One
 * question after the other, the chains add up. Stage by stage, the processor overlaps them. Only what fits into
 * its reorder window overlaps, so the loops that prefetch only load from positions computed before.
 */
import type { Key } from '#engine/shared-index/memory/key.ts'
import type { Regions } from '#engine/shared-index/memory/regions.ts'
import type { ActionView, SchemaView, TypeView } from '#engine/shared-index/schema/schema-view.ts'
import type { QueryTerms } from '#model/packed-queries.ts'
import type { BatchSource } from './batch-source.ts'
import { BATCH_MAX, KeyColumn } from './key-column.ts'

/** The names in the questions of one batch: actions, tenants, users, instances. */
export class BatchLookup {
  readonly users: KeyColumn
  readonly instances: KeyColumn
  /** Null if the type or action is not declared: the question is denied and nothing else is looked up. */
  readonly actions: (ActionView | null)[] = Array.from({ length: BATCH_MAX }, () => null)
  /** Tenant names as given. They are looked up later, because most questions in a row name the same one. */
  readonly tenants: (string | null)[] = Array.from({ length: BATCH_MAX }, () => null)

  /** Uses the result of prefetching loads, so that the compiler keeps them. The value means nothing. */
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
    // Many questions in a row have the same terms, or two kinds in turns, and even more ask about one type.
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
