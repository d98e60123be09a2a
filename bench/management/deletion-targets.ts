/**
 * Environments in which very many entities depend on one entity. Each defines the entity that is deleted, and
 * a decision that depends on it.
 */
import type { RowLoader } from '#testing/processes/row-loader.ts'
import { CONDITION_SETS_MAX, RULES_MAX, RULES_PER_ACTION_MAX } from '#model/limits.ts'
import type {
  AssignmentRecord,
  ConditionSetRecord,
  InstanceRecord,
  RuleRecord,
  StoredRecord,
  TupleRecord,
} from '#entities/records.ts'
import {
  instanceRecord,
  newId,
  relationRecord,
  roleRecord,
  tenantRecord,
  typeRecord,
  userRecord,
} from '../data/bulk-store.ts'

export interface DeletionTarget {
  /** Loads the rows. At least `dependants` of them are deleted together with the entity. */
  load(loader: RowLoader, dependants: number): Promise<void>
  /** Path of the request that deletes the entity. */
  readonly path: { readonly area: 'schema' | 'facts'; readonly rest: string }
  /** A check that is allowed before the deletion and denied after it. */
  readonly question: { readonly user: string; readonly resource: string; readonly tenant: string }
}

const READ = { id: newId(), key: 'read', name: 'read', description: null, attributes: null }
const action = { ...READ, createdAt: 0, updatedAt: 0 }
const doc = { ...typeRecord('doc'), actions: [action] }
const folder = { ...typeRecord('folder'), actions: [action] }
const home = tenantRecord('home')
const member = { ...roleRecord('member', null), permissions: ['doc:read'] }
const reader = { ...roleRecord('reader', doc.id), permissions: ['read'] }
const parent = relationRecord('parent', doc.id, folder.id)
const keeper = roleRecord('keeper', folder.id)
const derivation = { role: 'keeper', onType: 'folder', relation: 'parent', guarded: false }
const derived = {
  ...reader,
  key: 'derived',
  id: newId(),
  grantedTo: { id: newId(), guarded: false, entries: [derivation] },
}

function assignment(userId: string, roleId: string, tenantId: string, on: InstanceRecord | null) {
  const ids = { userId, roleId, tenantId, instanceId: on?.id ?? null }
  return { kind: 'assignment', id: newId(), ...ids, createdAt: 0, expiresAt: null } satisfies AssignmentRecord
}

function tuple(subject: InstanceRecord, object: InstanceRecord) {
  const ids = {
    subjectId: subject.id,
    relationId: parent.id,
    objectId: object.id,
    tenantId: subject.tenantId,
  }
  return { kind: 'tuple', id: newId(), ...ids, createdAt: 0, expiresAt: null } satisfies TupleRecord
}

/** Smallest number n such that n elements and n other elements form at least `count` pairs. */
function sideOf(count: number): number {
  return Math.ceil(Math.sqrt(count))
}

/**
 * Loads the dependents of an instance type: a quarter each of instances, assignments on them, tuples from
 * them and tuples to them.
 */
async function loadInstances(loader: RowLoader, tenantId: string, dependants: number): Promise<void> {
  const alice = userRecord('alice')
  const top = instanceRecord('top', folder.id, tenantId)
  const side = instanceRecord('side', folder.id, tenantId)
  await loader.add(alice, top, side)
  for (let row = 0; row < dependants / 4; row += 1) {
    const instance = instanceRecord(`d${row}`, doc.id, tenantId)
    const held = assignment(alice.id, reader.id, tenantId, instance)
    await loader.add(instance, held, tuple(top, instance), tuple(side, instance))
  }
}

/** A user who can read folders. The deletion must not change this. */
const bystander = userRecord('bystander')
const clerk = { ...roleRecord('clerk', null), permissions: ['folder:read'] }
const clerking = assignment(bystander.id, clerk.id, home.id, null)
const schema: readonly StoredRecord[] = [
  doc,
  folder,
  home,
  member,
  reader,
  parent,
  keeper,
  derived,
  clerk,
  bystander,
  clerking,
]

function conditionSet(key: string, of: Partial<ConditionSetRecord>): ConditionSetRecord {
  const said = { key, name: key, description: null, side: 'user', typeId: null, parentId: null } as const
  return { kind: 'condition-set', id: newId(), createdAt: 0, updatedAt: 0, ...said, conditions: {}, ...of }
}

/**
 * Rules on `doc` with many user sets and one resource set. Half of the user sets compare an order, so each of
 * them must be evaluated.
 */
async function loadRules(loader: RowLoader, dependants: number): Promise<void> {
  const actions = Array.from({ length: RULES_MAX / RULES_PER_ACTION_MAX }, (_, n) =>
    n === 0 ? action : { ...action, id: newId(), key: `action-${n}` },
  )
  const alice = { ...userRecord('alice'), attributes: { group: 'group-8' } }
  const any = conditionSet('any', { side: 'resource', typeId: doc.id })
  const userSets = Array.from({ length: CONDITION_SETS_MAX - 1 }, (_, n) => {
    const found = { 'user.group': { equals: `group-${n}` } }
    return conditionSet(`set-${n}`, {
      conditions: n % 2 === 0 ? found : { 'user.level': { 'greater-than': n } },
    })
  })
  await loader.add(...schema.filter(record => record !== doc), { ...doc, actions }, any, alice, ...userSets)
  const rules = actions.flatMap(({ id }) =>
    userSets.map((set): RuleRecord => {
      const sides = { userSideId: set.id, resourceSideId: any.id }
      return { kind: 'rule', id: newId(), createdAt: 0, ...sides, typeId: doc.id, actionId: id }
    }),
  )
  for (const rule of rules.slice(0, dependants)) await loader.add(rule)
  await loader.flush()
}

