/** Many resource instances at once (contract B.9, D-26). */
import { formatInstanceReference } from '#model/instance-reference.ts'
import type { BulkIdents, Empty } from '#model/wire/building-blocks.ts'
import type { ResourceInstancesBulk } from '#model/wire/resource-instance.ts'
import { forEachElement } from './bulk.ts'
import type { WriteContext } from './context.ts'
import { requireInstance } from './lookups.ts'
import { dependantsOfInstance, removeDependants } from './removal.ts'
import type { Resumable } from './resumable.ts'
import { instanceKeyOf, writeInstance } from './resource-instances.ts'

/** Creates the instances that are not there; of the others it replaces the attributes. */
export function* replaceResourceInstances(
  context: WriteContext,
  input: { readonly body: ResourceInstancesBulk },
): Resumable<Empty> {
  yield* forEachElement(input.body.operations, ['body', 'operations'], body => writeInstance(context, body))
  return {}
}

/** One that is named twice is removed once. */
export function* deleteResourceInstances(
  context: WriteContext,
  input: { readonly body: BulkIdents },
): Resumable<Empty> {
  const { records } = context
  const removed = new Map<string, string>()
  yield* forEachElement(input.body.idents, ['body', 'idents'], ident => {
    if (removed.has(ident)) return
    const instance = requireInstance(records, ident)
    const name = instanceKeyOf(records, instance)
    records.delete(instance, { kind: 'instance-removed', instance: name })
    const names = [ident, formatInstanceReference(name), instance.id]
    for (const reference of names) removed.set(reference, instance.id)
  })
  removeDependants(context, [...new Set(removed.values())].map(dependantsOfInstance))
  return {}
}
