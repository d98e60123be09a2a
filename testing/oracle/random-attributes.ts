/**
 * Random attributes: values of eight attributes over all roots, instances whose keys are among these values,
 * and the values in each source. `random-conditions.ts` generates conditions on them.
 *
 * Names and values include difficult cases: dots, names of prototype members, other scripts, lone surrogates,
 * negative zero, numbers beyond 2^53, times in several notations, and texts that resemble times. Values come
 * from a small pool, so they are often equal. Some values are missing, null, or of another kind than usual.
 */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import type { StoredInstances } from './conditions/conditions.ts'
import type { JsonObject, QuestionParts, Roots } from './conditions/roots.ts'
import { mostly } from './random-model.ts'

export interface Instance {
  readonly type: string
  readonly key: string
  readonly attributes: JsonObject
}

/** Features of conditions and values that a test can disable. */
export interface Shape {
  readonly exists: boolean
  /** True if an object can have both `a` and `a.b`; the path `a.b` reads the latter. */
  readonly shadows: boolean
  /** True if operands of equality and membership can be, contain or read objects. */
  readonly wholeObjects: boolean
}

export const USUAL: Shape = { exists: true, shadows: true, wholeObjects: true }

/** Usual kind of the value of an attribute. */
export type Kind = 'number' | 'instant' | 'text' | 'list' | 'record' | 'records'

const NUMBERS = [1.5, -1, 2 ** 53, 2 ** 53 + 2, 1e300, 5e-324]
export const number = mostly(fc.constantFrom(0, -0, 1, 2, 3), fc.constantFrom(...NUMBERS))
/** Large integers with all digits. Only the first two are doubles and can be operands. */
const longInteger = fc.constantFrom(2n ** 53n, 2n ** 53n + 2n, 2n ** 53n + 1n, -(2n ** 60n) - 1n)

const INSTANTS = [
  '2026-11-26',
  '2026-11-26T00:00:00Z',
  '2026-11-25t20:00:00.000-04:00',
  '2026-11-25T23:59:60z',
  '2026-11-26T00:00:00.0000000000000000001Z',
  '2026-11-26T00:00:00.00000000000000000010-00:00',
  '2026-11-27',
  '2024-02-29T23:59:59.9+23:59',
  '0000-01-01',
]
const NO_INSTANTS = ['2026-02-30', '2026-11-26T00:00:00', '2026-11-26T24:00:00Z', '2026-13-01', '17:00', '17']
export const instant = fc.constantFrom(...INSTANTS)

const PIECES = ['a', 'b', '.', 'A', 'é', 'e\u0301', '😀', '\ud83d', '\ude00']
const piece = mostly(fc.constantFrom('a', 'b', '.', '😀'), fc.constantFrom(...PIECES))
export const text = fc.array(piece, { maxLength: 3 }).map(pieces => pieces.join(''))

const oddScalar = fc.oneof(
  fc.constantFrom(null, true, false, '1', 'true', 'null', '__proto__'),
  fc.constantFrom(...NO_INSTANTS),
  instant,
  number,
)
/** A small pool of values, so that lists and members often have values in common. */
export const scalar = mostly(fc.constantFrom('a', 'b', 0, 1, null), oddScalar)

export const INSTANCE_TYPES = ['doc', '__proto__']
const INSTANCE_KEYS = ['a', 'b', 'constructor']
export const instanceKey = fc.constantFrom(...INSTANCE_KEYS)

export const list = fc.array(scalar, { maxLength: 3 })

const longIntegers = fc.array(
  mostly<unknown>(
    scalar,
    fc.oneof(
      longInteger,
      longInteger.map(k => [{ k }]),
    ),
  ),
  {
    maxLength: 3,
  },
)

/** Names that tests of a match read. `n.m` can be the name of a member, or a member of a member. */
export const MEMBERS = ['k', 'n.m', '__proto__']

/** Often one of a few similar objects, because whole objects are also compared. */
function record({ shadows }: Shape): Arbitrary<JsonObject> {
  const any = fc
    .tuple(members({ k: scalar, ['__proto__']: scalar }, 1), dottedMembers('n', 'm', scalar, shadows))
    .map(([plain, further]) => ({ ...plain, ...further }))
  const few = fc.constantFrom<JsonObject>(
    {},
    { k: 1 },
    { n: { m: 'a' } },
    { k: 1, n: { m: 'a' } },
    { n: {}, k: 1 },
  )
  return fc.oneof({ arbitrary: any, weight: 3 }, { arbitrary: few, weight: 2 })
}

/** Objects with these members, each of which can be missing. `fromEntries` allows a member `__proto__`. */
function members(of: Record<string, Arbitrary<unknown>>, missing: number): Arbitrary<JsonObject> {
  const entries = Object.entries(of).map(([name, value]) =>
    fc.oneof(
      { arbitrary: value.map(each => [[name, each]] as const), weight: 6 },
      { arbitrary: fc.constant([]), weight: missing },
    ),
  )
  return fc.tuple(...entries).map(found => Object.fromEntries(found.flat()))
}

/** Objects in which the path `outer.inner` leads to a member, a name with a dot, both, or nothing. */
function dottedMembers(
  outer: string,
  inner: string,
  value: Arbitrary<unknown>,
  shadows: boolean,
): Arbitrary<JsonObject> {
  const nested = value.map(each => ({ [outer]: { [inner]: each } }))
  const joined = value.map(each => ({ [`${outer}.${inner}`]: each }))
  const both = fc.tuple(nested, joined).map(([below, above]) => ({ ...below, ...above }))
  return fc.oneof(
    { arbitrary: nested, weight: 3 },
    { arbitrary: shadows ? both : joined, weight: 2 },
    { arbitrary: joined, weight: 1 },
    { arbitrary: scalar.map((each): JsonObject => ({ [outer]: each })), weight: 1 },
    { arbitrary: fc.constant({}), weight: 1 },
  )
}

