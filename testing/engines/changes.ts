/** Builders of changes. Instances are written as `type:key` and split at the first colon. */
import type { Change, Derivation, InstanceKey, Permission } from '#model/change.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'

type ChangeOf<Kind extends Change['kind']> = Extract<Change, { kind: Kind }>

export interface RoleWords {
  /** Permissions: actions of the role's type, or `type:action` for a tenant role. */
  readonly can?: readonly string[]
  readonly extends?: readonly string[]
  readonly from?: readonly Derivation[]
}

export function tenant(key: string): ChangeOf<'tenant-put'> {
  return { kind: 'tenant-put', tenant: key, attributes: null }
}

export function user(key: string): ChangeOf<'user-put'> {
  return { kind: 'user-put', user: key, attributes: null }
}

export function resourceType(type: string, ...actions: string[]): ChangeOf<'type-put'> {
  return { kind: 'type-put', type, actions }
}

export function role(type: string, key: string, words: RoleWords = {}): ChangeOf<'role-put'> {
  return rolePut(
    type,
    key,
    words,
    (words.can ?? []).map(action => ({ type, action })),
  )
}

export function tenantRole(key: string, words: RoleWords = {}): ChangeOf<'role-put'> {
  const permissions = (words.can ?? []).map(permission => {
    const { type, key: action } = instanceKey(permission)
    return { type, action }
  })
  return rolePut(null, key, words, permissions)
}

/** A derivation, as in `granted_to`: users with the source role get this role through the relation. */
export function heldBy(source: { role: string; on: string; over: string }): Derivation {
  return { role: source.role, onType: source.on, relation: source.over, guarded: false }
}

/** A derivation with a guard: it has no effect for users with a direct role on the object. */
export function heldUnlessDirectBy(source: { role: string; on: string; over: string }): Derivation {
  return { ...heldBy(source), guarded: true }
}

export function relation(objectType: string, key: string, subjectType: string): ChangeOf<'relation-put'> {
  return { kind: 'relation-put', type: objectType, relation: key, subjectType }
}

/** A user set. Unless `more` specifies otherwise, it is not limited to a type and has no parent. */
export function conditionSet(
  set: string,
  conditions: object,
  more: Partial<ChangeOf<'condition-set-put'>> = {},
): ChangeOf<'condition-set-put'> {
  const said = conditions as ChangeOf<'condition-set-put'>['conditions']
  return { kind: 'condition-set-put', set, side: 'user', type: null, parent: null, conditions: said, ...more }
}

export function instance(name: string, inTenant: string = DEFAULT_TENANT): ChangeOf<'instance-put'> {
  return { kind: 'instance-put', instance: instanceKey(name), tenant: inTenant, attributes: null }
}

export function assign(userKey: string, roleKey: string, on: string): ChangeOf<'assignment-put'> {
  const scope = { instance: instanceKey(on) }
  return { kind: 'assignment-put', user: userKey, role: roleKey, scope }
}

export function assignInTenant(
  userKey: string,
  roleKey: string,
  inTenant: string,
): ChangeOf<'assignment-put'> {
  return { kind: 'assignment-put', user: userKey, role: roleKey, scope: { tenant: inTenant } }
}

export function link(subject: string, over: string, object: string): ChangeOf<'tuple-put'> {
  return {
    kind: 'tuple-put',
    subject: instanceKey(subject),
    relation: over,
    object: instanceKey(object),
  }
}

/** A role with one action, which users get through the derivations. */
export function derivedRole(
  type: string,
  key: string,
  action: string,
  ...from: readonly Derivation[]
): ChangeOf<'role-put'> {
  return role(type, key, { can: [action], from })
}

/** A viewer role of the type. Viewers of the parent folder also have it. */
export function viewerBelow(type: string, ...can: readonly string[]): ChangeOf<'role-put'> {
  return role(type, 'viewer', { can, from: [heldBy({ role: 'viewer', on: 'folder', over: 'parent' })] })
}

/** Folders in folders. A viewer of a folder is a viewer of its content. */
export const FOLDERS: readonly Change[] = [
  tenant(DEFAULT_TENANT),
  resourceType('folder', 'open'),
  relation('folder', 'parent', 'folder'),
  viewerBelow('folder', 'open'),
]

/** Documents in folders. */
export const DOCUMENTS: readonly Change[] = [
  resourceType('document', 'read'),
  relation('document', 'parent', 'folder'),
  viewerBelow('document', 'read'),
]

/** A rule for reading documents. Without a resource set, it is for all documents. */
export function ruleOf(
  userSet: string,
  resourceSet = '__autogen_document',
  more: Partial<ChangeOf<'rule-put'>> = {},
): ChangeOf<'rule-put'> {
  return { kind: 'rule-put', userSet, type: 'document', action: 'read', resourceSet, ...more }
}

/** Returns the change that removes the entity or fact which the given change puts. */
export function removed(put: Change): Change {
  switch (put.kind) {
    case 'tenant-put':
      return { kind: 'tenant-removed', tenant: put.tenant }
    case 'user-put':
      return { kind: 'user-removed', user: put.user }
    case 'type-put':
      return { kind: 'type-removed', type: put.type }
    case 'role-put':
      return { kind: 'role-removed', type: put.type, role: put.role }
    case 'relation-put':
      return { kind: 'relation-removed', type: put.type, relation: put.relation }
    case 'instance-put':
      return { kind: 'instance-removed', instance: put.instance }
    case 'assignment-put':
      return { ...put, kind: 'assignment-removed' }
    case 'tuple-put':
      return { ...put, kind: 'tuple-removed' }
    case 'condition-set-put':
      return { kind: 'condition-set-removed', set: put.set }
    case 'rule-put':
      return { ...put, kind: 'rule-removed' }
    case 'mapping-put':
      return { kind: 'mapping-removed', config: put.config }
    default:
      throw new Error(`there is no removal for a change of kind ${put.kind}`)
  }
}

export function instanceKey(name: string): InstanceKey {
  const colon = name.indexOf(':')
  if (colon < 1) throw new Error(`expected type:key, got ${name}`)
  return { type: name.slice(0, colon), key: name.slice(colon + 1) }
}

function rolePut(
  type: string | null,
  key: string,
  words: RoleWords,
  permissions: readonly Permission[],
): ChangeOf<'role-put'> {
  const { extends: extended = [], from = [] } = words
  return { kind: 'role-put', type, role: key, permissions, extends: extended, derivations: from }
}
