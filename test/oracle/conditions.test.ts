/** Vectors, tables and grammar of conditions.md for the oracle, for condition trees and for compiled code. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { truthOf, type StoredInstances } from '#testing/oracle/conditions/conditions.ts'
import {
  mergedRoots,
  type JsonObject,
  type QuestionParts,
  type Roots,
} from '#testing/oracle/conditions/roots.ts'
import type { Truth } from '#testing/oracle/conditions/truth.ts'
import { compiledTruth, type ValueSource, withTime } from '#testing/engines/compiled-conditions.ts'
import { truth, wrong } from '../conditions/read.ts'
import { MISSING, NO_ROOTS, STORED, TABLES, type TableCase, questionOf, titleOf } from './condition-tables.ts'

const stored: StoredInstances = (type, key) => (type === 'doc' ? STORED.get(key) : undefined)
const instances = Object.fromEntries(Array.from(STORED, ([key, attributes]) => [`doc:${key}`, attributes]))

/** False for operands of the tables that are rejected when they are written, and for infinite attributes. */
function isStorable({ attribute, test: says }: TableCase): boolean {
  return attribute !== Infinity && wrong({ 'user.a': says }).length === 0
}

type Evaluation = (conditions: JsonObject, roots: Roots) => Truth
const compiled =
  (place: ValueSource): Evaluation =>
  (conditions, roots) =>
    compiledTruth(conditions, withTime(roots), stored, place)

const ORACLE: Evaluation = (conditions, roots) => truthOf(conditions, roots, stored)
const EVALUATIONS: Readonly<Record<string, Evaluation>> = {
  'the oracle': ORACLE,
  'the condition tree': (conditions, roots) => truth(conditions, roots, instances),
  'compiled code with stored attributes': compiled('stored'),
  'compiled code with request attributes': compiled('sent'),
  'compiled code with stored and request attributes': compiled('both'),
}

interface Vectors {
  readonly vectors: readonly {
    readonly n: number
    readonly attribute: unknown
    readonly missing: boolean
    readonly test: JsonObject
    readonly context?: JsonObject
    readonly value: Truth
  }[]
  readonly connectives: readonly ({ readonly value: Truth } & Readonly<Record<string, readonly Truth[]>>)[]
}

const { vectors, connectives } = JSON.parse(
  readFileSync(new URL('../vectors/conditions.json', import.meta.url), 'utf8'),
) as Vectors

