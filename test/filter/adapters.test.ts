/** Adapters of filters: what they refuse, what they return for constant plans, and values that no row has. */
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely'
import { expect, test } from 'vitest'
import { FilterError } from '#filter/filter-error.ts'
import { planRequest, rowCheck, table, toPredicate, toSql, verifyPlan } from '#filter/adapters.ts'
import { toKysely } from '#filter/kysely.ts'
import { toPrisma } from '#filter/prisma.ts'
import type { AttributeDescription } from '#filter/table.ts'
import type { FieldOperator, FilterNode, PlannedFilter } from '#filter/tree.ts'

const DIALECTS = ['postgresql', 'mysql', 'sqlite'] as const

const documents = table({
  type: 'document',
  key: { column: 'id' },
  tenant: { column: 'company' },
  attributes: {
    owner: { column: 'owner_id', type: 'string', property: 'owner' },
    level: { column: 'level', type: 'number', as: 'integer', nulls: 'missing' },
    price: { column: 'price', type: 'number', as: 'double', nulls: 'never' },
    open: { column: 'open', type: 'bool' },
    at: { column: 'at', type: 'time', as: 'timestamptz' },
    day: { column: 'day', type: 'date' },
    tags: { column: 'tags', type: 'string_array' },
    sizes: { column: 'sizes', type: 'number_array' },
    number: { column: 'number', type: 'string', as: 'bigint' },
    single: { column: 'single', type: 'number', as: 'real' },
  },
  relations: {
    parent: { column: 'folder' },
    member: { table: 'members', foreignKey: 'document', subject: 'team', property: 'teams' },
  },
})

function leaf(field: string, operator: string, value: unknown): FilterNode {
  return { type: 'field', operator, field, value } as FilterNode
}

function conditional(filter: unknown): PlannedFilter {
  return { kind: 'conditional', filter } as PlannedFilter
}

function errorOf(action: () => unknown): FilterError {
  try {
    action()
  } catch (error) {
    if (error instanceof FilterError) return error
    throw error
  }
  throw new Error('expected a FilterError')
}

const owner = leaf('attributes.owner', 'eq', 'ann')

