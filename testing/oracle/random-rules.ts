/**
 * Random histories (`random-history.ts`) whose load and commits also contain condition sets, rules and
 * attributes, and whose checks contain attributes. Sets and rules mostly name existing entities.
 */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import type { Attributes, Change } from '#model/change.ts'
import type { QueryContext, Query, SentAttributes } from '#model/decision.ts'
import * as random from './random-attributes.ts'
import { conditions } from './random-conditions.ts'
import { type History, historyIn, type HistorySize } from './random-history.ts'
import * as model from './random-model.ts'
import type { Names } from './random-model.ts'

const SETS = ['all', 'staff', 'sales', 'open', 'mine'] as const
/** Time at which all checks with attributes are read. */
export const READ_AT = Date.UTC(2026, 10, 26)

/** Attributes of a check. They can be serialized to JSON; equal attributes have equal texts. */
class Sent implements QueryContext {
  readonly readAt = READ_AT
  readonly #attributes: SentAttributes

  constructor(attributes: SentAttributes) {
    this.#attributes = attributes
  }

  sent(): SentAttributes {
    return this.#attributes
  }

  toJSON(): SentAttributes {
    return this.#attributes
  }
}

/** If `isDemanding`, almost all sets require a value of an attribute, by which entities can be found. */
export function historiesWithRules(size: HistorySize, isDemanding = false): Arbitrary<History> {
  const put = (world: Names) => putIn(world, isDemanding)
  const change = (world: Names) => changeIn(world, isDemanding)
  return model.anyNames(model.USUAL).chain(world =>
    fc
      .record({
        history: historyIn(world, size),
        // Sets are put before the rules, because a rule that names a missing set is ignored.
        sets: isDemanding
          ? fc.tuple(...[...SETS.keys()].map(number => setPut(world, number, true)))
          : fc.constant([]),
        load: fc.array(put(world), { minLength: 12, maxLength: isDemanding ? 60 : 24 }),
        commits: fc.array(fc.array(change(world), { minLength: 1, maxLength: 5 }), {
          minLength: size.commits,
          maxLength: size.commits,
        }),
        sent: fc.array(sent(), { minLength: size.queries, maxLength: size.queries }),
      })
      .map(({ history, sets, load, commits, sent: sentWith }) => ({
        load: [...history.load, ...sets, ...load],
        commits: history.commits.map((facts, index) => [...facts, ...commits[index]!]),
        queries: history.queries.map((query, index): Query => {
          const attributes = sentWith[index]!
          return attributes === null ? query : { ...query, queryContext: new Sent(attributes) }
        }),
      })),
  )
}

function changeIn(world: Names, isDemanding: boolean): Arbitrary<Change> {
  return fc.oneof(
    { arbitrary: putIn(world, isDemanding), weight: 6 },
    {
      arbitrary: fc.constantFrom(...SETS).map((set): Change => ({ kind: 'condition-set-removed', set })),
      weight: 1,
    },
    {
      arbitrary: rulePut(world, isDemanding).map((rule): Change => ({ ...rule, kind: 'rule-removed' })),
      weight: 2,
    },
  )
}

function putIn(world: Names, isDemanding: boolean): Arbitrary<Change> {
  return fc.oneof(
    { arbitrary: anySetPut(world, isDemanding), weight: isDemanding ? 2 : 5 },
    { arbitrary: rulePut(world, isDemanding), weight: isDemanding ? 12 : 6 },
    { arbitrary: attributesPut(world), weight: isDemanding ? 20 : 5 },
  )
}

/** Each key is mostly used for sets of one side, because the side of a set cannot change. */
function anySetPut(world: Names, isDemanding: boolean): Arbitrary<Change> {
  return fc.constantFrom(...SETS.keys()).chain(number => setPut(world, number, isDemanding))
}

function setPut(world: Names, number: number, isDemanding: boolean): Arbitrary<Change> {
  return fc.record({
    kind: fc.constant('condition-set-put' as const),
    set: fc.constant(SETS[number]!),
    side: model.mostly(
      fc.constant(number < 3 ? ('user' as const) : ('resource' as const)),
      fc.constantFrom('user' as const, 'resource' as const),
    ),
    type: model.mostly(fc.constant(null), fc.constantFrom(...world.types.map(({ type }) => type))),
    parent: model.mostly(fc.constant(null), fc.constantFrom(...SETS)),
    conditions: isDemanding ? demandingConditions(world, number < 3) : someConditions(world),
  })
}

/** Random conditions, and conditions that are often true for entities of the model. */
function someConditions(world: Names): Arbitrary<Readonly<Record<string, unknown>>> {
  const oneOf = (keys: readonly string[]) => fc.constantFrom(...keys)
  return fc.oneof(
    { arbitrary: conditions(random.USUAL), weight: 4 },
    { arbitrary: fc.constant({}), weight: 2 },
    { arbitrary: oneOf(world.users).map(key => ({ 'user.key': { equals: key } })), weight: 1 },
    {
      arbitrary: oneOf(world.tenantRoles).map(role => ({ 'user.roles': { array_contains: role } })),
      weight: 1,
    },
    { arbitrary: fc.constant({ 'user.tenants': { array_contains: { ref: 'tenant.key' } } }), weight: 1 },
    { arbitrary: fc.constant({ not: { 'user.tenants': { array_len_equals: 0 } } }), weight: 1 },
    { arbitrary: oneOf(world.tenants).map(key => ({ 'resource.tenant': { 'not-equals': key } })), weight: 1 },
    { arbitrary: fc.constant({ 'resource.id': { 'equals-ref': 'resource.key' } }), weight: 1 },
    { arbitrary: fc.constant({ 'user.level': { 'equals-ref': 'context.constructor' } }), weight: 1 },
    { arbitrary: lookup(world), weight: 2 },
    { arbitrary: demand(world), weight: 4 },
  )
}

