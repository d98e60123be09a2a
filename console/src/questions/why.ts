/** Why an answer is what it is, in one sentence, and what else is worth knowing of a deny. */
import type { Schemas } from '../interface/client.ts'
import type { Texts } from '../texts/en.ts'
import type { Explanation } from './explanation.ts'
import { resourceName } from './question.ts'
import { resourceSetStop, userSetStop } from './way.ts'

type Words = Texts['questions']

/** Names of which a hint shows no more. */
const NAMES_MAX = 12

export function whySentence({ explained, storedIn }: Explanation, words: Words): string {
  return explained.allow ? whyAllowed(explained, words) : whyDenied({ explained, storedIn }, words)
}

function whyAllowed(
  { debug, rules = [] }: Explanation['explained'],
  { why, kinds, ...words }: Words,
): string {
  const { request, rbac, rebac } = debug
  const user = request.user.key
  const resource = resourceName(request.resource)
  const [tenantRole] = rbac.allowing_roles
  if (rbac.allow && tenantRole !== undefined)
    return why.byTenantRole(user, tenantRole, request.tenant, request.action, request.resource.type)
  const [role] = rebac.allowing_roles
  if (rebac.allow) {
    if (role === undefined) return why.byRoleUntold(user, resource)
    const [first] = rebac.path ?? []
    return first?.kind === 'instance-role' && resourceName(first.instance) !== resource
      ? why.byRoleFrom(user, role, resource, request.action, resourceName(first.instance))
      : why.byRole(user, role, resource, request.action)
  }
  const rule = rules.find(({ outcome }) => outcome === 'yes')
  if (rule === undefined) return why.byRuleUntold
  const [users, resources] = [
    userSetStop(rule, { why, kinds, ...words }),
    resourceSetStop(rule, { why, kinds, ...words }),
  ]
  return why.byRule(`${users.kindText} ${users.key}`, `${resources.kindText} ${resources.key}`)
}

function whyDenied(
  { explained: { debug }, storedIn }: Pick<Explanation, 'explained' | 'storedIn'>,
  { why }: Words,
): string {
  const { request, rbac, rebac, abac } = debug
  const user = request.user.key
  const { type, key } = request.resource
  const resource = resourceName(request.resource)
  const { tenant, action } = request
  switch (rbac.code) {
    case 'no_such_resource':
      return why.noType(type)
    case 'no_such_action':
      return why.noAction(type, action)
    case 'no_such_tenant':
      return why.noTenant(tenant)
    case 'user_not_synced':
      return why.noUser(user)
  }
  if (typeof storedIn === 'string' && storedIn !== tenant) return why.otherTenant(resource, storedIn, tenant)
  const byRoles =
    rebac.code === 'no_permission'
      ? why.otherRole(user, resource, action)
      : rbac.code === 'no_permission'
        ? why.otherTenantRole(user, tenant, action)
        : key === null
          ? why.nothingInTenant(user, tenant)
          : why.nothing(user, resource, tenant)
  return abac.code === 'disabled' ? byRoles : `${byRoles} ${why.rulesToo}`
}

/** What may help whoever is denied. `type`: of the resource, where it is known. */
export function hintsOf(
  { explained: { allow, debug }, storedIn }: Explanation,
  type: Schemas['Resource'] | null | undefined,
  { why, either }: Words,
): readonly string[] {
  if (allow) return []
  const { request, rbac } = debug
  const { resource, action } = request
  const hints: string[] = []
  if (storedIn === null && resource.key !== null) hints.push(why.notStored(resourceName(resource)))
  if (type === null || type === undefined) return hints
  if (rbac.code === 'no_such_action') {
    const actions = Object.keys(type.actions)
    if (actions.length > 0) hints.push(why.thereAre(shortened(actions).join(', ')))
    return hints
  }
  const roles = rolesThatMay(type, action)
  if (roles.length === 0) hints.push(why.noRoleAllows(type.key, action))
  else if (resource.key !== null) hints.push(why.wouldAllow(either(shortened(roles)), resourceName(resource)))
  return hints
}

/** Roles of a type that have an action: by themselves, by a group of actions, or from a role that they extend. */
function rolesThatMay({ roles, action_groups: groups }: Schemas['Resource'], action: string) {
  const granted = new Set([
    action,
    ...Object.entries(groups)
      .filter(([, actions]) => actions.includes(action))
      .map(([group]) => group),
  ])
  const may = (key: string, seen: ReadonlySet<string>): boolean => {
    const role = roles[key]
    if (role === undefined || seen.has(key)) return false
    return (
      (role.permissions ?? []).some(permission => granted.has(permission)) ||
      (role.extends ?? []).some(extended => may(extended, new Set([...seen, key])))
    )
  }
  return Object.keys(roles).filter(key => may(key, new Set()))
}

function shortened(names: readonly string[]): readonly string[] {
  return names.length > NAMES_MAX ? [...names.slice(0, NAMES_MAX), '…'] : names
}
