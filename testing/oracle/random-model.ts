/**
 * Random models: names (of types, roles, relations, tenants, users and instances), and put changes of every
 * kind that use these names. `random-history.ts` combines puts and removals.
 *
 * Keys include difficult cases: delimiters, names of prototype members, and other scripts. Entities of every
 * kind use the same few keys, so that code which concatenates or confuses keys fails. Relations often lead
 * back to their own type, and derivations can use any relation, so cycles are common. The models need not
 * make sense.
 */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import type { Change, Derivation, InstanceKey, Permission } from '#model/change.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'

/** Names of a type and of its actions, roles and relations, without the definitions of the roles. */
export interface TypeNames {
  readonly type: string
  readonly actions: readonly string[]
  readonly roles: readonly string[]
  readonly relations: readonly { readonly relation: string; readonly subjectType: string }[]
  readonly instances: readonly string[]
}

export interface Names {
  readonly types: readonly TypeNames[]
  readonly tenantRoles: readonly string[]
  readonly tenants: readonly string[]
  readonly users: readonly string[]
  /** All names. Some of them are not used and serve as unknown names. */
  readonly keys: readonly string[]
}

const PIECES = ['a', 'b', ':', '#', '/', ' ', '|', '__proto__', 'constructor', 'null', 'ß', '鍵', '😀', 'é']

const key = fc
  .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 3 })
  .map(pieces => pieces.join(''))

/** Parameters of models, for tests that need unusual keys or more roles. */
export interface Shape {
  readonly key: Arbitrary<string>
  /** Roles of a type, in addition to the few whose names other entities also have. */
  readonly furtherRoles: Arbitrary<readonly string[]>
}

export const USUAL: Shape = { key, furtherRoles: fc.constant([]) }

/** Keys of 1 byte and of 512 bytes in several scripts, used for entities of different kinds. */
export const SHORT_AND_LONG_KEYS: Shape = {
  ...USUAL,
  key: fc.oneof(
    fc.constantFrom('a', 'b', 'c', '0', '/', ' '),
    fc.constantFrom('x', 'y').map(last => 'k'.repeat(511) + last),
    fc.constantFrom('é', 'ß', 'ñ').map(letter => letter.repeat(256)),
    fc.constantFrom('😀', '👍').map(letter => letter.repeat(128)),
    key,
  ),
}

/** A type has more roles than a mask has bits. */
export const MANY_ROLES: Shape = {
  ...USUAL,
  furtherRoles: fc
    .integer({ min: 33, max: 70 })
    .map(count => Array.from({ length: count }, (_, n) => `role-${n}`)),
}

export function anyNames(shape: Shape): Arbitrary<Names> {
  return fc
    .uniqueArray(shape.key, { minLength: 9, maxLength: 12 })
    .chain(keys => namesAmong(keys, shape.furtherRoles))
}

function namesAmong(keys: string[], furtherRoles: Shape['furtherRoles']): Arbitrary<Names> {
  const some = (minLength: number, maxLength: number): Arbitrary<string[]> =>
    fc.shuffledSubarray(keys, { minLength, maxLength })
  const typeNames = (type: string, types: readonly string[]): Arbitrary<TypeNames> =>
    fc.record({
      type: fc.constant(type),
      actions: some(1, 4),
      roles: fc.tuple(some(1, 8), furtherRoles).map(([few, further]) => [...few, ...further]),
      relations: fc.uniqueArray(
        fc.record({ relation: fc.constantFrom(...keys), subjectType: fc.constantFrom(...types) }),
        { minLength: 1, maxLength: 3, selector: r => r.relation },
      ),
      instances: some(2, 5),
    })
  return fc.record({
    types: some(2, 4).chain(types => fc.tuple(...types.map(type => typeNames(type, types)))),
    tenantRoles: some(1, 3),
    tenants: some(1, 2).map(others => [DEFAULT_TENANT, ...others]),
    users: some(2, 3),
    keys: fc.constant(keys),
  })
}

/** The put of a type, mostly with all its actions. */
export function typePut({ type, actions }: TypeNames): Arbitrary<Change> {
  return mostly(fc.constant(actions), fc.subarray([...actions])).map(declared => ({
    kind: 'type-put',
    type,
    actions: declared,
  }))
}