/** Number of condition sets that the bench changes. Each of these sets matches one user. */
export const OWN_SETS = 20

/**
 * Conditions of such a set. Half of the sets are found by an attribute value. The other half compares an
 * order, so each check must evaluate each of these sets.
 */
export function ownConditions(own: number): Readonly<Record<string, unknown>> {
  const above = { 'user.own': { 'greater-than-equals': own } }
  return own % 2 === 0
    ? { 'user.own': { equals: own } }
    : { allOf: [above, { 'user.own': { 'less-than-equals': own } }] }
}

/**
 * Loads rules on ten actions of `doc`. Also loads an action without rules, sets without rules, and the users
 * of these sets.
 */
export async function loadChangedRules(loader: RowLoader, rules: number): Promise<void> {
  const actions = ['free', ...Array.from({ length: 10 }, (_, n) => `action-${n}`)].map(key => ({
    ...action,
    id: newId(),
    key,
  }))
  const any = conditionSet('any', { side: 'resource', typeId: doc.id })
  const userSets = Array.from({ length: rules / 10 }, (_, n) => {
    const found = { 'user.group': { equals: `group-${n}` } }
    return conditionSet(`set-${n}`, {
      conditions: n % 2 === 0 ? found : { 'user.level': { 'greater-than': n } },
    })
  })
  await loader.add(...schema.filter(record => record !== doc), { ...doc, actions }, any, ...userSets)
  for (let own = 0; own < OWN_SETS; own += 1) {
    const user = { ...userRecord(`own-${own}`), attributes: { own } }
    await loader.add(user, conditionSet(`own-${own}`, { conditions: ownConditions(own) }))
  }
  for (const { id } of actions.slice(1)) {
    for (const set of userSets) {
      const sides = { userSideId: set.id, resourceSideId: any.id }
      await loader.add({ kind: 'rule', id: newId(), createdAt: 0, ...sides, typeId: doc.id, actionId: id })
    }
  }
  await loader.flush()
}

const RULED_QUESTION = { user: 'alice', resource: 'd0', tenant: 'home' }

/** All kinds of entities on which very many others can depend. */
export const TARGETS: Readonly<Record<string, DeletionTarget>> = {
  'ruled-type': {
    path: { area: 'schema', rest: 'resources/doc' },
    question: RULED_QUESTION,
    load: loadRules,
  },
  'ruled-set': {
    path: { area: 'schema', rest: 'condition_sets/any' },
    question: RULED_QUESTION,
    load: loadRules,
  },
  tenant: {
    path: { area: 'facts', rest: 'tenants/acme' },
    question: { user: 'alice', resource: 'd7', tenant: 'acme' },
    async load(loader, dependants) {
      const acme = tenantRecord('acme')
      await loader.add(...schema, acme)
      await loadInstances(loader, acme.id, dependants)
      await loader.flush()
    },
  },
  type: {
    path: { area: 'schema', rest: 'resources/doc' },
    question: { user: 'alice', resource: 'd7', tenant: 'home' },
    async load(loader, dependants) {
      await loader.add(...schema)
      await loadInstances(loader, home.id, dependants)
      await loader.flush()
    },
  },
  role: {
    path: { area: 'schema', rest: 'roles/member' },
    question: { user: 'u7', resource: 'd0', tenant: 'home' },
    async load(loader, dependants) {
      await loader.add(...schema, instanceRecord('d0', doc.id, home.id))
      for (let row = 0; row < dependants; row += 1) {
        const user = userRecord(`u${row}`)
        await loader.add(user, assignment(user.id, member.id, home.id, null))
      }
      await loader.flush()
    },
  },
  relation: {
    path: { area: 'schema', rest: 'resources/doc/relations/parent' },
    question: { user: 'alice', resource: 'd7', tenant: 'home' },
    async load(loader, dependants) {
      const alice = userRecord('alice')
      const side = sideOf(dependants)
      const of = (typeId: string, letter: string) =>
        Array.from({ length: side }, (_, row) => instanceRecord(`${letter}${row}`, typeId, home.id))
      const [folders, docs] = [of(folder.id, 'f'), of(doc.id, 'd')]
      await loader.add(...schema, alice, ...folders, ...docs)
      await loader.add(assignment(alice.id, keeper.id, home.id, folders[0]!))
      for (const subject of folders) for (const object of docs) await loader.add(tuple(subject, object))
      await loader.flush()
    },
  },
  user: {
    path: { area: 'facts', rest: 'users/alice' },
    question: { user: 'alice', resource: 'd0', tenant: 't7' },
    async load(loader, dependants) {
      const alice = userRecord('alice')
      const side = sideOf(dependants)
      const tenants = Array.from({ length: side }, (_, row) => tenantRecord(`t${row}`))
      const roles = Array.from({ length: side }, (_, row) => ({
        ...roleRecord(`r${row}`, null),
        permissions: ['doc:read'],
      }))
      await loader.add(...schema, alice, ...tenants, ...roles, instanceRecord('d0', doc.id, tenants[7]!.id))
      for (const tenant of tenants) {
        for (const role of roles) await loader.add(assignment(alice.id, role.id, tenant.id, null))
      }
      await loader.flush()
    },
  },
}
