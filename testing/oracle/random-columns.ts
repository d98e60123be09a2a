/**
 * Random tables: columns of every type, rows, and conditions that read these columns, stored attributes,
 * attributes of the user, and each other. Values come from small pools, so they are often equal.
 */
import * as fc from 'fast-check'
import type { Arbitrary } from 'fast-check'
import type { ColumnType, NullMeaning } from '#filter/tree.ts'
import type { JsonObject } from './conditions/roots.ts'
import { mostly } from './random-model.ts'

export interface RandomColumn {
  readonly name: string
  readonly type: ColumnType
  readonly nulls: NullMeaning
}

/** Values of the columns by name. */
export type RowValues = Readonly<Record<string, unknown>>

export const COLUMN_POOL: readonly (readonly [string, ColumnType])[] = [
  ['s', 'string'],
  ['owner', 'string'],
  ['n', 'number'],
  ['m', 'number'],
  ['b', 'bool'],
  ['t', 'time'],
  ['u', 'time'],
  ['d', 'date'],
  ['ss', 'string_array'],
  ['ns', 'number_array'],
]

const TEXTS = ['a', 'b', 'ab', 'a.b', '', '*', '2026-11-26', 'é😀', 'r1']
const TIMES = ['2026-11-26T00:00:00.000Z', '2026-11-26T00:00:00.001Z', '2025-01-01T12:00:00.500Z']
const DATES = ['2026-11-26', '2026-11-27', '0001-01-01', '9999-12-31']
const NUMBERS = [0, 1, 2, 1.5, -1, 2 ** 53 - 1]

const text = fc.constantFrom(...TEXTS)
const number = fc.constantFrom(...NUMBERS)
const time = fc.constantFrom(...TIMES)
const date = fc.constantFrom(...DATES)
const otherTime = fc.constantFrom(
  '2026-11-26T00:00:00Z',
  '2026-11-26T01:00:00.0005+01:00',
  '2026-11-26T00:00:00.00050Z',
  '9999-12-31T23:59:59.9999Z',
  '0000-06-01',
)

export function valueOf(type: ColumnType): Arbitrary<unknown> {
  switch (type) {
    case 'string':
      return text
    case 'number':
      return number
    case 'bool':
      return fc.boolean()
    case 'time':
      return time
    case 'date':
      return date
    case 'string_array':
      return fc.array(text, { maxLength: 3 })
    case 'number_array':
      return fc.array(number, { maxLength: 3 })
  }
}

export const columns: Arbitrary<readonly RandomColumn[]> = fc
  .tuple(
    fc.subarray([...COLUMN_POOL], { minLength: 1 }),
    fc.array(fc.constantFrom<NullMeaning>('sent', 'missing', 'never'), {
      minLength: COLUMN_POOL.length,
      maxLength: COLUMN_POOL.length,
    }),
  )
  .map(([some, nulls]) => some.map(([name, type], index) => ({ name, type, nulls: nulls[index]! })))

export function row(of: readonly RandomColumn[]): Arbitrary<RowValues> {
  const cells = of.map(({ name, type, nulls }) =>
    (nulls === 'never' ? valueOf(type) : fc.option(valueOf(type), { freq: 3 })).map(
      value => [name, value] as const,
    ),
  )
  return fc.tuple(...cells).map(entries => Object.fromEntries(entries))
}

const scalar = fc.oneof(
  { arbitrary: text, weight: 3 },
  { arbitrary: number, weight: 3 },
  { arbitrary: fc.constantFrom(true, false, null), weight: 2 },
  { arbitrary: fc.oneof(time, date, otherTime), weight: 2 },
)
const list = fc.array(scalar, { maxLength: 3 })
/** Values that no column has: objects, and an integer that no double represents. */
const odd = fc.constantFrom<unknown>({ k: 1 }, { k: 'a' }, 2n ** 53n + 1n, [2n ** 53n + 1n, 1], [{ k: 1 }], {
  owner: 'a',
})
const anything = fc.oneof(
  { arbitrary: scalar, weight: 8 },
  { arbitrary: list, weight: 4 },
  { arbitrary: odd, weight: 1 },
)

/** Attributes of a user, a context or a stored instance. Some have the names of columns. */
export const attributes: Arbitrary<JsonObject> = fc
  .array(
    fc.tuple(
      fc.constantFrom('x', 'y', 'owner', 'n', 't', 'ss', 'id', 'owner.k', 'stored'),
      fc.oneof(
        { arbitrary: anything, weight: 3 },
        { arbitrary: fc.array(text, { maxLength: 3 }), weight: 1 },
      ),
    ),
    { maxLength: 5 },
  )
  .map(entries => Object.fromEntries(entries))