test.each<[code: string, plan: unknown]>([
  ['UNKNOWN_KIND', { kind: 'maybe' }],
  ['UNKNOWN_KIND', {}],
  ['UNKNOWN_KIND', null],
  ['UNKNOWN_NODE', { kind: 'always_allowed', filter: owner }],
  ['UNKNOWN_NODE', { kind: 'conditional' }],
  ['UNKNOWN_NODE', conditional({ type: 'compound', operator: 'and', value: [] })],
  ['UNKNOWN_NODE', conditional({ type: 'compound', operator: 'or', value: [owner] })],
  ['UNKNOWN_NODE', conditional({ type: 'compound', operator: 'not', value: [owner, owner] })],
  ['UNKNOWN_NODE', conditional({ type: 'compound', operator: 'and', field: 'key', value: [owner, owner] })],
  ['UNKNOWN_NODE', conditional({ ...owner, negated: true })],
  ['UNKNOWN_NODE', conditional({ type: 'compound', operator: 'and', value: [owner, null] })],
  ['UNKNOWN_FIELD', conditional(leaf('attributes.other', 'eq', 'x'))],
  ['UNKNOWN_FIELD', conditional(leaf('owner', 'eq', 'x'))],
  ['UNKNOWN_OPERATOR', conditional(leaf('key', 'starts_with', 'x'))],
  ['INVALID_VALUE', conditional(leaf('attributes.owner', 'eq', 1))],
  ['INVALID_VALUE', conditional(leaf('attributes.owner', 'eq', null))],
  ['INVALID_VALUE', conditional(leaf('attributes.owner', 'lt', 'x'))],
  ['INVALID_VALUE', conditional(leaf('attributes.owner', 'in', ['x']))],
  ['INVALID_VALUE', conditional(leaf('attributes.owner', 'in', ['x', 1]))],
  ['INVALID_VALUE', conditional(leaf('attributes.owner', 'contains', ''))],
  ['INVALID_VALUE', conditional(leaf('attributes.owner', 'match', '[z-a]'))],
  ['INVALID_VALUE', conditional(leaf('attributes.open', 'ne', true))],
  ['INVALID_VALUE', conditional(leaf('attributes.level', 'eq', '5'))],
  ['INVALID_VALUE', conditional(leaf('attributes.at', 'lte', '2026-01-01T00:00:00.000Z'))],
  ['INVALID_VALUE', conditional(leaf('attributes.at', 'lt', '2026-01-01T00:00:00Z'))],
  ['INVALID_VALUE', conditional(leaf('attributes.at', 'lt', '2026-02-30T00:00:00.000Z'))],
  ['INVALID_VALUE', conditional(leaf('attributes.day', 'eq', '0000-01-01'))],
  ['INVALID_VALUE', conditional(leaf('attributes.tags', 'intersects', []))],
  ['INVALID_VALUE', conditional(leaf('attributes.tags', 'eq', ['a']))],
  ['INVALID_VALUE', conditional(leaf('attributes.tags', 'len_gt', -1))],
  ['INVALID_VALUE', conditional(leaf('attributes.tags', 'len_gt', 1.5))],
  ['INVALID_VALUE', conditional(leaf('attributes.price', 'exists', true))],
  ['INVALID_VALUE', conditional(leaf('key', 'exists', false))],
  ['INVALID_VALUE', conditional(leaf('attributes.owner', 'eq', { field: 'attributes.level' }))],
  ['INVALID_VALUE', conditional(leaf('attributes.owner', 'eq', { field: 'attributes.none' }))],
  ['INVALID_VALUE', conditional(leaf('attributes.owner', 'lt', { field: 'key' }))],
])('every adapter throws %s for a plan that it cannot read: %j', (code, plan) => {
  const read = plan as PlannedFilter
  expect(errorOf(() => toPredicate(read, documents)).code).toBe(code)
  for (const dialect of DIALECTS) {
    expect(errorOf(() => toSql(read, documents, { dialect })).code).toBe(code)
    expect(errorOf(() => toPrisma(read, documents, { dialect })).code).toBe(code)
  }
})

test('constant plans have a condition in every adapter', () => {
  const row = { id: 'a' }
  const [all, none] = [{ kind: 'always_allowed' }, { kind: 'always_denied' }] as const
  expect([all, none].map(plan => toPredicate(plan, documents)(row))).toEqual([true, false])
  for (const dialect of DIALECTS) {
    expect(toSql(all, documents, { dialect })).toEqual({ text: '1 = 1', values: [] })
    expect(toSql(none, documents, { dialect })).toEqual({ text: '1 = 0', values: [] })
    expect(toPrisma(all, documents, { dialect })).toEqual({})
    expect(toPrisma(none, documents, { dialect })).toEqual({ id: { in: [] } })
  }
})

const EXACT = 'BETWEEN -9007199254740991 AND 9007199254740991'

test.each<[node: FilterNode, text: string, values: readonly unknown[]]>([
  [leaf('attributes.number', 'in', ['007', '1e3']), '1 = 0', []],
  [leaf('attributes.number', 'nin', ['007', '+1']), '"number" IS NOT NULL', []],
  [leaf('attributes.number', 'in', ['7', '007']), '"number" = $3::bigint', ['7']],
  [leaf('key', 'eq', 'a\0'), '1 = 0', []],
  [leaf('key', 'nin', ['a\0', '\ud800']), '"id" IS NOT NULL', []],
  [leaf('attributes.level', 'eq', 1.5), '1 = 0', []],
  [leaf('attributes.level', 'lte', 1.5), `("level" <= $3::bigint AND "level" ${EXACT})`, [1]],
  [leaf('attributes.level', 'gt', -1e300), `"level" ${EXACT}`, []],
  [leaf('attributes.level', 'ne', 2 ** 53), `"level" ${EXACT}`, []],
  [leaf('attributes.price', 'in', [2 ** 60, 1]), '"price"::double precision = $3::double precision', [1]],
  [leaf('attributes.level', 'gte', 1e300), '1 = 0', []],
])('values that no row has are folded: %j becomes %s', (node, text, values) => {
  const condition = toSql(conditional(node), documents, { dialect: 'postgresql', firstParameter: 3 })
  expect(condition).toEqual({ text, values })
})

