/** Roles of both kinds put at once (contract B.11): all of them or none, each made what its element says. */
import { AuthzError } from '#model/errors.ts'
import type { RoleRecord, TypeRecord } from '#model/records.ts'
import type { BulkRoles, BulkRolesDone } from '#model/wire/role.ts'
import type { WriteContext } from './context.ts'
import { requireType } from './lookups.ts'
import { checkTenantPermissions } from './role-rules.ts'
import { replaceRole } from './roles.ts'

/** Roles may extend and derive from each other, in any order. Of two elements about one role the later one holds. */
export function putRolesInBulk(context: WriteContext, input: { readonly body: BulkRoles }): BulkRolesDone {
  const { operations } = input.body
  operations.forEach((wanted, index) =>
    atElement(index, () => {
      if (!wanted.resource) checkTenantPermissions(wanted.permissions ?? [])
    }),
  )
  const begun = operations.map((wanted, index) =>
    atElement(index, () => {
      const type = wanted.resource ? requireType(context.records, wanted.resource) : null
      return { name: nameOf(wanted.key, type), ...replaceRole(context, type, wanted.key, wanted) }
    }),
  )
  begun.forEach(({ complete }, index) => atElement<RoleRecord>(index, complete))
  const created = new Set(begun.flatMap(({ name, isNew }) => (isNew ? [name] : [])))
  const updated = new Set(begun.flatMap(({ name }) => (created.has(name) ? [] : [name])))
  return { created: [...created], updated: [...updated] }
}

function nameOf(key: string, type: TypeRecord | null): string {
  return type === null ? key : `${type.key}#${key}`
}

/** Says in a refusal which element it is about. */
function atElement<Result>(index: number, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof AuthzError)) throw error
    const place = ['body', 'operations', index]
    const detail = error.detail.map(finding => ({ ...finding, loc: [...place, ...finding.loc.slice(1)] }))
    throw new AuthzError(error.code, `operations[${index}]: ${error.message}`, { cause: error, detail })
  }
}