describe.each(Object.entries(EVALUATIONS))('%s', (_, evaluation) => {
  function valueOf(conditions: JsonObject, roots: Partial<Roots> = {}): Truth {
    return evaluation(conditions, { ...NO_ROOTS, ...roots })
  }

  describe('the vectors of conditions.md 5.8', () => {
    test.each(vectors)('$n: $attribute $test is $value', vector => {
      const { attribute, missing, test: says, context = {}, value } = vector
      const { conditions, roots } = questionOf({
        attribute: missing ? MISSING : attribute,
        test: says,
        context,
        value,
      })
      expect(valueOf(conditions, roots)).toBe(value)
    })

    test.each(connectives)('connectives have the documented value: %j', ({ value, ...written }) => {
      const [[connective, items]] = Object.entries(written) as [[string, readonly Truth[]]]
      const leaves = items.map(leafOf)
      expect(valueOf({ [connective]: leaves }, roots)).toBe(value)
      const tests = leaves.map(leaf => Object.values(leaf)[0])
      // On one attribute, `unknown` is a comparison with a ref to a missing value.
      expect(valueOf({ 'user.a': { [connective]: tests } }, roots)).toBe(value)
    })

    const roots = { user: { a: 1 } }
    const TEST_OF: Readonly<Record<Truth, JsonObject>> = {
      true: { equals: 1 },
      false: { equals: 2 },
      unknown: { equals: { ref: 'context.nobody' } },
    }
    const leafOf = (value: Truth) => ({ 'user.a': TEST_OF[value] })
  })

  describe('the tables of conditions.md 5', () => {
    test.each(TABLES)('$about', ({ cases }) => {
      const accepted = cases.filter(each => evaluation === ORACLE || isStorable(each))
      const differing = accepted.filter(each => {
        const { conditions, roots } = questionOf(each)
        return evaluation(conditions, roots) !== each.value
      })
      expect(differing.map(titleOf)).toEqual([])
    })
  })

  describe('the grammar of conditions.md 3', () => {
    const roots = { user: { a: 1, b: 2 }, context: { a: 1 } }
    const yes = { 'user.a': { equals: 1 } }
    const no = { 'user.a': { equals: 2 } }
    const maybe = { 'user.nobody': { equals: 1 } }

    test('an empty object is true, and several members are a conjunction', () => {
      expect(valueOf({})).toBe('true')
      expect(valueOf({ 'user.a': { equals: 1 }, 'user.b': { equals: 2 } }, roots)).toBe('true')
      expect(valueOf({ 'user.a': { equals: 1 }, 'user.b': { equals: 1 } }, roots)).toBe('false')
      expect(valueOf({ ...yes, anyOf: [no, no] }, roots)).toBe('false')
      expect(valueOf({ ...yes, ...maybe, not: no }, roots)).toBe('unknown')
      expect(valueOf({ ...no, ...maybe }, roots)).toBe('false')
    })

    test('connectives have two names, and a single item needs no list', () => {
      for (const name of ['allOf', 'and']) expect(valueOf({ [name]: [yes, no] }, roots)).toBe('false')
      for (const name of ['anyOf', 'or']) expect(valueOf({ [name]: [yes, no] }, roots)).toBe('true')
      for (const name of ['allOf', 'and', 'anyOf', 'or']) {
        for (const item of [yes, no, maybe]) {
          expect(valueOf({ [name]: item }, roots)).toBe(valueOf(item, roots))
        }
      }
      expect(valueOf({ not: yes }, roots)).toBe('false')
      expect(valueOf({ not: { ...yes, ...no } }, roots)).toBe('true')
      expect(valueOf({ not: { not: { not: maybe } } }, roots)).toBe('unknown')
    })

    test('the path of an attribute can be outside of the connectives', () => {
      const ages = { or: [{ between: [15, 18] }, { 'greater-than': 40 }] }
      for (const [age, value] of [
        [16, 'true'],
        [20, 'false'],
        [41, 'true'],
        ['16', 'unknown'],
      ] as const) {
        expect(valueOf({ 'user.age': ages }, { user: { age } })).toBe(value)
      }
      expect(valueOf({ 'user.a': { not: { anyOf: [{ equals: 1 }, { equals: 3 }] } } }, roots)).toBe('false')
      expect(valueOf({ 'user.a': { not: [{ equals: 1 }, { equals: 3 }] } }, roots)).toBe('true')
      expect(valueOf({ 'user.nobody': { and: [] } }, roots)).toBe('true')
    })

    test('roots have aliases, including in refs', () => {
      const NOW = '2026-01-01T00:00:00.000Z'
      const all: Roots = {
        user: { a: 'u' },
        resource: { a: 'r' },
        tenant: { a: 't' },
        context: { a: 'c' },
        server: { time: NOW },
      }
      const found = {
        user: 'u',
        subject: 'u',
        resource: 'r',
        tenant: 't',
        context: 'c',
        environment: 'c',
        server: NOW,
      }
      for (const [root, value] of Object.entries(found)) {
        const path = root === 'server' ? 'server.time' : `${root}.a`
        expect(valueOf({ [path]: { equals: value } }, all)).toBe('true')
        expect(valueOf({ 'context.a': { in: [{ ref: path }] } }, all)).toBe(value === 'c' ? 'true' : 'false')
      }
    })

    const OF_VALUES = [
      { name: 'equals', holds: 1, operand: 1 },
      { name: 'not-equals', holds: 1, operand: 2 },
      { name: 'less-than', holds: 1, operand: 2 },
      { name: 'less-than-equals', holds: 1, operand: 1 },
      { name: 'greater-than', holds: 2, operand: 1 },
      { name: 'greater-than-equals', holds: 1, operand: 1 },
      { name: 'contains', holds: 'ab', operand: 'b' },
      { name: 'string-contains', holds: 'ab', operand: 'b' },
      { name: 'in', holds: 1, operand: [1] },
      { name: 'array-contains', holds: [1], operand: 1 },
      { name: 'array-subset', holds: [1], operand: [1, 2] },
      { name: 'array-superset', holds: [1, 2], operand: [1] },
      { name: 'array-intersect', holds: [1, 2], operand: [1] },
      { name: 'array-len-equals', holds: [1], operand: 1 },
      { name: 'array-len-greater-than', holds: [1, 2], operand: 1 },
      { name: 'array-len-less-than', holds: [], operand: 1 },
    ]
    test.each(OF_VALUES)(
      '$name can be written with hyphens or underscores, and with a ref in either form',
      ({ name, holds, operand }) => {
        const values = { user: { a: holds }, context: { x: operand } }
        for (const spelling of [name, name.replaceAll('-', '_')]) {
          expect(valueOf({ 'user.a': { [spelling]: operand } }, values)).toBe('true')
          expect(valueOf({ 'user.a': { [spelling]: { ref: 'context.x' } } }, values)).toBe('true')
          expect(valueOf({ 'user.a': { [spelling]: { ref: 'context.y' } } }, values)).toBe('unknown')
        }
        expect(valueOf({ 'user.a': { [`${name}-ref`]: 'context.x' } }, values)).toBe('true')
        expect(valueOf({ 'user.a': { [`${name}-ref`]: 'context.y' } }, values)).toBe('unknown')
      },
    )

    test.each(['object-match', 'any-match', 'all-match'])('%s can have hyphens or underscores', name => {
      const element = { k: 1 }
      const attribute = name === 'object-match' ? element : [element]
      for (const spelling of [name, name.replaceAll('-', '_')]) {
        const says = { [spelling]: { match: { k: { equals: 1 } } } }
        expect(valueOf({ 'user.a': says }, { user: { a: attribute } })).toBe('true')
      }
    })

    describe('a path', () => {
      const reads = (path: string, user: unknown, expected: unknown) =>
        expect(valueOf({ [path]: { equals: expected } }, { user: user as JsonObject })).toBe('true')
      const readsNothing = (path: string, user: unknown) =>
        expect(valueOf({ [path]: { exists: false } }, { user: user as JsonObject })).toBe('true')

      test('leads through objects, with one name per member', () => {
        reads('user.a.b', { a: { b: 1 } }, 1)
        reads('user.a.b.c', { a: { b: { c: 1 } } }, 1)
        readsNothing('user.a.b', { a: {} })
      })

      test('reads only the longest own name of the root that it begins with', () => {
        reads('user.a.b', { 'a.b': 2, a: { b: 1 } }, 2)
        reads('user.a.b.c', { 'a.b': { c: 2 }, a: { b: { c: 1 } } }, 2)
        reads('user.a.b.c', { 'a.b.c': 3, 'a.b': { c: 2 } }, 3)
        readsNothing('user.a.b.c', { 'a.b': 2, a: { b: { c: 1 } } })
        reads('user.a.b', { 'a.b': null, a: { b: 1 } }, null)
      })

      test('supports names with dots only at the root', () => {
        readsNothing('user.a.b.c', { a: { 'b.c': 1 } })
        readsNothing('user.a.b.c', { 'a.b.d': 1 })
      })

      test('finds nothing below values that are not objects', () => {
        for (const through of ['b', 5, true, null, [{ b: 1 }], []]) readsNothing('user.a.b', { a: through })
        for (const name of ['length', '0']) {
          readsNothing(`user.a.${name}`, { a: 'x' })
          readsNothing(`user.a.${name}`, { a: ['x'] })
        }
      })

      test('reads only own members of objects', () => {
        for (const name of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) {
          readsNothing(`user.${name}`, {})
          readsNothing(`user.a.${name}`, { a: {} })
          readsNothing(`user.a.${name}.name`, { a: {} })
        }
        reads('user.__proto__', JSON.parse('{"__proto__": 1}'), 1)
        reads('user.a.__proto__.b', JSON.parse('{"a": {"__proto__": {"b": 1}}}'), 1)
        readsNothing('user.b', JSON.parse('{"__proto__": {"b": 1}}'))
      })
    })
  })
})