test('the statements of MySQL compare texts by bytes, and times in half-open milliseconds', () => {
  const described = table({
    type: 'document',
    key: { column: 'id' },
    attributes: { at: { column: 'at', type: 'time', as: 'datetime' } },
  })
  const filter = {
    type: 'compound',
    operator: 'or',
    value: [leaf('key', 'eq', 'a'), leaf('attributes.at', 'ne', '2026-01-01T00:00:00.000Z')],
  }
  expect(toSql(conditional(filter), described, { dialect: 'mysql' })).toEqual({
    text:
      '((`id` = ? AND `id` COLLATE utf8mb4_0900_bin = CAST(? AS CHAR CHARACTER SET utf8mb4) COLLATE utf8mb4_0900_bin) OR ' +
      "(`at` IS NOT NULL AND NOT EXISTS (SELECT 1 FROM JSON_TABLE(CAST(? AS JSON), '$[*]' COLUMNS " +
      "(verdict_begin DATETIME(3) PATH '$[0]', verdict_end DATETIME(3) PATH '$[1]')) verdict_list " +
      'WHERE `at` >= verdict_begin AND (verdict_end IS NULL OR `at` < verdict_end))))',
    values: ['a', 'a', '[["2026-01-01 00:00:00.000","2026-01-01 00:00:00.001"]]'],
  })
})

test.each<
  [column: Omit<AttributeDescription, 'column'>, test: readonly [FieldOperator, unknown], text: string]
>([
  [
    { type: 'number', as: 'double' },
    ['in', [0.1, 2]],
    'CAST(`c` AS DOUBLE) IN (CAST(? AS DOUBLE), CAST(? AS DOUBLE))',
  ],
  [
    { type: 'time', as: 'datetime' },
    ['lt', { field: 'attributes.c' }],
    '(`c` - INTERVAL (MICROSECOND(`c`) % 1000) MICROSECOND) < (`c` - INTERVAL (MICROSECOND(`c`) % 1000) MICROSECOND)',
  ],
  [{ type: 'number_array' }, ['intersects', [0.1]], 'JSON_OVERLAPS(`c`, JSON_ARRAY(CAST(? AS DOUBLE)))'],
  [{ type: 'date' }, ['gte', '2026-01-01'], '`c` >= CAST(? AS DATE)'],
])('MySQL compares %j by %j exactly as %s', (column, [operator, value], text) => {
  const attributes = { c: { column: 'c', ...column } }
  const described = table({ type: 'document', key: { column: 'id' }, attributes })
  const plan = conditional(leaf('attributes.c', operator, value))
  expect(toSql(plan, described, { dialect: 'mysql' }).text).toBe(text)
})

test('MySQL gets no time after the last millisecond of the year 9999', () => {
  const attributes = { c: { column: 'c', type: 'time', as: 'datetime' } } as const
  const described = table({ type: 'document', key: { column: 'id' }, attributes })
  const plan = conditional(leaf('attributes.c', 'ne', '9999-12-31T23:59:59.999Z'))
  expect(toSql(plan, described, { dialect: 'mysql' }).values).toEqual(['[["9999-12-31 23:59:59.999",null]]'])
})

test('a time is two values with Prisma, because it is compared in half-open milliseconds', () => {
  const times = Array.from({ length: 15_001 }, (_, ms) => new Date(ms).toISOString())
  const among = (count: number) => conditional(leaf('attributes.at', 'in', times.slice(0, count)))
  expect(toPrisma(among(15_000), documents, { dialect: 'postgresql' })).toHaveProperty('OR.length', 15_000)
  const refused = errorOf(() => toPrisma(among(15_001), documents, { dialect: 'postgresql' }))
  expect(refused.code).toBe('TOO_MANY_VALUES')
})

test('Prisma cannot join keys in a loose collation', () => {
  const relations = { member: { table: 'm', foreignKey: 'd', subject: 's', property: 'members' } }
  const described = table({ type: 'd', key: { column: 'id', collation: 'nondeterministic' }, relations })
  const plan = conditional(leaf('relations.member', 'eq', 'x'))
  expect(errorOf(() => toPrisma(plan, described, { dialect: 'postgresql' })).code).toBe('NOT_EXPRESSIBLE')
})

