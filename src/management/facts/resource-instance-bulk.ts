/** Bulk operations on resource instances (native.md B.9, D-26). */
import { forEachElement } from '#management/operations/bulk.ts'
import type { WriteContext } from '#management/drafts/context.ts'
import { requireInstance } from '#management/drafts/lookups.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { deleteEach } from '#management/operations/delete-each.ts'
import { formatInstanceReference } from '#model/instance-reference.ts'
import type { BulkIdents } from '#model/wire/references.ts'
import type { Empty } from '#model/wire/common-fields.ts'
import type { ResourceInstancesBulk } from '#entities/resource-instance.ts'
import { instanceKeyOf, instanceRemoved, writeInstance } from './resource-instances.ts'

/** Creates missing instances, and replaces the attributes of existing ones. */
export function* replaceResourceInstances(
  context: WriteContext,
  input: { readonly body: ResourceInstancesBulk },
): Resumable<Empty> {
  yield* forEachElement(input.body.operations, ['body', 'operations'], body => writeInstance(context, body))
  return {}
}

/** An instance that is named twice is removed once. */
export function deleteResourceInstances(
  context: WriteContext,
  input: { readonly body: BulkIdents },
): Resumable<Empty> {
  const { records } = context
  const remove = (ident: string) => {
    const instance = requireInstance(records, ident)
    const name = instanceKeyOf(records, instance)
    records.delete(instance, instanceRemoved(records, instance))
    return { id: instance.id, names: [formatInstanceReference(name)] }
  }
  return deleteEach(context, input, remove, 'instance')
}

export const writes = { deleteResourceInstances, replaceResourceInstances }
