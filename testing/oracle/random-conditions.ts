/**
 * Random valid conditions (conditions.md 3), at most six nodes deep, with every connective, operator, alias
 * and spelling, with refs and lists of refs, and with data on which they are evaluated.
 *
 * Operands come from the values of `random-attributes.ts`, mostly with an operator that fits the attribute.
 * Therefore true, false and unknown are all frequent.
 */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import { compareInstants, instantOf } from './conditions/instants.ts'
import type { JsonObject, Roots } from './conditions/roots.ts'
import * as random from './random-attributes.ts'
import type { Attribute, Instance, Kind, Shape } from './random-attributes.ts'
import { mostly } from './random-model.ts'

export interface Case {
  readonly conditions: JsonObject
  readonly roots: Roots
  /** Instances in the tenant of the check. */
  readonly instances: readonly Instance[]
}

const DEPTH_MAX = 6
/** Maximum nesting depth of connectives within the test of one attribute. */
const TEST_DEPTH_MAX = 2

export function cases(shape: Shape = random.USUAL): Arbitrary<Case> {
  return fc.record({
    conditions: conditions(shape),
    roots: random.roots(shape),
    instances: random.instances(shape),
  })
}

export function conditions(shape: Shape): Arbitrary<JsonObject> {
  const leaf = fc.oneof(...random.ATTRIBUTES.map(attribute => attributeLeaf(attribute, shape)))
  let node = mostly(leaf, fc.constant({}))
  for (let depth = 1; depth < DEPTH_MAX; depth++) {
    const connective = connected(node)
    const several = fc.tuple(leaf, connective).map(([one, other]) => ({ ...one, ...other }))
    const swapped = fc.tuple(connective, leaf).map(([one, other]) => ({ ...one, ...other }))
    node = fc.oneof(
      { arbitrary: leaf, weight: 4 },
      { arbitrary: connective, weight: 6 },
      { arbitrary: several, weight: 1 },
      { arbitrary: swapped, weight: 1 },
    )
  }
  return node
}

const CONNECTIVES = ['allOf', 'and', 'anyOf', 'or', 'not', 'not']

function connected(item: Arbitrary<JsonObject>): Arbitrary<JsonObject> {
  const several = fc.array(item, { minLength: 1, maxLength: 3 })
  const items = fc.oneof(
    { arbitrary: several, weight: 8 },
    { arbitrary: item, weight: 3 },
    { arbitrary: fc.constant([]), weight: 1 },
  )
  return fc.tuple(fc.constantFrom(...CONNECTIVES), items).map(([name, of]) => ({ [name]: of }))
}

// ---- Paths ----

const SPELLINGS_OF_ROOTS = {
  user: ['user', 'subject'],
  resource: ['resource'],
  tenant: ['tenant'],
  context: ['context', 'environment'],
  server: ['server'],
}

function pathTo({ root, name }: Attribute): Arbitrary<string> {
  const spelt = fc.constantFrom(...SPELLINGS_OF_ROOTS[root])
  return fc
    .tuple(spelt, mostly(fc.constant(''), fc.constantFrom('.k', '.n.m', '.length')))
    .map(([start, further]) => `${start}.${name}${further}`)
}

/** A ref. It mostly reads a value of this kind, and sometimes leads to no value. */
function refTo(kind: Kind | 'scalar'): Arbitrary<string> {
  const suiting = random.ATTRIBUTES.filter(attribute => attribute.kind === kind)
  const any = fc.oneof(...random.ATTRIBUTES.map(pathTo), fc.constant('context.nobody'))
  return suiting.length > 0 ? mostly(fc.oneof(...suiting.map(pathTo)), any) : any
}

function attributeLeaf(attribute: Attribute, shape: Shape): Arbitrary<JsonObject> {
  let test = testOf(attribute.kind, shape)
  for (let depth = 0; depth < TEST_DEPTH_MAX; depth++) {
    test = fc.oneof({ arbitrary: test, weight: 4 }, { arbitrary: connected(test), weight: 1 })
  }
  return fc.tuple(pathTo(attribute), test).map(([path, says]) => ({ [path]: says }))
}

// ---- Tests ----

