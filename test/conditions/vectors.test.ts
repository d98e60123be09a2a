/** The worked vectors of the contract (conditions, section 5.8), one by one. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { JsonObject } from '#conditions/values.ts'
import { truth } from './read.ts'

interface Vector {
  readonly n: number
  readonly attribute: unknown
  readonly missing: boolean
  readonly test: object
  readonly value: string
  readonly context?: JsonObject
}

type Connective = 'allOf' | 'anyOf' | 'not'
type ConnectiveVector = { readonly [name in Connective]?: readonly string[] } & { readonly value: string }

const { vectors, connectives } = JSON.parse(
  readFileSync(new URL('../vectors/conditions.json', import.meta.url), 'utf8'),
) as { readonly vectors: readonly Vector[]; readonly connectives: readonly ConnectiveVector[] }

test.each(vectors)(
  '$n: $attribute, missing: $missing, $test',
  ({ attribute, missing, context, ...vector }) => {
    const user = missing ? {} : { a: attribute }
    expect(truth({ 'user.a': vector.test }, { user, context: context ?? {} })).toBe(vector.value)
  },
)

test.each(connectives)('$allOf$anyOf$not is $value', ({ value, ...connective }) => {
  const leaves = {
    true: { 'user.there': { equals: 1 } },
    false: { 'user.there': { equals: 2 } },
    unknown: { 'user.missing': { equals: 1 } },
  }
  const [[name, items]] = Object.entries(connective) as [[Connective, (keyof typeof leaves)[]]]
  expect(truth({ [name]: items.map(item => leaves[item]) }, { user: { there: 1 } })).toBe(value)
})
