/** Bulk deletion of entities with dependents (native.md B.9 to B.11, D-26). */
import { forEachElement } from './bulk.ts'
import type { WriteContext } from '#management/drafts/context.ts'
import { dependantsOf, removeDependants } from '#management/drafts/removal.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import type { RecordKind } from '#entities/records.ts'
import type { BulkIdents } from '#model/wire/references.ts'
import type { Empty } from '#model/wire/common-fields.ts'

interface Removed {
  readonly id: string
  /** The keys and ids by which the request can name it. */
  readonly names: readonly string[]
}

/**
 * Removes the entities of one kind that the idents name, and all their dependents. An entity that is named
 * twice, for example by key and by id, is removed once. `remove` deletes the record, or throws if it does not
 * exist.
 */
export function* deleteEach(
  context: WriteContext,
  { body }: { readonly body: BulkIdents },
  remove: (ident: string) => Removed,
  kind: RecordKind,
): Resumable<Empty> {
  const removed = new Map<string, string>()
  yield* forEachElement(body.idents, ['body', 'idents'], ident => {
    if (removed.has(ident)) return
    const { id, names } = remove(ident)
    for (const name of [ident, id, ...names]) removed.set(name, id)
  })
  removeDependants(
    context,
    [...new Set(removed.values())].map(id => dependantsOf({ kind, id })),
  )
  return {}
}