function testOf(kind: Kind, shape: Shape): Arbitrary<JsonObject> {
  const suiting = suitingTests(kind, shape)
  const unsuitable = fc.oneof(
    ...random.KINDS.filter(other => other !== kind).map(other => suitingTests(other, shape)),
  )
  return fc.oneof(
    { arbitrary: suiting, weight: 14 },
    { arbitrary: unsuitable, weight: 1 },
    { arbitrary: exists, weight: shape.exists ? 1 : 0 },
  )
}

const exists = fc.boolean().map(expected => ({ exists: expected }))

function suitingTests(kind: Kind, shape: Shape): Arbitrary<JsonObject> {
  const equality = [equalityTest(kind, shape), membershipTest(kind, shape)]
  switch (kind) {
    case 'number':
    case 'instant':
      return fc.oneof(orderingTest(kind), orderingTest(kind), betweenTest(kind), ...equality)
    case 'text':
      return fc.oneof(containsTest, globTest, ...equality)
    case 'list':
      return fc.oneof(
        arrayTest(shape),
        arrayTest(shape),
        containedTest('scalar', shape),
        lengthTest,
        ...equality,
      )
    case 'record':
      return fc.oneof(matchTest(['object_match'], shape), matchTest(['object_match'], shape), ...equality)
    case 'records': {
      const match = matchTest(['any_match', 'all_match'], shape)
      return fc.oneof(match, match, containedTest('record', shape), lengthTest, ...equality)
    }
  }
}

function equalityTest(kind: Kind | 'scalar', shape: Shape): Arbitrary<JsonObject> {
  const literal = comparedLiteral(kind, shape)
  return fc
    .constantFrom('equals', 'not-equals')
    .chain(name =>
      shape.wholeObjects ? withOperandOrRef(name, literal, refTo(kind)) : withOperand(name, literal),
    )
}

/** `in` with a list of values that the attribute can have. */
function membershipTest(kind: Kind | 'scalar', shape: Shape): Arbitrary<JsonObject> {
  return listTest('in', comparedLiteral(kind, shape), shape)
}

function arrayTest(shape: Shape): Arbitrary<JsonObject> {
  return fc
    .constantFrom('array_subset', 'array_superset', 'array_intersect')
    .chain(name => listTest(name, comparedLiteral('scalar', shape), shape))
}

function listTest(name: string, literal: Arbitrary<unknown>, shape: Shape): Arbitrary<JsonObject> {
  const listOf = (element: Arbitrary<unknown>) => fc.array(element, { maxLength: 3 })
  if (!shape.wholeObjects) return withOperand(name, listOf(literal))
  const refs = refTo('number').map(ref => ({ ref }))
  return withOperandOrRef(
    name,
    listOf(fc.oneof({ arbitrary: literal, weight: 12 }, { arbitrary: refs, weight: 1 })),
    refTo('list'),
  )
}

function containedTest(kind: Kind | 'scalar', shape: Shape): Arbitrary<JsonObject> {
  const literal = comparedLiteral(kind, shape)
  if (!shape.wholeObjects) return withOperand('array_contains', literal)
  return withOperandOrRef('array_contains', literal, refTo(kind))
}

/** A literal of this kind. It is not an object if the shape does not allow comparing objects. */
function comparedLiteral(kind: Kind | 'scalar', shape: Shape): Arbitrary<unknown> {
  if (kind === 'scalar') return random.scalar
  if (kind === 'record' && !shape.wholeObjects) return random.instanceKey
  if (kind === 'records' && !shape.wholeObjects) return random.list
  return random.usualValue(kind, shape)
}

const ORDERINGS = ['less-than', 'less-than-equals', 'greater-than', 'greater-than-equals']

function orderingTest(kind: 'number' | 'instant'): Arbitrary<JsonObject> {
  return fc.constantFrom(...ORDERINGS).chain(name => withOperandOrRef(name, boundOf(kind), refTo(kind)))
}

function boundOf(kind: 'number' | 'instant'): Arbitrary<number | string> {
  return kind === 'number' ? random.number : random.instant
}

/** Literal bounds are in order. Bounds that are refs can have values in any order. */
function betweenTest(kind: 'number' | 'instant'): Arbitrary<JsonObject> {
  const bound = boundOf(kind)
  const literals = fc.tuple(bound, bound).filter(([low, high]) => isInOrder(low, high))
  const ref = refTo(kind).map(path => ({ ref: path }))
  return withOperand(
    'between',
    fc.oneof(
      { arbitrary: literals, weight: 6 },
      { arbitrary: fc.tuple(ref, bound), weight: 1 },
      { arbitrary: fc.tuple(bound, ref), weight: 1 },
    ),
  )
}

