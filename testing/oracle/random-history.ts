/**
 * Random histories over a random model: a first load that creates the whole model, then commits that put,
 * remove and restore parts of it, and checks between the commits.
 *
 * Most names refer to existing entities, so that decisions are not trivial. Some refer to entities that were
 * removed or never existed. After a removal that also deletes many other entities, a commit that restores
 * them is likely.
 */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import type { Change } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import * as model from './random-model.ts'
import type { Names, Shape } from './random-model.ts'

export interface History {
  /** Creates the whole model. */
  readonly load: readonly Change[]
  readonly commits: readonly (readonly Change[])[]
  readonly queries: readonly Query[]
}

export interface HistorySize {
  readonly commits: number
  readonly queries: number
}

export function histories(size: HistorySize, shape: Shape = model.USUAL): Arbitrary<History> {
  return model.anyNames(shape).chain(world => historyIn(world, size))
}

export function historyIn(world: Names, size: HistorySize): Arbitrary<History> {
  return firstLoad(world).chain(load =>
    fc.record({
      load: fc.constant(load),
      commits: fc.array(commit(world, load), { minLength: size.commits, maxLength: size.commits }),
      queries: fc.array(query(world), { minLength: size.queries, maxLength: size.queries }),
    }),
  )
}

function firstLoad(world: Names): Arbitrary<Change[]> {
  const roles = [
    ...world.tenantRoles.map(role => model.tenantRolePut(world, role)),
    ...world.types.flatMap(names => names.roles.map(role => model.resourceRolePut(world, names, role))),
  ]
  const instances = world.types.flatMap(({ type, instances: keys }) =>
    keys.map(key => model.instancePut(world, { type, key })),
  )
  const facts = fc.tuple(
    fc.array(model.tenantAssignment(world), { maxLength: 3 }),
    fc.array(model.instanceAssignment(world), { minLength: 10, maxLength: 24 }),
    fc.array(model.tuplePut(world), { minLength: 12, maxLength: 30 }),
  )
  return fc.tuple(fc.tuple(...roles), fc.tuple(...instances), facts).map(([says, places, [t, i, tuples]]) => [
    ...world.types.map(({ type, actions }): Change => ({ kind: 'type-put', type, actions })),
    ...world.types.flatMap(({ type, relations }) =>
      relations.map((r): Change => ({ kind: 'relation-put', type, ...r })),
    ),
    // Put twice, because a role can refer to roles that come later.
    ...says,
    ...says,
    ...world.tenants.map((tenant): Change => ({ kind: 'tenant-put', tenant, attributes: null })),
    ...world.users.map((user): Change => ({ kind: 'user-put', user, attributes: null })),
    ...places,
    ...t,
    ...i,
    ...tuples,
  ])
}

function commit(world: Names, load: readonly Change[]): Arbitrary<readonly Change[]> {
  return fc.oneof(
    { arbitrary: fc.array(put(world), { minLength: 1, maxLength: 4 }), weight: 8 },
    { arbitrary: fc.array(removal(world), { minLength: 1, maxLength: 2 }), weight: 5 },
    { arbitrary: fc.subarray([...load]), weight: 3 },
    { arbitrary: fc.constant(load), weight: 3 },
  )
}

function put(world: Names): Arbitrary<Change> {
  const someType = fc.constantFrom(...world.types)
  return fc.oneof(
    { arbitrary: model.instanceAssignment(world), weight: 8 },
    { arbitrary: model.tuplePut(world), weight: 8 },
    { arbitrary: model.tenantAssignment(world), weight: 2 },
    {
      arbitrary: someType.chain(model.instanceOf).chain(instance => model.instancePut(world, instance)),
      weight: 3,
    },
    {
      arbitrary: someType.chain(names =>
        fc.constantFrom(...names.roles).chain(role => model.resourceRolePut(world, names, role)),
      ),
      weight: 3,
    },
    {
      arbitrary: fc.constantFrom(...world.tenantRoles).chain(role => model.tenantRolePut(world, role)),
      weight: 1,
    },
    { arbitrary: someType.chain(names => model.relationPut(world, names)), weight: 2 },
    { arbitrary: someType.chain(model.typePut), weight: 1 },
  )
}

function removal(world: Names): Arbitrary<Change> {
  const someType = fc.constantFrom(...world.types)
  return fc.oneof(
    {
      arbitrary: fc
        .oneof(model.instanceAssignment(world), model.tenantAssignment(world), model.tuplePut(world))
        .map(asRemoval),
      weight: 8,
    },
    {
      arbitrary: someType
        .chain(model.instanceOf)
        .map((instance): Change => ({ kind: 'instance-removed', instance })),
      weight: 3,
    },
    {
      arbitrary: someType.chain(({ type, roles }) =>
        fc.constantFrom(...roles).map((role): Change => ({ kind: 'role-removed', type, role })),
      ),
      weight: 2,
    },
    {
      arbitrary: fc
        .constantFrom(...world.tenantRoles)
        .map((role): Change => ({ kind: 'role-removed', type: null, role })),
      weight: 1,
    },
    {
      arbitrary: someType.chain(({ type, relations }) =>
        fc
          .constantFrom(...relations)
          .map(({ relation }): Change => ({ kind: 'relation-removed', type, relation })),
      ),
      weight: 2,
    },
    {
      arbitrary: fc.constantFrom(...world.users).map((user): Change => ({ kind: 'user-removed', user })),
      weight: 2,
    },
    {
      arbitrary: fc
        .constantFrom(...world.tenants)
        .map((tenant): Change => ({ kind: 'tenant-removed', tenant })),
      weight: 1,
    },
    { arbitrary: someType.map(({ type }): Change => ({ kind: 'type-removed', type })), weight: 1 },
  )
}

function asRemoval(change: Change): Change {
  if (change.kind === 'assignment-put') return { ...change, kind: 'assignment-removed' }
  if (change.kind === 'tuple-put') return { ...change, kind: 'tuple-removed' }
  throw new Error(`there is no removal for a change of kind ${change.kind}`)
}

/** A check on entities of the model; sometimes an unknown name, a whole type, or another tenant. */
function query(world: Names): Arbitrary<Query> {
  const stray = fc.constantFrom(...world.keys)
  return fc.constantFrom(...world.types).chain(names =>
    fc.record({
      user: model.mostly(fc.constantFrom(...world.users), stray),
      action: model.mostly(fc.constantFrom(...names.actions), stray),
      type: model.mostly(fc.constant(names.type), stray),
      key: model.mostly(fc.constantFrom(...names.instances), fc.option(stray)),
      tenant: fc.oneof(
        { arbitrary: fc.constant(null), weight: 8 },
        { arbitrary: fc.constantFrom(...world.tenants), weight: 6 },
        { arbitrary: stray, weight: 1 },
      ),
    }),
  )
}
