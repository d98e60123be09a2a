/** Explains a decision in one sentence. For a denied check, also gives hints. */
import { resourceName } from '../explanation/explained.ts'
import { whyAllowed } from '../explanation/path.ts'
import type { Schemas } from '../interface/client.ts'
import type { Texts } from '../texts/en.ts'
import type { Explanation } from './explanation.ts'

/** Maximum number of names in a hint. */
const NAMES_MAX = 12

export function whySentence({ explained, storedIn }: Explanation, texts: Texts): string {
  return explained.allow
    ? whyAllowed(explained, texts.explanation)
    : whyDenied({ explained, storedIn }, texts.questions)
}

function whyDenied(
  { explained: { debug }, storedIn }: Pick<Explanation, 'explained' | 'storedIn'>,
  { why }: Texts['questions'],
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

/** Hints about a denied check. `type` is the resource type, if it is known. */
export function hintsOf(
  { explained: { allow, debug }, storedIn }: Explanation,
  type: Schemas['Resource'] | null | undefined,
  { questions: { why }, explanation: { either } }: Texts,
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

/**
 * Roles of a type that grant an action. They grant it directly, through an action group, or through a role
 * that they extend.
 */
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
