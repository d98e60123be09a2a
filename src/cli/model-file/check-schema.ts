/**
 * Checks the names in the schema of a model file: resources, roles, the roles that a role extends, and roles
 * that are derived through relations.
 */
import { suggestion } from './findings.ts'
import type { KnownType } from './known-names.ts'
import type { LocatedValue } from './located-value.ts'
import type { NameCheck } from './name-check.ts'

export function checkResources(resources: LocatedValue, check: NameCheck): void {
  for (const [key, resource] of resources.entries()) {
    const type = check.known.type(key)
    if (type === null) continue
    for (const [, end] of resource.at('relations').entries()) checkRelationEnd(end, check)
    const roles = resource.at('roles')
    for (const [, role] of roles.entries()) checkResourceRole(role, key, type, check)
    checkCircles(roles, check)
    checkInheritedRoles(resource.at('inherited_roles'), key, type, check)
  }
}

export function checkTenantRoles(roles: LocatedValue, check: NameCheck): void {
  for (const [, role] of roles.entries()) {
    for (const permission of role.at('permissions').items()) check.permission(permission)
    for (const extended of role.at('extends').items()) check.tenantRole(extended)
  }
  checkCircles(roles, check)
}

/**
 * Checks the type at the other end of a relation: it must be declared. A type that is only used for groups is
 * not sufficient, because the service creates such a type after the relations.
 */
function checkRelationEnd(end: LocatedValue, check: NameCheck): void {
  const { types } = check.known
  if (end.text !== null && !types.has(end.text)) check.unknown(end, 'resource', end.text, types.keys())
}

function checkResourceRole(role: LocatedValue, key: string, type: KnownType, check: NameCheck): void {
  for (const permission of role.at('permissions').items()) {
    const { text } = permission
    const own = `${key}:`
    const action = text?.startsWith(own) ? text.slice(own.length) : text
    if (action?.includes(':')) {
      check.find(
        permission,
        `expected an action of ${key}, got ${JSON.stringify(text)}: permissions of a role of a resource refer to that resource`,
      )
    } else check.part(permission, type.actions, 'action', key, action)
  }
  for (const extended of role.at('extends').items()) check.part(extended, type.roles, 'role', key)
  for (const entry of role.at('granted_to').at('users_with_role').items()) {
    const [from, source, relation] = [
      entry.at('on_resource'),
      entry.at('role'),
      entry.at('linked_by_relation'),
    ] as const
    const other = check.type(from)
    if (other && from.text !== null) check.part(source, other.roles, 'role', from.text)
    if (!check.part(relation, type.relations, 'relation', key) || other === null) continue
    const end = type.ends.get(relation.text!)
    if (end !== undefined && end !== from.text && check.known.type(end)) {
      check.find(relation, `${key}.${relation.text} comes from ${end}, and not from ${from.text}`)
    }
  }
}

function checkInheritedRoles(inherited: LocatedValue, key: string, type: KnownType, check: NameCheck): void {
  for (const [relation, roles] of inherited.entries()) {
    if (!type.relations.has(relation)) {
      const hint = suggestion(relation, type.relations.all)
      check.findKey(roles, `there is no relation ${JSON.stringify(relation)} of ${key}${hint}`)
      continue
    }
    const end = type.ends.get(relation)
    const other = end === undefined ? null : check.known.type(end)
    for (const role of roles.items()) {
      const isKnown = check.part(role, type.roles, 'role', key)
      if (isKnown && other) check.part(role, other.roles, 'role', end!)
    }
    for (const [source, role] of roles.entries()) {
      check.part(role, type.roles, 'role', key)
      if (other === null || other.roles.has(source)) continue
      const hint = suggestion(source, other.roles.all)
      check.findKey(role, `there is no role ${JSON.stringify(source)} of ${end}${hint}`)
    }
  }
}

/**
 * Reports roles that directly or indirectly extend themselves. Each cycle is reported once. O(roles and their
 * extensions).
 */
function checkCircles(roles: LocatedValue, check: NameCheck): void {
  const done = new Set<string>()
  for (const [start] of roles.entries()) {
    // Current path of the depth-first search. `next`: roles that this role extends and that have not been
    // visited.
    const location: { key: string; next: LocatedValue[] }[] = []
    const enter = (key: string) => location.push({ key, next: roles.at(key).at('extends').items() })
    if (!done.has(start)) enter(start)
    while (location.length > 0) {
      const { key, next } = location.at(-1)!
      const below = next.pop()
      if (below === undefined) {
        done.add(key)
        location.pop()
      } else if (location.some(step => step.key === below.text)) {
        check.find(below, `${JSON.stringify(below.text)} extends itself`)
      } else if (below.text !== null && roles.has(below.text) && !done.has(below.text)) enter(below.text)
    }
  }
}