export function usualValue(kind: Kind, shape: Shape): Arbitrary<unknown> {
  switch (kind) {
    case 'number':
      return number
    case 'instant':
      return instant
    case 'text':
      return text
    case 'list':
      return list
    case 'record':
      return fc.oneof({ arbitrary: record(shape), weight: 2 }, { arbitrary: instanceKey, weight: 1 })
    case 'records':
      return fc.oneof(
        fc.array(mostly<unknown>(record(shape), scalar), { maxLength: 3 }),
        fc.array(mostly(instanceKey, scalar), { maxLength: 3 }),
      )
  }
}

/** Mostly a value of the kind, otherwise a value of another kind. */
function likely(kind: Kind, shape: Shape): Arbitrary<unknown> {
  const others = KINDS.map(each => usualValue(each, shape))
  return fc.oneof(
    { arbitrary: usualValue(kind, shape), weight: 14 },
    { arbitrary: fc.oneof(oddScalar, ...others), weight: 2 },
    { arbitrary: fc.constant(null), weight: 1 },
    {
      arbitrary: fc.oneof(
        longInteger,
        longInteger.map(k => ({ k })),
        longIntegers,
      ),
      weight: 2,
    },
  )
}

export interface Attribute {
  readonly root: keyof Roots
  /** If the name has a dot, values are stored in several ways; see `dottedMembers`. */
  readonly name: string
  readonly kind: Kind
}

export const ATTRIBUTES: readonly Attribute[] = [
  { root: 'user', name: 'level', kind: 'number' },
  { root: 'user', name: 'home.city', kind: 'text' },
  { root: 'user', name: 'groups', kind: 'list' },
  { root: 'resource', name: '__proto__', kind: 'text' },
  { root: 'resource', name: 'owner', kind: 'record' },
  { root: 'tenant', name: '名簿', kind: 'records' },
  { root: 'context', name: 'constructor', kind: 'number' },
  { root: 'server', name: 'time', kind: 'instant' },
]
export const KINDS = [...new Set(ATTRIBUTES.map(({ kind }) => kind))]

export function roots(shape: Shape): Arbitrary<Roots> {
  const root = (of: keyof Roots) => {
    const own = ATTRIBUTES.filter(each => each.root === of)
    const plain = own.filter(({ name }) => !name.includes('.'))
    const dotted = own.filter(({ name }) => name.includes('.'))
    const parts = [
      members(Object.fromEntries(plain.map(({ name, kind }) => [name, likely(kind, shape)])), 1),
      ...dotted.map(({ name, kind }) => {
        const [outer, inner] = name.split('.')
        return dottedMembers(outer!, inner!, likely(kind, shape), shape.shadows)
      }),
    ]
    return fc.tuple(...parts).map(found => Object.fromEntries(found.flatMap(part => Object.entries(part))))
  }
  return fc.record({
    user: root('user'),
    resource: root('resource'),
    tenant: root('tenant'),
    context: root('context'),
    server: root('server'),
  })
}

export function instances(shape: Shape): Arbitrary<Instance[]> {
  return fc.uniqueArray(
    fc.record({
      type: mostly(fc.constant(INSTANCE_TYPES[0]!), fc.constantFrom(...INSTANCE_TYPES)),
      key: instanceKey,
      attributes: mostly(record(shape), fc.constant({})),
    }),
    { minLength: 1, maxLength: 4, selector: ({ type, key }) => `${type}:${key}` },
  )
}

export function storedAmong(all: readonly Instance[]): StoredInstances {
  return (type, key) => all.find(each => each.type === type && each.key === key)?.attributes
}

/** Values in the sources of one check. Sources mostly have the same names. */
export function questionParts(): Arbitrary<QuestionParts> {
  const part = fc.option(attributesOf(SPOKEN_OF, 3))
  const field = fc.option(text)
  const attributes = fc.option(fc.record({ attributes: part }, ANY))
  const user = fc.option(
    fc.record({ attributes: part, email: field, first_name: field, last_name: field }, ANY),
  )
  const resource = fc.option(fc.record({ attributes: part, context: part }, ANY))
  const key = fc.constantFrom('a', 'b')
  return fc.record({
    computed: fc.record({
      user: fc.record({ key, roles: fc.subarray(['r', 's']), tenants: fc.subarray(['a', 'b']) }),
      resource: fc.record({ type: key, tenant: key, key }, { requiredKeys: ['type', 'tenant'] }),
      tenant: fc.record({ key }),
      server: fc.record({ time: instant }),
    }),
    request: fc.record({ user, resource, tenant: attributes, context: part }, ANY),
    stored: fc.record({ user, resource: attributes, tenant: attributes }, ANY),
  })
}

/** Options for a record in which every member is optional. */
const ANY: { readonly requiredKeys: [] } = { requiredKeys: [] }

const SPOKEN_OF = ['key', 'roles', 'tenant', 'email', 'last_name', 'id', 'time', '__proto__', 'a.b', 'a']

function attributesOf(names: readonly string[], depth: number): Arbitrary<JsonObject> {
  const usual: Arbitrary<unknown> = fc.oneof(scalar, list)
  const said = depth === 0 ? usual : fc.oneof(usual, attributesOf(names, depth - 1))
  return fc
    .array(fc.tuple(fc.constantFrom(...names), said), { maxLength: 5 })
    .map(entries => Object.fromEntries<unknown>(entries))
}