export function tenantRolePut(world: Names, role: string): Arbitrary<Change> {
  const permission = fc
    .constantFrom(...world.types)
    .chain(({ type, actions }) => fc.constantFrom(...actions).map(action => ({ type, action })))
  return fc
    .record({
      permissions: fc.array(permission, { maxLength: 2 }),
      extends: fc.array(fc.constantFrom(...world.tenantRoles), { maxLength: 1 }),
    })
    .map(says => ({ kind: 'role-put', type: null, role, derivations: [], ...says }))
}

export function resourceRolePut(world: Names, names: TypeNames, role: string): Arbitrary<Change> {
  const { type, actions } = names
  const own = fc.constantFrom(...actions).map((action): Permission => ({ type, action }))
  // A permission on another type, or on an action that does not exist, has no effect.
  const foreign = fc.record({ type: typeOf(world), action: fc.constantFrom(...world.keys) })
  return fc
    .record({
      permissions: fc.array(mostly(own, foreign), { maxLength: 3 }),
      extends: fc.array(fc.constantFrom(...names.roles), { maxLength: 2 }),
      derivations: fc.array(derivation(world, names), { maxLength: 3 }),
    })
    .map(says => ({ kind: 'role-put', type, role, ...says }))
}

/** The put of a relation, sometimes with another subject type than before. */
export function relationPut(world: Names, { type, relations }: TypeNames): Arbitrary<Change> {
  return fc.constantFrom(...relations).chain(({ relation, subjectType }) =>
    mostly(fc.constant(subjectType), typeOf(world)).map(from => ({
      kind: 'relation-put' as const,
      type,
      relation,
      subjectType: from,
    })),
  )
}

/** Most instances are in the default tenant, because tuples between tenants have no effect. */
export function instancePut(world: Names, instance: InstanceKey): Arbitrary<Change> {
  return mostly(fc.constant(DEFAULT_TENANT), fc.constantFrom(...world.tenants)).map(tenant => ({
    kind: 'instance-put',
    instance,
    tenant,
    attributes: null,
  }))
}

export function tenantAssignment(world: Names): Arbitrary<Change> {
  return fc
    .record({
      user: fc.constantFrom(...world.users),
      role: fc.constantFrom(...world.tenantRoles),
      tenant: fc.constantFrom(...world.tenants),
    })
    .map(({ user, role, tenant }) => ({ kind: 'assignment-put', user, role, scope: { tenant } }))
}

export function instanceAssignment(world: Names): Arbitrary<Change> {
  return fc.constantFrom(...world.types).chain(names =>
    fc
      .record({
        user: fc.constantFrom(...world.users),
        role: fc.constantFrom(...names.roles),
        instance: instanceOf(names),
      })
      .map(({ user, role, instance }) => ({ kind: 'assignment-put', user, role, scope: { instance } })),
  )
}

export function tuplePut(world: Names): Arbitrary<Change> {
  return fc
    .constantFrom(...world.types)
    .chain(names =>
      fc
        .constantFrom(...names.relations)
        .chain(({ relation, subjectType }) =>
          fc
            .record({ subject: instanceOf(typeNamed(world, subjectType)), object: instanceOf(names) })
            .map(ends => ({ kind: 'tuple-put' as const, relation, ...ends })),
        ),
    )
}

/** A derivation through a relation of the type. Sometimes it refers to missing entities. */
function derivation(world: Names, { relations }: TypeNames): Arbitrary<Derivation> {
  const fitting = fc
    .constantFrom(...relations)
    .chain(({ relation, subjectType }) =>
      fc
        .constantFrom(...typeNamed(world, subjectType).roles)
        .map(role => ({ role, onType: subjectType, relation })),
    )
  const stray = fc.record({
    role: fc.constantFrom(...world.keys),
    onType: typeOf(world),
    relation: fc.constantFrom(...world.keys),
  })
  return fc.tuple(mostly(fitting, stray), fc.boolean()).map(([entry, guarded]) => ({ ...entry, guarded }))
}

export function instanceOf({ type, instances }: TypeNames): Arbitrary<InstanceKey> {
  return fc.constantFrom(...instances).map(instanceKey => ({ type, key: instanceKey }))
}

/** Returns `usual` with a probability of 0.9. */
export function mostly<T>(usual: Arbitrary<T>, unusual: Arbitrary<T>): Arbitrary<T> {
  return fc.oneof({ arbitrary: usual, weight: 9 }, { arbitrary: unusual, weight: 1 })
}

function typeOf(world: Names): Arbitrary<string> {
  return fc.constantFrom(...world.types).map(names => names.type)
}

function typeNamed(world: Names, type: string): TypeNames {
  return world.types.find(names => names.type === type)!
}