/** User sets require less, so that the requirements of resource sets are often decisive. */
function demandingConditions(world: Names, isOfUsers: boolean): Arbitrary<Readonly<Record<string, unknown>>> {
  return fc.oneof(
    { arbitrary: demand(world), weight: isOfUsers ? 5 : 15 },
    { arbitrary: fc.constant({}), weight: isOfUsers ? 10 : 0 },
    { arbitrary: someConditions(world), weight: 1 },
  )
}

/** Requirements for which the attribute index has lists: single, combined, or contradicting each other. */
function demand(world: Names): Arbitrary<Readonly<Record<string, unknown>>> {
  const users = fc.constantFrom(...world.users)
  const one = fc.oneof(
    fc.constant({ 'resource.owner': { 'equals-ref': 'user.key' } }),
    fc.constant({ 'user.key': { equals: { ref: 'resource.owner' } } }),
    users.map(key => ({ 'resource.owner': { equals: key } })),
    fc.array(users, { maxLength: 2 }).map(keys => ({ 'resource.owner': { in: keys } })),
    fc.constant({ 'resource.editors': { array_contains: { ref: 'user.key' } } }),
    fc.constant({ 'user.key': { in: { ref: 'resource.editors' } } }),
    users.map(key => ({ 'resource.editors': { array_contains: key } })),
    fc.constant({ 'user.team': { 'equals-ref': 'resource.owner' } }),
    users.map(key => ({ 'user.team': { equals: key } })),
    fc.constant({ 'resource.editors': { 'equals-ref': 'user.team' } }),
  )
  const several = fc.array(one, { minLength: 1, maxLength: 3 })
  return fc.oneof(
    { arbitrary: one, weight: 3 },
    several.map(allOf => ({ allOf })),
    several.map(anyOf => ({ anyOf })),
    one.map(not => ({ not })),
  )
}

/** Conditions that look up instances of the model. Attributes contain the keys of these instances. */
function lookup(world: Names): Arbitrary<Readonly<Record<string, unknown>>> {
  return fc
    .record({
      type: fc.constantFrom(...world.types),
      operator: fc.constantFrom('any_match', 'all_match'),
      isNegated: fc.boolean(),
    })
    .map(({ type, operator, isNegated }) => {
      const match = { owner: { exists: true } }
      const test = { 'user.groups': { [operator]: { match, fk_resource_type: type.type } } }
      return isNegated ? { not: test } : test
    })
}

function rulePut(world: Names, isDemanding: boolean): Arbitrary<Extract<Change, { kind: 'rule-put' }>> {
  return fc.constantFrom(...world.types).chain(({ type, actions }) =>
    fc.record({
      kind: fc.constant('rule-put' as const),
      userSet: model.mostly(
        fc.constantFrom(...SETS.slice(0, 3)),
        fc.constantFrom(...SETS, ...world.tenantRoles.map(role => `__autogen_${role}`)),
      ),
      type: fc.constant(type),
      action: fc.constantFrom(...actions),
      resourceSet: model.mostly(
        isDemanding
          ? fc.constantFrom(...SETS.slice(3))
          : fc.constantFrom(...SETS.slice(3), `__autogen_${type}`),
        fc.constantFrom(...SETS, '__autogen_other'),
      ),
    }),
  )
}

/** Attributes of entities of the model. Some of their lists contain keys of instances. */
function attributesPut(world: Names): Arbitrary<Change> {
  const keys = world.types.flatMap(({ instances }) => instances)
  const groups = fc.array(fc.constantFrom(...keys), { maxLength: 3 })
  return fc.tuple(random.roots(random.USUAL), groups, fc.boolean()).chain(([roots, list, hasList]) => {
    const user = hasList ? { ...roots.user, groups: list } : roots.user
    const named = owned(world)
    return fc.oneof(
      fc.tuple(fc.constantFrom(...world.users), named).map(([key, { team }]): Change => ({
        kind: 'user-put',
        user: key,
        attributes: defined({ ...user, team }),
      })),
      fc
        .constantFrom(...world.tenants)
        .map((tenant): Change => ({ kind: 'tenant-put', tenant, attributes: roots.tenant })),
      fc
        .constantFrom(...world.types)
        .chain(model.instanceOf)
        .chain(instance => model.instancePut(world, instance))
        .chain(instance => fc.tuple(fc.constant(instance), named))
        .map(([instance, { owner, editors }]): Change => {
          return { ...instance, attributes: defined({ ...roots.resource, owner, editors }) } as Change
        }),
    )
  })
}

function defined(attributes: Readonly<Record<string, unknown>>): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))
}

/** Attributes on which the conditions of `demand` depend. `undefined` means missing. */
function owned(world: Names) {
  const user = fc.constantFrom(...world.users)
  return fc.record({
    owner: fc.oneof(user, fc.constantFrom(undefined, null, 1), fc.array(user, { maxLength: 2 })),
    editors: fc.oneof(fc.array(user, { maxLength: 3 }), user, fc.constant(undefined)),
    team: fc.oneof(user, fc.constantFrom(undefined, null, 1), fc.array(user, { maxLength: 2 })),
  })
}

function sent(): Arbitrary<SentAttributes | null> {
  const part = <Part>(of: Arbitrary<Part>) => fc.option(of, { freq: 2 })
  const attributes = random.roots(random.USUAL).chain(({ user, resource, tenant, context }) =>
    fc.record({
      user: part(fc.constant(user)),
      resource: part(fc.constant(resource)),
      tenant: part(fc.constant(tenant)),
      context: part(fc.constant(context)),
    }),
  )
  return fc.option(attributes, { freq: 3 })
}
