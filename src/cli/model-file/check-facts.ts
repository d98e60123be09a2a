/** Checks the names in the facts of a model file: users, roles, objects and tenants. */
import { groupName } from './environment-state.ts'
import { suggestion } from './findings.ts'
import type { LocatedValue } from './located-value.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'
import { isLongKey } from '#model/wire/references.ts'
import type { NameCheck } from './name-check.ts'

/** Text that describes valid keys of users and instances. */
const LONG_KEY = '1 to 512 bytes of UTF-8 without control characters'

export function checkFacts(file: LocatedValue, check: NameCheck): void {
  for (const [key, user] of file.at('users').entries()) {
    if (!isLongKey(key)) check.findKey(user, `is not a valid key of a user: expected ${LONG_KEY}`)
  }
  for (const [name, instance] of file.at('instances').entries()) {
    checkInstance(name, instance, check)
    check.tenant(instance.at('tenant'))
  }
  for (const [, group] of file.at('groups').entries()) checkGroup(group, check)
  for (const assignment of file.at('role_assignments').items()) checkAssignment(assignment, check)
  for (const tuple of file.at('relationship_tuples').items()) checkTuple(tuple, check)
}

function checkInstance(name: string, instance: LocatedValue, check: NameCheck): void {
  const reference = parseInstanceReference(name)
  if (reference === null) return
  const { types } = check.known
  if (!isLongKey(reference.key))
    check.findKey(instance, `is not a valid key of an instance: expected ${LONG_KEY}`)
  if (types.has(reference.type)) return
  check.findKey(
    instance,
    `there is no resource ${JSON.stringify(reference.type)}${suggestion(reference.type, types.keys())}`,
  )
}

function checkGroup(group: LocatedValue, check: NameCheck): void {
  const { groups } = check.known
  check.tenant(group.at('tenant'))
  for (const member of group.at('members').items()) check.user(member.named('user'))
  for (const item of group.at('groups').items()) {
    const inner = item.named('group')
    const { text } = inner
    if (text === null || groups.has(groupName(text))) continue
    const keys = [...groups.all].map(name => (name.startsWith('group:') ? name.slice('group:'.length) : name))
    check.unknown(inner, 'group', text, keys)
  }
  for (const item of group.at('roles').items()) {
    const grant = item.named('role')
    const text = grant.text ?? ''
    const type = check.typeOf(grant)
    const key = parseInstanceReference(text)?.type
    if (type && key) check.part(grant, type.roles, 'role', key, text.slice(text.lastIndexOf('#') + 1))
  }
}

function checkAssignment(assignment: LocatedValue, check: NameCheck): void {
  const [role, instance] = [assignment.at('role'), assignment.at('resource_instance')]
  check.user(assignment.at('user'))
  check.tenant(assignment.at('tenant'))
  if (instance.value === undefined) {
    check.tenantRole(role)
    return
  }
  const type = check.typeOf(instance)
  const key = parseInstanceReference(instance.text ?? '')?.type
  if (type && key) check.part(role, type.roles, 'role', key)
}

function checkTuple(tuple: LocatedValue, check: NameCheck): void {
  const [subject, relation, object] = [tuple.at('subject'), tuple.at('relation'), tuple.at('object')] as const
  check.tenant(tuple.at('tenant'))
  const from = check.typeOf(subject)
  const to = check.typeOf(object)
  if (to === null || relation.text === null) return
  const key = parseInstanceReference(object.text!)!.type
  if (!check.part(relation, to.relations, 'relation', key) || from === null) return
  const end = to.ends.get(relation.text)
  const actual = parseInstanceReference(subject.text!)!.type
  if (end !== undefined && end !== actual && check.known.type(end)) {
    check.find(subject, `${key}.${relation.text} comes from ${end}, and not from ${actual}`)
  }
}
