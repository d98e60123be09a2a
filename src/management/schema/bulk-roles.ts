/**
 * Bulk operation that creates or replaces tenant roles and resource roles (native.md B.11): all or none. Each
 * role is defined only by its element.
 */
import { forEachElement } from '#management/operations/bulk.ts'
import type { WriteContext } from '#management/drafts/context.ts'
import { requireType } from '#management/drafts/lookups.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import type { TypeRecord } from '#entities/records.ts'
import type { BulkRoles, BulkRolesDone } from '#entities/role.ts'
import { checkTenantPermissions } from './role-rules.ts'
import { type ReplacedRole, replaceRole } from './roles.ts'

const PLACE = ['body', 'operations']

/**
 * Roles can extend and derive from each other, in any order. If two elements are about the same role, the
 * later one wins.
 */
export function* putRolesInBulk(
  context: WriteContext,
  input: { readonly body: BulkRoles },
): Resumable<BulkRolesDone> {
  const { operations } = input.body
  yield* forEachElement(operations, PLACE, wanted => {
    if (!wanted.resource) checkTenantPermissions(wanted.permissions ?? [])
  })
  const begun: ReplacedRole[] = []
  const types = new Set<TypeRecord | null>()
  const created = new Set<string>()
  const updated = new Set<string>()
  yield* forEachElement(operations, PLACE, wanted => {
    const type = wanted.resource ? requireType(context.records, wanted.resource) : null
    const replaced = replaceRole(context, type, wanted.key, wanted)
    const name = nameOf(wanted.key, type)
    if (replaced.isNew) created.add(name)
    else if (!created.has(name)) updated.add(name)
    begun.push(replaced)
    types.add(type)
  })
  yield* forEachElement(begun, PLACE, ({ complete }) => {
    complete()
  })
  return { created: [...created], updated: [...updated] }
}

function nameOf(key: string, type: TypeRecord | null): string {
  return type === null ? key : `${type.key}#${key}`
}

export const writes = { putRolesInBulk }