test('an unknown dialect, and the existence of a relation in another table, are refused', () => {
  const never = { kind: 'always_denied' } as const
  for (const dialect of ['mariadb', undefined, 'toString'] as never[]) {
    expect(errorOf(() => toSql(never, documents, { dialect })).code).toBe('NOT_EXPRESSIBLE')
    expect(errorOf(() => toPrisma(never, documents, { dialect })).code).toBe('NOT_EXPRESSIBLE')
  }
  const exists = conditional(leaf('relations.member', 'exists', false))
  for (const dialect of DIALECTS) {
    expect(errorOf(() => toPrisma(exists, documents, { dialect })).code).toBe('NOT_EXPRESSIBLE')
    expect(errorOf(() => toSql(exists, documents, { dialect, alias: 'd' })).code).toBe('NOT_EXPRESSIBLE')
  }
})

test('identifiers are quoted, and a relation in another table needs an alias', () => {
  const described = table({ type: 'd', key: { column: 'a"b`c' } })
  const plan = conditional(leaf('key', 'eq', 'x'))
  expect(toSql(plan, described, { dialect: 'postgresql', alias: 'o"x' }).text).toBe(
    '"o""x"."a""b`c" = $1::text',
  )
  expect(toSql(plan, described, { dialect: 'mysql' }).text).toContain('`a"b``c` = ?')
  for (const dialect of DIALECTS) {
    const reserved = () => toSql(plan, described, { dialect, alias: 'Verdict_subjects' })
    expect(errorOf(reserved).code).toBe('INVALID_TABLE')
  }
  const member = conditional(leaf('relations.member', 'in', ['x', 'y']))
  expect(errorOf(() => toSql(member, documents, { dialect: 'sqlite' })).code).toBe('NOT_EXPRESSIBLE')
  expect(toSql(member, documents, { dialect: 'sqlite', alias: 'd' }).text).toBe(
    'EXISTS (SELECT 1 FROM `members` `verdict_subjects` WHERE `verdict_subjects`.`document` = `d`.`id` AND ' +
      '`verdict_subjects`.`document` COLLATE BINARY = `d`.`id` COLLATE BINARY AND ' +
      '`verdict_subjects`.`team` COLLATE BINARY IN (SELECT value FROM json_each(?)))',
  )
})

test('SQLite needs an alias for a list in a column whose name json_each has', () => {
  const described = table({
    type: 'd',
    key: { column: 'id' },
    attributes: { tags: { column: 'Value', type: 'string_array' } },
  })
  const plan = conditional(leaf('attributes.tags', 'disjoint', ['a']))
  expect(errorOf(() => toSql(plan, described, { dialect: 'sqlite' })).code).toBe('NOT_EXPRESSIBLE')
  expect(toSql(plan, described, { dialect: 'sqlite', alias: 'd' }).text).toContain('json_each(`d`.`Value`)')
})

test('more values than a database binds are refused, and a list is one value', () => {
  const key = (index: number) => leaf('key', 'eq', `k${index}`)
  const either = (count: number) =>
    conditional({
      type: 'compound',
      operator: 'or',
      value: Array.from({ length: count }, (_, index) => key(index)),
    })
  expect(toSql(either(32_766), documents, { dialect: 'sqlite' }).values).toHaveLength(32_766)
  expect(errorOf(() => toSql(either(32_767), documents, { dialect: 'sqlite' })).code).toBe('TOO_MANY_VALUES')
  const keys = Array.from({ length: 30_001 }, (_, index) => `k${index}`)
  expect(toSql(conditional(leaf('key', 'in', keys)), documents, { dialect: 'postgresql' }).values).toEqual([
    keys,
  ])
  const listed = (count: number) => conditional(leaf('key', 'in', keys.slice(0, count)))
  expect(toPrisma(listed(30_000), documents, { dialect: 'postgresql' })).toHaveProperty(
    'id.in.length',
    30_000,
  )
  expect(errorOf(() => toPrisma(listed(30_001), documents, { dialect: 'postgresql' })).code).toBe(
    'TOO_MANY_VALUES',
  )
})

