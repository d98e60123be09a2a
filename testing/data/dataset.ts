/** Benchmark datasets: data, and checks whose decisions follow from the data or come from a baseline. */
import type { Change, Derivation } from '#model/change.ts'
import type { Query } from '#model/decision.ts'

export interface Dataset {
  readonly name: string
  /** Schema, tenants, users and instances. The facts (assignments and tuples) follow in `facts`. */
  things(): Iterable<Change>
  facts(): Iterable<Change>
  /** Checks that are probably of this kind. Benchmarks keep those that the baseline decides like this. */
  candidates(count: number, kind: 'allowed' | 'denied'): Query[]
}

export function from(role: string, onType: string, relation: string): Derivation {
  return { role, onType, relation, guarded: false }
}

/** Returns the name of the relation through which group members get `role` on objects (native.md C.4). */
export function groupRelation(role: string): string {
  return `group_group_${role}`
}

/** The types group, folder and document. Their roles are inherited down the tree and granted to groups. */
export function driveSchema(): Change[] {
  const roles = ['viewer', 'editor', 'owner']
  const tree = (type: string): Change[] =>
    roles.map(role => ({
      kind: 'role-put',
      type,
      role,
      permissions: [{ type, action: role === 'viewer' ? 'read' : role === 'editor' ? 'write' : 'delete' }],
      extends: role === 'viewer' ? [] : [roles[roles.indexOf(role) - 1]!],
      derivations: [
        from(role, 'folder', 'parent'),
        ...(role === 'owner' ? [] : [from('member', 'group', groupRelation(role))]),
      ],
    }))
  const grants = (type: string): Change[] =>
    ['viewer', 'editor'].map(role => ({
      kind: 'relation-put',
      type,
      relation: groupRelation(role),
      subjectType: 'group',
    }))
  const member: Change = {
    kind: 'role-put',
    type: 'group',
    role: 'member',
    permissions: [],
    extends: [],
    derivations: [from('member', 'group', 'group')],
  }
  return [
    { kind: 'type-put', type: 'group', actions: [] },
    { kind: 'type-put', type: 'folder', actions: ['read', 'write', 'delete'] },
    { kind: 'type-put', type: 'document', actions: ['read', 'write', 'delete'] },
    { kind: 'relation-put', type: 'group', relation: 'group', subjectType: 'group' },
    { kind: 'relation-put', type: 'folder', relation: 'parent', subjectType: 'folder' },
    { kind: 'relation-put', type: 'document', relation: 'parent', subjectType: 'folder' },
    ...grants('folder'),
    ...grants('document'),
    member,
    ...tree('folder'),
    ...tree('folder'),
    ...tree('document'),
    { kind: 'tenant-put', tenant: 'default', attributes: null },
  ]
}

export function userPut(user: string): Change {
  return { kind: 'user-put', user, attributes: null }
}

export function instancePut(type: string, key: string): Change {
  return { kind: 'instance-put', instance: { type, key }, tenant: 'default', attributes: null }
}

export function assignment(user: string, role: string, type: string, key: string): Change {
  return { kind: 'assignment-put', user, role, scope: { instance: { type, key } } }
}

export function tuple(
  subject: readonly [string, string],
  relation: string,
  object: readonly [string, string],
): Change {
  return {
    kind: 'tuple-put',
    subject: { type: subject[0], key: subject[1] },
    relation,
    object: { type: object[0], key: object[1] },
  }
}

export function ask(user: string, action: string, type: string, key: string): Query {
  return { user, action, type, key, tenant: null }
}
