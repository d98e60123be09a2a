/**
 * Tests of the oracle of conditions with random conditions: the conditions vary enough, and removing data
 * never makes a condition match (conditions.md 15.2).
 *
 * The law applies to merged attributes, so that no source with lower precedence replaces data. If data is
 * removed, a condition keeps its value or becomes unknown. Therefore, a condition that did not match before
 * does not match afterwards. The law holds for
 *
 * - whole attributes (a name of a root, an attribute of a stored instance, the instance) in trees without
 *   `exists`, if no name hides a shorter one: not both `a` and `a.b`;
 * - members at any depth, including those of array elements, if in addition no operator of equality or
 * membership has an operand that is an object, contains an object or is a ref. An object without a member is
 * a different value.
 *
 * The law does not hold for array elements: an array without an element is a different array, and `[]`
 * matches every `all_match`.
 */
import { describe, expect, test } from 'vitest'
import { truthOf } from '#testing/oracle/conditions/conditions.ts'
import { OPERATORS } from '#testing/oracle/conditions/operators.ts'
import { isObject, mergedRoots, type JsonObject, type Roots } from '#testing/oracle/conditions/roots.ts'
import type { Truth } from '#testing/oracle/conditions/truth.ts'
import { USUAL, questionParts, storedAmong } from '#testing/oracle/random-attributes.ts'
import { cases, type Case } from '#testing/oracle/random-conditions.ts'
import { fixedValues, holdsFor } from './seeded.ts'

const TRUTHS: readonly Truth[] = ['true', 'false', 'unknown']

function valueOf({ conditions, roots, instances }: Case): Truth {
  return truthOf(conditions, roots, storedAmong(instances))
}

describe('random conditions of the generator', () => {
  test('have each value with every operator, and so do their leaves', () => {
    const ofWholes = new Tally()
    const ofLeaves = new Tally()
    const operators = [...OPERATORS.keys(), 'exists', 'object_match', 'any_match', 'all_match']
    const values = operators.flatMap(operator => TRUTHS.map(truth => `${operator} ${truth}`))
    const wanted = values.filter(value => value !== 'exists unknown')
    const met: Record<string, number> = { depth: 0 }
    for (const asked of fixedValues(cases(), 3_000)) {
      ofWholes.count(valueOf(asked))
      met['depth'] = Math.max(met['depth']!, depthOf(asked.conditions))
      for (const [path, leaf] of leavesOf(asked.conditions)) {
        const value = valueOf({ ...asked, conditions: { [path]: leaf } })
        ofLeaves.count(value)
        const operator = Object.keys(leaf)[0]!.replaceAll('-', '_').replace(/_ref$/, '')
        met[`${operator} ${value}`] = (met[`${operator} ${value}`] ?? 0) + 1
      }
    }
    expect(met['depth']).toBe(6)
    expect(Object.keys(met).toSorted()).toEqual(['depth', ...wanted].toSorted())
    for (const truth of TRUTHS) {
      expect(ofWholes.shareOf(truth)).toBeGreaterThan(0.15)
      expect(ofLeaves.shareOf(truth)).toBeGreaterThan(0.15)
    }
  })
})

class Tally {
  readonly #counts: Record<Truth, number> = { true: 0, false: 0, unknown: 0 }

  count(value: Truth): void {
    this.#counts[value] += 1
  }

  shareOf(value: Truth): number {
    return this.#counts[value] / TRUTHS.reduce((sum, each) => sum + this.#counts[each], 0)
  }
}

const CONNECTIVES: ReadonlySet<string> = new Set(['allOf', 'and', 'anyOf', 'or', 'not'])

/** Each path with a test of one operator. */
function leavesOf(node: JsonObject): (readonly [string, JsonObject])[] {
  return Object.entries(node).flatMap(([name, says]) =>
    CONNECTIVES.has(name)
      ? itemsOf(says).flatMap(leavesOf)
      : testsOf(says as JsonObject).map(each => [name, each] as const),
  )
}

function testsOf(says: JsonObject): JsonObject[] {
  const [[name, inner]] = Object.entries(says) as [[string, unknown]]
  return CONNECTIVES.has(name) ? itemsOf(inner).flatMap(testsOf) : [says]
}

function depthOf(node: JsonObject): number {
  const below = Object.entries(node).filter(([name]) => CONNECTIVES.has(name))
  return 1 + Math.max(0, ...below.flatMap(([, items]) => itemsOf(items).map(depthOf)))
}

function itemsOf(items: unknown): JsonObject[] {
  return (Array.isArray(items) ? items : [items]) as JsonObject[]
}

function hasLongInteger(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.values(value).some(hasLongInteger)
  return typeof value === 'bigint'
}

