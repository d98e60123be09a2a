/**
 * Random worlds with rules: a random history (`random-history.ts`) into whose load and commits condition sets, rules and attributes are
 * strewn, and questions with attributes of their own. Sets and rules name what the world has, now and then what it has not.
 */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import type { Change } from '#model/change.ts'
import type { Circumstances, Query, SentAttributes } from '#model/decision.ts'
import * as random from './random-attributes.ts'
import { conditions } from './random-conditions.ts'
import { type History, historyIn, type HistorySize } from './random-history.ts'
import * as model from './random-model.ts'
import type { Names } from './random-model.ts'

const SETS = ['all', 'staff', 'sales', 'open', 'mine'] as const
/** When questions with attributes are read. */
export const READ_AT = Date.UTC(2026, 10, 26)

/** Two that send the same are the same text. */
class Sent implements Circumstances {
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

export function historiesWithRules(size: HistorySize): Arbitrary<History> {
  return model.anyNames(model.USUAL).chain(world =>
    fc
      .record({
        history: historyIn(world, size),
        load: fc.array(put(world), { minLength: 12, maxLength: 24 }),
        commits: fc.array(fc.array(change(world), { minLength: 1, maxLength: 5 }), {
          minLength: size.commits,
          maxLength: size.commits,
        }),
        sent: fc.array(sent(), { minLength: size.queries, maxLength: size.queries }),
      })
      .map(({ history, load, commits, sent: sentWith }) => ({
        load: [...history.load, ...load],
        commits: history.commits.map((facts, index) => [...facts, ...commits[index]!]),
        queries: history.queries.map((query, index): Query => {
          const attributes = sentWith[index]!
          return attributes === null ? query : { ...query, circumstances: new Sent(attributes) }
        }),
      })),
  )
}

function change(world: Names): Arbitrary<Change> {
  return fc.oneof(
    { arbitrary: put(world), weight: 6 },
    {
      arbitrary: fc.constantFrom(...SETS).map((set): Change => ({ kind: 'condition-set-removed', set })),
      weight: 1,
    },
    { arbitrary: rulePut(world).map((rule): Change => ({ ...rule, kind: 'rule-removed' })), weight: 2 },
  )
}

function put(world: Names): Arbitrary<Change> {
  return fc.oneof(
    { arbitrary: setPut(world), weight: 5 },
    { arbitrary: rulePut(world), weight: 6 },
    { arbitrary: attributesPut(world), weight: 5 },
  )
}

/** Most sets of one side have one key: which side a set has is fixed. */
function setPut(world: Names): Arbitrary<Change> {
  return fc.constantFrom(...SETS.keys()).chain(number =>
    fc.record({
      kind: fc.constant('condition-set-put' as const),
      set: fc.constant(SETS[number]!),
      side: model.mostly(
        fc.constant(number < 3 ? ('user' as const) : ('resource' as const)),
        fc.constantFrom('user' as const, 'resource' as const),
      ),
      type: model.mostly(fc.constant(null), fc.constantFrom(...world.types.map(({ type }) => type))),
      parent: model.mostly(fc.constant(null), fc.constantFrom(...SETS)),
      conditions: someConditions(world),
    }),
  )
}

/** Any there are, and those that a world answers often. */
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
  )
}

/** Instances of the world by the keys that attributes hold. */
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

function rulePut(world: Names): Arbitrary<Extract<Change, { kind: 'rule-put' }>> {
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
        fc.constantFrom(...SETS.slice(3), `__autogen_${type}`),
        fc.constantFrom(...SETS, '__autogen_other'),
      ),
    }),
  )
}

/** Of things of the world; some lists hold keys of its instances. */
function attributesPut(world: Names): Arbitrary<Change> {
  const keys = world.types.flatMap(({ instances }) => instances)
  const groups = fc.array(fc.constantFrom(...keys), { maxLength: 3 })
  return fc.tuple(random.roots(random.USUAL), groups, fc.boolean()).chain(([roots, list, hasList]) => {
    const user = hasList ? { ...roots.user, groups: list } : roots.user
    return fc.oneof(
      fc
        .constantFrom(...world.users)
        .map((key): Change => ({ kind: 'user-put', user: key, attributes: user })),
      fc
        .constantFrom(...world.tenants)
        .map((tenant): Change => ({ kind: 'tenant-put', tenant, attributes: roots.tenant })),
      fc
        .constantFrom(...world.types)
        .chain(model.instanceOf)
        .chain(instance => model.instancePut(world, instance))
        .map((instance): Change => ({ ...instance, attributes: roots.resource }) as Change),
    )
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