const EXACT_PRICES = [
  { price: { gte: -1e16, lte: 1e16 } },
  { price: { gte: 1e21, lte: 1.79769313486231e308 } },
  { price: { gte: -1.79769313486231e308, lte: -1e21 } },
]

test.each<[node: FilterNode, where: unknown]>([
  [leaf('attributes.price', 'ne', 2 ** 60), { AND: [{ NOT: { id: { in: [] } } }, { OR: EXACT_PRICES }] }],
  [leaf('attributes.price', 'in', [2 ** 60, 1]), { price: { in: [1] } }],
  [leaf('attributes.price', 'eq', 2 ** 60), { id: { in: [] } }],
  [leaf('attributes.sizes', 'intersects', [2 ** 60, 1]), { sizes: { hasSome: [1] } }],
  [leaf('attributes.owner', 'ne', 'a'), { AND: [{ owner: { not: 'a' } }, { owner: { not: null } }] }],
  [leaf('attributes.owner', 'exists', false), { owner: null }],
  [leaf('attributes.tags', 'exists', true), { NOT: { tags: { equals: null } } }],
  [leaf('attributes.tags', 'intersects', ['a\0']), { id: { in: [] } }],
  [leaf('key', 'nin', ['a\0', 'b\0']), { NOT: { id: { in: [] } } }],
  [
    leaf('attributes.owner', 'nmatch', '**a'),
    { AND: [{ owner: { not: { endsWith: 'a' } } }, { owner: { not: null } }] },
  ],
  [leaf('attributes.price', 'gt', 1), { AND: [{ price: { gt: 1 } }, { OR: EXACT_PRICES }] }],
  [
    leaf('attributes.at', 'ne', '9999-12-31T23:59:59.999Z'),
    { AND: [{ OR: [{ at: { lt: new Date('9999-12-31T23:59:59.999Z') } }] }] },
  ],
  [leaf('relations.member', 'in', ['x', 'y']), { teams: { some: { team: { in: ['x', 'y'] } } } }],
  [
    leaf('attributes.at', 'eq', '2026-01-01T00:00:00.000Z'),
    { OR: [{ at: { gte: new Date('2026-01-01T00:00:00.000Z'), lt: new Date('2026-01-01T00:00:00.001Z') } }] },
  ],
])('Prisma gets for %j a condition that is true for present values only', (node, where) => {
  expect(toPrisma(conditional(node), documents, { dialect: 'postgresql' })).toEqual(where)
})

test('Kysely embeds the condition with its parameters', () => {
  const db = new Kysely<{ documents: { id: string } }>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: on => new SqliteIntrospector(on),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  })
  const query = db.selectFrom('documents').select('id').where('id', '<>', 'z')
  const expression = toKysely(conditional(owner), documents, { dialect: 'sqlite', alias: 'documents' })
  expect(query.where(expression).compile()).toMatchObject({
    sql: 'select "id" from "documents" where "id" <> ? and `documents`.`owner_id` COLLATE BINARY = ?',
    parameters: ['z', 'ann'],
  })
})

const question = { user: 'ann', action: 'read', attributes: { kind: 'x' }, context: { ip: '::1' }, maxIds: 7 }
const row = {
  id: 'roadmap',
  company: 'acme',
  owner: null,
  level: null,
  price: '1.5',
  open: 1,
  at: new Date('2026-01-01T00:00:00.000Z'),
  day: '2026-01-01',
  tags: '["a"]',
  sizes: [],
  number: 7n,
  single: 0.5,
  folder: null,
  teams: ['red'],
}

test('an attribute named __proto__ is sent in the request of a plan and in the check of a row', () => {
  const attributes = Object.fromEntries([['__proto__', { column: 'proto', type: 'string' as const }]])
  const things = table({ type: 'thing', key: { column: 'key' }, attributes })
  expect(JSON.stringify(planRequest(things, { user: 'ann', action: 'read' }))).toContain('"__proto__":{')
  const check = rowCheck(things, { user: 'ann', action: 'read' }, { key: 'a', proto: 'x' })
  expect(JSON.stringify(check)).toContain('"__proto__":"x"')
})