/** Paths that conditions read. `byColumn` paths can be columns. */
const byColumn = fc.constantFrom(...COLUMN_POOL.map(([name]) => `resource.${name}`))
const otherPath = fc.constantFrom(
  'resource.key',
  'resource.id',
  'resource.tenant',
  'resource.type',
  'resource.stored',
  'resource.owner.k',
  'resource.sent',
  'user.x',
  'user.y',
  'user.key',
  'user.roles',
  'user.tenants',
  'tenant.key',
  'tenant.x',
  'context.x',
  'server.time',
)
const path = fc.oneof({ arbitrary: byColumn, weight: 4 }, { arbitrary: otherPath, weight: 3 })
const ref = path.map(each => ({ ref: each }))

const rankable = fc.oneof(number, time, date, otherTime)

function test(fkType: string): Arbitrary<JsonObject> {
  const op = (names: readonly string[], operand: Arbitrary<unknown>): Arbitrary<JsonObject> =>
    fc.tuple(fc.constantFrom(...names), operand).map(([name, value]) => ({ [name]: value }))
  const items = fc.array(mostly<unknown>(scalar, ref), { maxLength: 3 })
  const lists = fc.oneof({ arbitrary: list, weight: 2 }, { arbitrary: items, weight: 2 }, ref)
  const bounds = fc.oneof(
    fc.constantFrom<readonly unknown[]>([0, 1], [1, 2], ['2026-11-26', '2026-11-27']),
    fc.tuple(mostly<unknown>(rankable, ref), ref),
  )
  const match = fc
    .tuple(
      fc.constantFrom('object_match', 'any_match', 'all_match'),
      fc.constantFrom('x', 'owner', 'k'),
      fc.oneof(
        scalar.map(value => ({ equals: value })),
        fc.boolean().map(value => ({ exists: value })),
        ref.map(value => ({ equals: value })),
      ),
      fc.boolean(),
    )
    .map(([name, member, says, isLookup]) => ({
      [name]: { match: { [member]: says }, ...(isLookup && { fk_resource_type: fkType }) },
    }))
  return fc.oneof(
    { arbitrary: op(['equals', 'not-equals'], mostly<unknown>(anything, ref)), weight: 4 },
    { arbitrary: op(['equals', 'not-equals'], ref), weight: 1 },
    {
      arbitrary: op(
        ['less-than', 'less-than-equals', 'greater-than', 'greater-than-equals'],
        fc.oneof({ arbitrary: rankable, weight: 3 }, ref),
      ),
      weight: 4,
    },
    { arbitrary: op(['between'], bounds), weight: 2 },
    { arbitrary: op(['in'], lists), weight: 3 },
    { arbitrary: op(['contains'], mostly<unknown>(text, ref)), weight: 1 },
    { arbitrary: op(['match'], fc.constantFrom('*', '**', 'a*', 'a\\*', 'ab', '{a,b}', '[!a]?')), weight: 1 },
    { arbitrary: op(['array_contains'], mostly<unknown>(scalar, ref)), weight: 2 },
    { arbitrary: op(['array_subset', 'array_superset', 'array_intersect'], lists), weight: 3 },
    {
      arbitrary: op(
        ['array_len_equals', 'array_len_greater_than', 'array_len_less_than'],
        fc.oneof({ arbitrary: fc.constantFrom(0, 1, 2), weight: 3 }, ref),
      ),
      weight: 2,
    },
    { arbitrary: fc.boolean().map((exists): JsonObject => ({ exists })), weight: 1 },
    { arbitrary: match, weight: 2 },
  )
}

/** Conditions with a few tests. Some are not valid; the caller must omit them. */
export function conditions(fkType: string): Arbitrary<JsonObject> {
  const leaf = fc.tuple(path, test(fkType)).map(([name, says]): JsonObject => ({ [name]: says }))
  let node: Arbitrary<JsonObject> = leaf
  for (let depth = 0; depth < 2; depth++) {
    const connected = fc
      .tuple(
        fc.constantFrom('allOf', 'anyOf', 'anyOf', 'not'),
        fc.array(node, { minLength: 1, maxLength: 3 }),
      )
      .map(([name, of]): JsonObject => ({ [name]: of }))
    node = fc.oneof({ arbitrary: leaf, weight: 1 }, { arbitrary: connected, weight: 1 })
  }
  return node
}
