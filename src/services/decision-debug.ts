/** The debug output of a decision (contract A.2): the explanation in the words clients of the original read. */
import type { Explanation } from '#engine/explanation.ts'
import type { Query } from '#model/decision.ts'
import type { AllowedQuery } from '#model/wire/decision.ts'

interface Part {
  readonly allow: boolean
  readonly code: string
  readonly reason: string
}

/** The `debug` object. `hasTenantRoles`: whether the user holds a tenant role anywhere. */
export function debugOf(
  question: AllowedQuery,
  query: Query,
  explanation: Explanation,
  hasTenantRoles: boolean,
) {
  const { known, tenant } = explanation
  const [first] = explanation.path
  const isByTenant = first?.kind === 'tenant-role'
  return {
    request: {
      user: { key: query.user, synced: known.user, attributes: question.user.attributes ?? {} },
      tenant,
      action: query.action,
      resource: { type: query.type, key: query.key, attributes: question.resource.attributes ?? {} },
    },
    rbac: isByTenant
      ? { ...allowed(`tenant role ${first.role} in ${tenant} allows it`), allowing_roles: [first.role] }
      : { ...deniedByTenantRoles(query, explanation, hasTenantRoles), allowing_roles: [] },
    rebac:
      explanation.allow && !isByTenant
        ? { ...allowed('a role on the instance allows it'), ...pathOf(explanation) }
        : { ...deniedByInstanceRoles(query, explanation), allowing_roles: [], path: [] },
  }
}

function pathOf({ path }: Explanation) {
  const last = path.at(-1)
  return { allowing_roles: last && 'role' in last ? [last.role] : [], path }
}

function allowed(reason: string): Part {
  return { allow: true, code: 'allow', reason }
}

function denied(code: string, reason: string): Part {
  return { allow: false, code, reason }
}

/** What both parts check first, in the order of contract A.2. */
function deniedByNames(query: Query, explanation: Explanation): Part | null {
  const { known, tenant, isTenantMismatch } = explanation
  if (!known.type) return denied('no_such_resource', `there is no resource ${query.type}`)
  if (!known.action) return denied('no_such_action', `resource ${query.type} has no action ${query.action}`)
  if (!known.tenant) return denied('no_such_tenant', `there is no tenant ${tenant}`)
  if (!known.user) return denied('user_not_synced', `there is no user ${query.user}`)
  if (isTenantMismatch) {
    return denied('no_permission', `${query.type}:${query.key} does not live in tenant ${tenant}`)
  }
  return null
}

function deniedByTenantRoles(query: Query, explanation: Explanation, hasTenantRoles: boolean): Part {
  const byNames = deniedByNames(query, explanation)
  if (byNames) return byNames
  if (!hasTenantRoles) return denied('no_user_roles', 'the user holds no tenant role')
  const { held, allowing } = explanation.tenantRoles
  if (held.length === 0) return denied('no_role_in_tenant', `the user holds no role in ${explanation.tenant}`)
  return denied('no_permission', `held: ${held.join(', ')}; would allow: ${allowing.join(', ') || 'none'}`)
}

function deniedByInstanceRoles(query: Query, explanation: Explanation): Part {
  const byNames = deniedByNames(query, explanation)
  if (byNames) return byNames
  const { held, allowing } = explanation.instanceRoles
  if (held.length === 0) return denied('no_graph_roles', 'the user holds no role on the instance')
  if (explanation.allow) return denied('no_permission', 'not needed: a tenant role allows it')
  return denied('no_permission', `held: ${held.join(', ')}; would allow: ${allowing.join(', ') || 'none'}`)
}