describe('sources of values (conditions.md 4.1)', () => {
  const computed: QuestionParts['computed'] = {
    user: { key: 'alice', roles: ['editor'], tenants: ['acme'] },
    resource: { type: 'doc', tenant: 'acme', key: 'd1' },
    tenant: { key: 'acme' },
    server: { time: '2026-11-26T10:00:00Z' },
  }
  const merged = (parts: Partial<QuestionParts>) =>
    mergedRoots({ computed, request: {}, stored: {}, ...parts })

  test('a check on a type has a key and an id only if the request has them', () => {
    const ofType = { ...computed, resource: { type: 'doc', tenant: 'acme' } }
    expect(merged({ computed: ofType }).resource).toEqual({ type: 'doc', tenant: 'acme' })
    const said = { resource: { attributes: { key: 'k', id: 'i' } } }
    expect(merged({ computed: ofType, request: said }).resource).toMatchObject({ key: 'k', id: 'i' })
  })

  test('the id is the key unless an attribute overrides it', () => {
    for (const id of ['x', null]) {
      expect(merged({ stored: { resource: { attributes: { id } } } }).resource['id']).toBe(id)
      expect(merged({ request: { resource: { attributes: { id } } } }).resource['id']).toBe(id)
    }
  })

  test('request attributes have precedence over stored attributes, and objects are merged by member', () => {
    const below = { a: 1, b: { c: 1, d: { e: 1, f: 1 } }, list: [1, 2], o: { p: 1 }, s: 1, n: 1, z: { y: 1 } }
    const above = { b: { c: 2, d: { e: 2 } }, list: [3], o: 'flat', s: { t: 2 }, n: null, z: { y: null } }
    const both = {
      a: 1,
      b: { c: 2, d: { e: 2, f: 1 } },
      list: [3],
      o: 'flat',
      s: { t: 2 },
      n: null,
      z: { y: null },
    }
    for (const root of ['user', 'resource', 'tenant'] as const) {
      const parts = {
        stored: { [root]: { attributes: below } },
        request: { [root]: { attributes: above } },
      }
      expect(merged(parts)[root]).toMatchObject(both)
      for (const nothing of [null, {}, { attributes: null }]) {
        const { [root]: value } = merged({ stored: parts.stored, request: { [root]: nothing } })
        expect(value).toMatchObject(below)
      }
    }
    const contexts = { context: above, resource: { context: below } }
    expect(merged({ request: contexts }).context).toEqual(both)
    expect(merged({ request: { context: null, resource: { context: below } } }).context).toEqual(below)
  })

  test('a name with dots is one name, and `__proto__` is a name', () => {
    const user = merged({
      stored: { user: { attributes: JSON.parse('{"a.b": 1, "__proto__": {"x": 1, "y": 1}}') as JsonObject } },
      request: { user: { attributes: JSON.parse('{"a": {"b": 2}, "__proto__": {"y": 2}}') as JsonObject } },
    }).user
    expect(JSON.parse(JSON.stringify(user))).toEqual(
      JSON.parse(
        JSON.stringify({ ...computed.user, 'a.b': 1, a: { b: 2 } }).replace(
          '{',
          '{"__proto__":{"x":1,"y":2},',
        ),
      ),
    )
    expect(Object.hasOwn(user, '__proto__')).toBe(true)
    expect(user['x']).toBeUndefined()
  })

  describe.each(['email', 'first_name', 'last_name'])('the field %s of a user', name => {
    const user = (request: object | null, inStore: object | null) =>
      merged({ request: { user: request }, stored: { user: inStore } }).user[name]

    test('has precedence over the attribute of the same name, unless the field is null', () => {
      const both = { [name]: 'field', attributes: { [name]: 'attribute' } }
      expect(user(both, null)).toBe('field')
      expect(user(null, both)).toBe('field')
      expect(user({ ...both, [name]: null }, null)).toBe('attribute')
      expect(user(null, { ...both, [name]: null })).toBe('attribute')
      expect(user({ [name]: 'field', attributes: { [name]: null } }, null)).toBe('field')
    })

    test('if stored, is overridden by the field or attribute of the request', () => {
      expect(user({ [name]: 'asked' }, { [name]: 'stored' })).toBe('asked')
      expect(user({ attributes: { [name]: 'asked' } }, { [name]: 'stored' })).toBe('asked')
      expect(user({ attributes: { [name]: null } }, { [name]: 'stored' })).toBe(null)
      expect(user({ [name]: null }, { [name]: 'stored' })).toBe('stored')
    })

    test('is missing if neither source has it', () => {
      expect(user({ [name]: null }, { [name]: null })).toBeUndefined()
    })
  })
})