test('the request of a plan and the check of a row follow from one description', () => {
  expect(planRequest(documents, question)).toEqual({
    user: { key: 'ann' },
    action: 'read',
    resource: { type: 'document', attributes: { kind: 'x' } },
    context: { ip: '::1' },
    columns: {
      tenant: true,
      attributes: {
        owner: { type: 'string', nulls: 'sent' },
        level: { type: 'number', nulls: 'missing' },
        price: { type: 'number', nulls: 'never' },
        open: { type: 'bool', nulls: 'sent' },
        at: { type: 'time', nulls: 'sent' },
        day: { type: 'date', nulls: 'sent' },
        tags: { type: 'string_array', nulls: 'sent' },
        sizes: { type: 'number_array', nulls: 'sent' },
        number: { type: 'string', nulls: 'sent' },
        single: { type: 'number', nulls: 'sent' },
      },
      relations: ['parent', 'member'],
    },
    tenants_agree: false,
    max_ids: 7,
  })
  const attributes = { kind: 'x', owner: null, price: 1.5, open: true, at: '2026-01-01T00:00:00.000Z' }
  expect(rowCheck(documents, question, row)).toEqual({
    user: { key: 'ann' },
    action: 'read',
    resource: {
      type: 'document',
      key: 'roadmap',
      tenant: 'acme',
      attributes: { ...attributes, day: '2026-01-01', tags: ['a'], sizes: [], number: '7', single: 0.5 },
    },
    context: { ip: '::1' },
  })
})

test.each<[change: Record<string, unknown>]>([
  [{ id: '' }],
  [{ id: null }],
  [{ company: undefined }],
  [{ price: null }],
  [{ price: Number.NaN }],
  // JSON would have other digits, or an application could read the number as another one.
  [{ price: 2 ** 60 }],
  [{ level: 2 ** 53 }],
  [{ sizes: [1, 2 ** 60] }],
  [{ open: 2 }],
  [{ at: 'yesterday' }],
  [{ owner: 'a\0' }],
  [{ owner: 7 }],
  [{ number: '007' }],
  [{ day: new Date('2026-01-01T22:00:00.000Z') }],
  [{ tags: ['\ud800'] }],
  [{ tags: '[null]' }],
])('a row with %j is refused, because it violates a premise', change => {
  expect(errorOf(() => rowCheck(documents, question, { ...row, ...change })).code).toBe('INVALID_ROW')
})

test('a verification returns exactly the rows for which the filter and the check differ', async () => {
  const rows = ['ann', 'bob', null].map((name, index) => ({ ...row, id: `r${index}`, owner: name }))
  const checked: unknown[] = []
  const bulk = async (checks: readonly Record<string, unknown>[]) => {
    checked.push(...checks)
    return [true, true, false]
  }
  const differences = await verifyPlan(conditional(owner), documents, question, rows, bulk)
  expect(differences).toEqual([{ row: rows[1], isSelected: false, isAllowed: true }])
  expect(checked).toHaveLength(3)
})

test.each<[description: unknown]>([
  [{ type: '', key: { column: 'id' } }],
  [{ type: 'd', key: { column: '' } }],
  [{ type: 'd', key: { column: 'verdict_value' } }],
  [{ type: 'd', key: { column: 'id', as: 'double' } }],
  [{ type: 'd', key: { column: 'id' }, attributes: { a: { column: 'a', type: 'json' } } }],
  [{ type: 'd', key: { column: 'id' }, attributes: { a: { column: 'a', type: 'number' } } }],
  [{ type: 'd', key: { column: 'id' }, attributes: { a: { column: 'a', type: 'string', nulls: 'no' } } }],
  [{ type: 'd', key: { column: 'id', collation: 'C' } }],
  [
    {
      type: 'd',
      key: { column: 'id' },
      relations: { r: { table: '', foreignKey: 'a', subject: 'b', property: 'c' } },
    },
  ],
])('a description is refused if it is not valid: %j', description => {
  expect(errorOf(() => table(description as never)).code).toBe('INVALID_TABLE')
})