function isInOrder(low: number | string, high: number | string): boolean {
  if (typeof low === 'number' && typeof high === 'number') return low <= high
  return compareInstants(instantOf(String(low))!, instantOf(String(high))!) <= 0
}

const containsTest = fc
  .constantFrom('contains', 'string_contains')
  .chain(name => withOperandOrRef(name, random.text, refTo('text')))

const CHARACTERS_OF_GLOBS = ['a', 'b', '.', '😀', '\\*', '\\a', '?', '*', '**', '**']
const CLASSES = ['[ab]', '[!a]', '[a-c]', '[!.]', '[😀-😂]', '[\\]a]', '[a-]']
const ALTERNATIVES = ['{a,b}', '{,a}', '{*,a.b}', '{[}],{a,b}b}']
const globPiece = fc.constantFrom(...CHARACTERS_OF_GLOBS, ...CLASSES, ...ALTERNATIVES)
const globTest = withOperand(
  'match',
  fc.array(globPiece, { maxLength: 3 }).map(pieces => pieces.join('')),
)

const lengthTest = fc
  .constantFrom('array_len_equals', 'array_len_greater_than', 'array_len_less_than')
  .chain(name => withOperandOrRef(name, fc.nat({ max: 3 }), refTo('number')))

/** Tests of members of an object. With `fk_resource_type`, mostly tests of members of an instance. */
function matchTest(names: readonly string[], shape: Shape): Arbitrary<JsonObject> {
  const inner = memberTests(shape)
  const operand = fc.oneof(
    { arbitrary: inner.map(match => ({ match })), weight: 3 },
    {
      arbitrary: fc
        .record({ match: inner, fk_resource_type: fc.constantFrom(...random.INSTANCE_TYPES) })
        .map(plain => ({ ...plain })),
      weight: 2,
    },
  )
  return fc.constantFrom(...names).chain(name => withOperand(name, operand))
}

function memberTests(shape: Shape): Arbitrary<JsonObject> {
  const test = memberTest(shape)
  const nested = withOperand(
    'object_match',
    test.map(m => ({ match: { m } })),
  )
  const tests = fc.oneof(
    { arbitrary: fc.tuple(fc.constantFrom(...random.MEMBERS), test), weight: 10 },
    { arbitrary: fc.tuple(fc.constant('n'), nested), weight: 1 },
  )
  return mostly(fc.tuple(tests), fc.array(tests, { maxLength: 2 })).map(entries =>
    Object.fromEntries(entries),
  )
}

function memberTest(shape: Shape): Arbitrary<JsonObject> {
  const plain = fc.oneof(
    { arbitrary: equalityTest('scalar', shape), weight: 4 },
    { arbitrary: membershipTest('scalar', shape), weight: 4 },
    { arbitrary: orderingTest('number'), weight: 1 },
    { arbitrary: containsTest, weight: 1 },
    { arbitrary: exists, weight: shape.exists ? 1 : 0 },
  )
  return fc.oneof({ arbitrary: plain, weight: 5 }, { arbitrary: connected(plain), weight: 1 })
}

// ---- Spellings ----

function withOperand(name: string, operand: Arbitrary<unknown>): Arbitrary<JsonObject> {
  return fc.tuple(spellings(name), operand).map(([spelt, of]) => ({ [spelt]: of }))
}

/** The operand itself, or a ref in one of its two forms. */
function withOperandOrRef(
  name: string,
  operand: Arbitrary<unknown>,
  ref: Arbitrary<string>,
): Arbitrary<JsonObject> {
  return fc.oneof(
    { arbitrary: withOperand(name, operand), weight: 8 },
    {
      arbitrary: withOperand(
        name,
        ref.map(path => ({ ref: path })),
      ),
      weight: 2,
    },
    { arbitrary: ref.map(path => ({ [`${name.replaceAll('_', '-')}-ref`]: path })), weight: 1 },
  )
}

function spellings(name: string): Arbitrary<string> {
  return mostly(fc.constant(name), fc.constantFrom(name.replaceAll('-', '_'), name.replaceAll('_', '-')))
}