describe('removing data from a condition', () => {
  test('never makes it match if an attribute is removed, in trees without `exists` and hiding names', () => {
    const shape = { exists: false, shadows: false, wholeObjects: true }
    holdsWithout(shape, withoutOneName)
  })

  test('never makes it match if a member of an object is removed and no objects are compared as a whole', () => {
    const shape = { exists: false, shadows: false, wholeObjects: false }
    holdsWithout(shape, withoutOneMember)
  })

  function holdsWithout(shape: typeof USUAL, lessened: (object: JsonObject) => Iterable<JsonObject>): void {
    const becameUnknown = { true: 0, false: 0 }
    const becomes = (asked: Case): void => {
      const before = valueOf(asked)
      // A long integer makes the comparison of its object unknown. Without it, the object can be compared.
      if (before === 'unknown' && hasLongInteger(asked)) return
      for (const less of lessenedCases(asked, lessened)) {
        const after = valueOf(less)
        if (after !== before) expect(after).toBe('unknown')
        if (after !== before && before !== 'unknown') becameUnknown[before] += 1
      }
    }
    holdsFor(cases(shape), { runs: 4_000, met: becameUnknown, least: { true: 20, false: 20 } }, becomes)
  }

  // Counterexamples outside the limits of the law.
  const value = (conditions: JsonObject, user: JsonObject) =>
    truthOf(conditions, { user, resource: {}, tenant: {}, context: {}, server: {} }, () => undefined)

  test.each<[string, JsonObject, ...users: [whole: JsonObject, less: JsonObject]]>([
    ['an integer that no double represents', { in: [{}] }, { a: { x: 2n ** 53n + 1n } }, { a: {} }],
    ['a name tested for absence', { exists: false }, { a: 1 }, {}],
    ['a member of an object that is compared', { equals: { x: 1 } }, { a: { x: 1, y: 2 } }, { a: { x: 1 } }],
    ['a member of an object in a list', { in: [{ x: 1 }] }, { a: { x: 1, y: 2 } }, { a: { x: 1 } }],
    [
      'a member of an object that a list contains',
      { array_contains: { x: 1 } },
      { a: [{ x: 1, y: 2 }] },
      { a: [{ x: 1 }] },
    ],
    ['an element', { all_match: { match: { k: { equals: 1 } } } }, { a: [{ k: 2 }] }, { a: [] }],
    ['an element of a subset', { array_subset: ['x'] }, { a: ['x', 'y'] }, { a: ['x'] }],
  ])('makes it match in this case, which the law excludes: %s', (_, says, whole, less) => {
    const [before, after] = [whole, less].map(user => value({ 'user.a': says }, user))
    expect([before === 'true', after]).toEqual([false, 'true'])
  })

  test('makes it match in this case, which the law excludes: a name with dots that hides a nested path', () => {
    const conditions = { 'user.a.b': { equals: 1 } }
    expect(value(conditions, { 'a.b': 2, a: { b: 1 } })).toBe('false')
    expect(value(conditions, { a: { b: 1 } })).toBe('true')
  })
})

/** Yields the case without one part: a member of a root, a member of an instance, or an instance. */
function* lessenedCases(asked: Case, lessened: (object: JsonObject) => Iterable<JsonObject>): Iterable<Case> {
  const { roots, instances } = asked
  for (const root of Object.keys(roots) as (keyof Roots)[]) {
    for (const less of lessened(roots[root])) yield { ...asked, roots: { ...roots, [root]: less } }
  }
  for (const [at, instance] of instances.entries()) {
    yield { ...asked, instances: instances.toSpliced(at, 1) }
    for (const attributes of lessened(instance.attributes)) {
      yield { ...asked, instances: instances.with(at, { ...instance, attributes }) }
    }
  }
}

function* withoutOneName(object: JsonObject): Iterable<JsonObject> {
  const entries = Object.entries(object)
  for (const at of entries.keys()) yield Object.fromEntries(entries.toSpliced(at, 1))
}

function* withoutOneMember(object: JsonObject): Iterable<JsonObject> {
  yield* withoutOneName(object)
  const entries = Object.entries(object)
  for (const [at, [name, inner]] of entries.entries()) {
    for (const less of lessWithin(inner)) yield Object.fromEntries(entries.with(at, [name, less]))
  }
}

function* lessWithin(inner: unknown): Iterable<unknown> {
  if (isObject(inner)) yield* withoutOneMember(inner)
  if (!Array.isArray(inner)) return
  for (const [at, element] of inner.entries()) {
    for (const less of lessWithin(element)) yield inner.with(at, less)
  }
}

describe('attributes from several sources', () => {
  test('cannot override computed values, and a complete request is not changed by stored attributes', () => {
    holdsFor(questionParts(), 2_000, parts => {
      const roots = mergedRoots(parts)
      for (const root of ['user', 'resource', 'tenant', 'server'] as const) {
        expect(roots[root]).toMatchObject(parts.computed[root])
      }
      const { user, resource, tenant, context } = roots
      const all = {
        user: { attributes: user },
        resource: { attributes: resource },
        tenant: { attributes: tenant },
        context,
      }
      expect(mergedRoots({ ...parts, request: all })).toEqual(roots)
    })
  })
})
