/** Schema validation of large values: findings have exact locations within the first 100,000 parts. */
import { Type } from 'typebox'
import { expect, test } from 'vitest'
import * as access from '#model/wire/decisions/access.ts'
import { ShortKey } from '#model/wire/references.ts'
import * as decision from '#model/wire/decisions/decision.ts'
import { Shape } from '../../../src/http/routing/shape.ts'

const MANY = 150_000

const shape = new Shape(
  Type.Object({
    action: Type.String(),
    checks: Type.Optional(Type.Array(Type.Object({ key: Type.String() }))),
    named: Type.Optional(Type.Record(Type.String(), Type.Object({ name: Type.String() }))),
  }),
  'body',
)

function finding(value: unknown): string {
  try {
    shape.check(value)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('nothing was found')
}

function manyNames(value: unknown): [string, unknown][] {
  return Array.from({ length: MANY }, (_, i) => [`name${i}`, value])
}

test('an error after the first 100,000 parts of a value is reported without its location', () => {
  const named = Object.fromEntries([...manyNames({ name: 'a' }), ['last', {}]])
  const text = 'body: has the wrong shape somewhere after its first 100000 parts'
  expect(finding({ action: 'read', named })).toBe(text)
})

test('errors in a long list are reported with their index at any position', () => {
  const checks: unknown[] = Array.from({ length: MANY }, () => ({ key: 'a' }))
  checks.splice(MANY - 2, 2, { key: 5 }, {})
  expect(finding({ action: 'read', checks })).toBe(
    `checks[${MANY - 2}].key: must be string; checks[${MANY - 1}].key: is required`,
  )
  const list = new Shape(Type.Array(Type.Union([Type.String(), Type.Null()])), 'body')
  expect(() => list.check([...Array(MANY).fill('a'), 5])).toThrow(`[${MANY}]: must be string or null`)
})

test('errors outside and inside of a long list are both reported', () => {
  const checks: unknown[] = Array.from({ length: 5_000 }, (_, index) => ({ key: index === 4_000 ? 5 : 'a' }))
  expect(finding({ action: 5, checks })).toBe('action: must be string; checks[4000].key: must be string')
})

test('a list with too many items is reported as such', () => {
  const few = new Shape(Type.Object({ 'a/b': Type.Array(Type.Integer(), { maxItems: 20 }) }), 'body')
  expect(() => few.check({ 'a/b': Array.from({ length: 21 }, () => 1) })).toThrow(
    'must not have more than 20 items',
  )
  const nineteen = Array.from({ length: 19 }, () => 1)
  expect(() => few.check({ 'a/b': [...nineteen, 'x'] })).toThrow('a/b[19]: must be integer')
})

test('an invalid key of a map is reported once, with the form of valid keys', () => {
  const keyed = new Shape(Type.Record(ShortKey, Type.Integer(), { additionalProperties: false }), 'body')
  expect(() => keyed.check({ 'r e': 1 })).toThrow(/^r e: is not a valid key: expected 1 to 128 [a-z, ]+$/)
})

test('at most 16 missing properties are reported', () => {
  const names = Array.from({ length: 100 }, (_, i) => `name${i}`)
  const wide = new Shape(Type.Object(Object.fromEntries(names.map(name => [name, Type.String()]))), 'body')
  const first = names.slice(0, 16)
  const detail = first.map(name => ({ loc: ['body', name], msg: 'is required', type: 'missing' }))
  expect(() => wide.check({})).toThrow(expect.objectContaining({ detail }))
  expect(() => wide.check({})).toThrow(/^(\w+: is required(; |$)){16}$/)
})

test('an error at the beginning of a very large value is reported with its location', () => {
  const checks = Array.from({ length: MANY }, (_, i) => ({ key: i === 1 ? 1 : 'a' }))
  expect(finding({ action: 'read', checks })).toBe('checks[1].key: must be string')
  const many = Array.from({ length: MANY }, () => 1)
  expect(finding({ action: 'read', checks: many })).toContain('checks[0]: must be object; checks[1]')
})

test('properties of the schema are checked even after many unknown properties', () => {
  const unknown = Object.fromEntries(manyNames(1))
  expect(finding({ ...unknown, action: 1 })).toBe('action: must be string')
  expect(finding({ ...unknown, action: 'read', checks: 1 })).toBe('checks: must be array')
  expect(finding(unknown)).toBe('action: is required')
})

test('a property named __proto__ is validated as any other property', () => {
  const named: unknown = JSON.parse('{"__proto__":{"name":1}}')
  expect(finding({ action: 'read', named })).toBe('named.__proto__.name: must be string')
})

// A request can contain a million property names.
test('schemas of decision requests do not match property names against patterns', () => {
  for (const schema of [...Object.values(decision), ...Object.values(access)]) {
    expect(JSON.stringify(schema)).not.toContain('patternProperties')
  }
})
