/**
 * Values that databases confuse, or that SQL treats unlike a check. Each case has a row that the filter must
 * select and rows that it must not select. A filter that widens or narrows one test fails its case.
 */
import type { DialectName } from '#filter/dialect.ts'
import type { AttributeDescription } from '#filter/table.ts'
import type { FieldOperator, FieldValue } from '#filter/tree.ts'

export interface HostileCase {
  readonly name: string
  readonly column: Omit<AttributeDescription, 'column'>
  /** Type of the column in each database to which the case applies. */
  readonly types: Partial<Record<DialectName, string>>
  readonly test: readonly [operator: FieldOperator, value: FieldValue]
  /** Values as the database reads them from a text. Null: `NULL`. */
  readonly selected: string | null
  readonly others: readonly (string | null)[]
}

const TEXT = { postgresql: 'text', mysql: 'varchar(40)', sqlite: 'TEXT' }
/** Columns whose collation treats different texts as equal. */
const LOOSE = {
  postgresql: 'text COLLATE ignore_case',
  mysql: 'varchar(40) COLLATE utf8mb4_0900_ai_ci',
  sqlite: 'TEXT COLLATE NOCASE',
}
const LOOSE_TEXT = { type: 'string', collation: 'nondeterministic' } as const
const WORDS = { postgresql: 'text[]', mysql: 'json', sqlite: 'TEXT' }

function text(
  name: string,
  test: HostileCase['test'],
  selected: string,
  ...others: (string | null)[]
): HostileCase[] {
  return [
    { name, column: { type: 'string' }, types: TEXT, test, selected, others },
    { name: `${name}, in a loose collation`, column: LOOSE_TEXT, types: LOOSE, test, selected, others },
  ]
}

/** Globs that SQLite cannot match are tested in the other databases. */
function glob(
  test: readonly ['match' | 'nmatch', string],
  selected: string,
  ...others: (string | null)[]
): HostileCase[] {
  const { postgresql, mysql } = TEXT
  const types = { postgresql, mysql }
  const name = `${test[0]} ${JSON.stringify(test[1])}`
  return [{ name, column: { type: 'string' }, types, test, selected, others }]
}

/** A list in the form of each database. */
function list(
  name: string,
  test: HostileCase['test'],
  selected: string | null,
  ...others: (string | null)[]
): HostileCase {
  return { name, column: { type: 'string_array' }, types: WORDS, test, selected, others }
}

/** Lists with numbers that a check cannot read. */
function sizes(
  name: string,
  test: HostileCase['test'],
  selected: string,
  ...others: (string | null)[]
): HostileCase {
  const types = { postgresql: 'double precision[]', mysql: 'json', sqlite: 'TEXT' }
  return {
    name: `${name} that JSON rounds`,
    column: { type: 'number_array' },
    types,
    test,
    selected,
    others,
  }
}

function numbers(
  name: string,
  as: 'double' | 'integer' | 'bigint' | 'numeric',
  types: HostileCase['types'],
  test: HostileCase['test'],
  selected: string,
  ...others: (string | null)[]
): HostileCase {
  return { name, column: { type: 'number', as }, types, test, selected, others }
}

const DOUBLE = { postgresql: 'double precision', mysql: 'double', sqlite: 'REAL' }
const WHOLE = { postgresql: 'bigint', mysql: 'bigint', sqlite: 'INTEGER' }
const DECIMAL = { postgresql: 'numeric', mysql: 'decimal(30, 4)', sqlite: 'NUMERIC' }
/** Texts of numbers that SQLite reads as the double next to the one that a check reads. */
const DIGITS = { sqlite: 'TEXT' }
const LONG_TEXTS = ['514548.072636750381277184987232', '246619.26595673234264176495377'] as const
const NOW = '2026-01-01T00:00:00.000Z'
const LAST = '9999-12-31T23:59:59.999Z'

/** Numbers that a check cannot read, because JSON has other digits. No test is true for them. */
function inexact(
  as: 'double' | 'integer' | 'bigint' | 'numeric',
  types: HostileCase['types'],
  selected: string,
  others: readonly string[],
): HostileCase[] {
  const tests: readonly HostileCase['test'][] = [
    ['ne', 5],
    ['nin', [5, 6]],
    ['gt', 5],
    ['gte', 5],
    ['ne', Number(others[0])],
  ]
  const orders: readonly HostileCase['test'][] = [
    ['lt', 5],
    ['lte', 5],
    ['lt', -(2 ** 60) - 2 ** 10],
  ]
  const is = ([operator, value]: HostileCase['test']): string =>
    `${operator} ${JSON.stringify(value)} of ${as} numbers that JSON rounds`
  const isBeyond = ([operator, value]: HostileCase['test']): boolean => operator === 'lt' && value !== 5
  return [
    ...tests.map(each => numbers(is(each), as, types, each, selected, ...others, null)),
    ...orders
      .filter(each => as === 'double' || !isBeyond(each))
      .map(each => numbers(is(each), as, types, each, `-${selected}`, ...others, null)),
  ]
}

function times(
  name: string,
  as: 'timestamptz' | 'timestamp' | 'datetime' | 'text',
  test: HostileCase['test'],
  selected: string,
  ...others: (string | null)[]
): HostileCase {
  const dialect = ({ datetime: 'mysql', text: 'sqlite' } as const)[as as 'text'] ?? 'postgresql'
  const type = { datetime: 'datetime(6)', text: 'TEXT' }[as as 'text'] ?? as
  return { name, column: { type: 'time', as }, types: { [dialect]: type }, test, selected, others }
}

export const HOSTILE_CASES: readonly HostileCase[] = [
  ...text('eq with case', ['eq', 'ann'], 'ann', 'Ann', 'ANN', 'ann ', null),
  ...text('ne with case', ['ne', 'ann'], 'Ann', 'ann', null),
  ...text('in with case', ['in', ['ann', 'bob']], 'bob', 'BOB', 'Ann', null),
  ...text('nin with case', ['nin', ['ann', 'bob']], 'Bob', 'ann', 'bob', null),
  ...text('eq with accents', ['eq', 'résumé'], 'résumé', 'resume', 're\u0301sume\u0301', 'RÉSUMÉ'),
  ...text('eq with a trailing space', ['eq', 'a'], 'a', 'a ', ' a', ''),
  ...text('ne with a trailing space', ['ne', 'a'], 'a ', 'a', null),
  ...text('eq with a soft hyphen', ['eq', 'ab'], 'ab', 'a\u00adb', 'a\u200bb'),
  ...text('eq with an emoji', ['eq', '😀'], '😀', '😁', '�', ''),
  ...text('eq with an empty text', ['eq', ''], '', ' ', null),
  ...text('eq with a quote', ['eq', "' OR '1'='1"], "' OR '1'='1", 'x', ''),
  ...text('eq with a placeholder', ['eq', '$1 ? :a'], '$1 ? :a', 'x'),
  ...text('contains with a percent sign', ['contains', '%'], '5%', '5', '_', null),
  ...text('contains with an underscore', ['contains', 'a_c'], 'xa_c', 'abc', 'A_C'),
  ...text('contains with a backslash', ['contains', '\\'], 'a\\b', 'ab', '/'),
  ...text('contains with case', ['contains', 'nn'], 'ann', 'ANN', 'an', null),
  ...text('ncontains with case', ['ncontains', 'nn'], 'ANN', 'ann', null),
  ...text('match of a prefix', ['match', 'eu-**'], 'eu-west', 'EU-west', 'eu', 'xeu-', null),
  ...text('nmatch of a prefix', ['nmatch', 'eu-**'], 'EU-west', 'eu-west', null),
  ...text('match of a suffix', ['match', '**.pdf'], 'a.pdf', 'a.PDF', 'pdf', '.pd', null),
  ...text('match of a suffix that is longer than the text', ['nmatch', '**abcdef'], 'def', 'abcdef', null),
  ...text('match over lines', ['match', 'a**'], 'a\nb', 'b\na'),
  ...glob(['match', 'a*c'], 'abc', 'a.c', 'abcd', 'xabc', 'abc\n', null),
  ...glob(['nmatch', 'a*c'], 'a.c', 'abc', 'ac', null),
  ...glob(['match', '?'], '😀', '.', '', 'ab'),
  ...glob(['match', '[a-c]'], 'b', 'B', 'd', '-'),
  ...glob(['match', '[!a-c]'], 'B', 'a', 'b', ''),
  ...glob(['match', '{a.b,(c)}'], '(c)', 'axb', 'c', '{a.b,(c)}'),
  ...glob(['match', '*$'], 'a$', 'a', '$\n'),
  {
    name: 'exists false',
    column: { type: 'string' },
    types: TEXT,
    test: ['exists', false],
    selected: null,
    others: ['', 'null'],
  },
  {
    name: 'exists true',
    column: { type: 'string' },
    types: TEXT,
    test: ['exists', true],
    selected: '',
    others: [null],
  },
  {
    name: 'eq false',
    column: { type: 'bool' },
    types: { postgresql: 'boolean', mysql: 'boolean', sqlite: 'INTEGER' },
    test: ['eq', false],
    selected: '0',
    others: ['1', null],
  },
  numbers('eq with a small difference', 'double', DOUBLE, ['eq', 0.3], '0.3', '0.30000000000000004', null),
  numbers('ne with a small difference', 'double', DOUBLE, ['ne', 0.3], '0.30000000000000004', '0.3', null),
  numbers(
    'in with 17 digits',
    'double',
    DOUBLE,
    ['in', [4.20563085221982e-253, 1]],
    '4.20563085221982e-253',
    '4.2056308522198194e-253',
  ),
  numbers(
    'nin with 17 digits',
    'double',
    DOUBLE,
    ['nin', [4.2056308522198194e-253, 1]],
    '4.20563085221982e-253',
    '4.2056308522198194e-253',
  ),
  numbers(
    'gt with infinities',
    'double',
    { postgresql: DOUBLE.postgresql },
    ['gt', 1],
    '2',
    'NaN',
    'Infinity',
    '1',
    null,
  ),
  numbers(
    'gte with infinities',
    'double',
    { postgresql: DOUBLE.postgresql },
    ['gte', 1],
    '1',
    'NaN',
    'Infinity',
    null,
  ),
  numbers(
    'lt with infinities',
    'double',
    { postgresql: DOUBLE.postgresql },
    ['lt', 1],
    '0',
    '-Infinity',
    'NaN',
    '1',
  ),
  numbers('ne with NaN', 'double', { postgresql: DOUBLE.postgresql }, ['ne', 1], '2', 'NaN', '1', null),
  numbers(
    'nin with NaN',
    'double',
    { postgresql: DOUBLE.postgresql },
    ['nin', [1, 2]],
    '3',
    'NaN',
    '1',
    '2',
    null,
  ),
  numbers('ne with NaN of numeric', 'numeric', { postgresql: 'numeric' }, ['ne', 1], '2', 'NaN', '1'),
  numbers(
    'eq of whole numbers that doubles confuse',
    'integer',
    WHOLE,
    ['eq', 2 ** 53 - 1],
    '9007199254740991',
    '9007199254740990',
  ),
  numbers('lt of a fraction', 'integer', WHOLE, ['lt', 1.5], '1', '2', null),
  numbers('gte of a fraction', 'integer', WHOLE, ['gte', 1.5], '2', '1', null),
  numbers('gt of a negative fraction', 'integer', WHOLE, ['gt', -1.5], '-1', '-2'),
  numbers('ne of a fraction', 'integer', WHOLE, ['ne', 1.5], '1', null),
  ...(['numeric', 'bigint'] as const).flatMap(as => [
    numbers(`lte of ${as} texts`, as, DIGITS, ['lte', 514548.07263675035], '12.50', LONG_TEXTS[0]),
    numbers(`eq of ${as} texts`, as, DIGITS, ['eq', 246619.26595673233], '246619.26595673233', LONG_TEXTS[1]),
    numbers(
      `ne of ${as} texts`,
      as,
      DIGITS,
      ['ne', 246619.26595673236],
      '-0.00001234567890123456',
      LONG_TEXTS[1],
    ),
  ]),
  ...inexact('double', DOUBLE, '1e21', ['1152921504606846976', '-1152921504606846976', '18014398509481992']),
  ...inexact('integer', WHOLE, '9007199254740991', ['9007199254740992', '-9223372036854775808']),
  ...inexact('bigint', WHOLE, '9007199254740991', ['9007199254740993', '-9223372036854775808']),
  ...inexact('numeric', DECIMAL, '9007199254740991', ['9007199254740993', '-1152921504606846976']),
  {
    name: 'nin of keys that are not canonical',
    column: { type: 'string', as: 'bigint' },
    types: WHOLE,
    test: ['nin', ['007', '7', '1e1', '+9']],
    selected: '9',
    others: ['7', null],
  },
  {
    name: 'eq of a key that is not canonical',
    column: { type: 'string', as: 'bigint' },
    types: WHOLE,
    test: ['in', ['010', '8']],
    selected: '8',
    others: ['10', null],
  },
  ...(['timestamptz', 'timestamp', 'datetime'] as const).flatMap(as => [
    times(
      `eq within a millisecond of ${as}`,
      as,
      ['eq', NOW],
      '2026-01-01 00:00:00.000999',
      '2026-01-01 00:00:00.001',
    ),
    times(
      `ne within a millisecond of ${as}`,
      as,
      ['ne', NOW],
      '2026-01-01 00:00:00.001',
      '2026-01-01 00:00:00.000999',
      null,
    ),
    times(
      `nin of the last millisecond of ${as}`,
      as,
      ['nin', [NOW, LAST]],
      '2026-01-02 00:00:00',
      '9999-12-31 23:59:59.999',
      null,
    ),
    times(
      `eq of the last millisecond of ${as}`,
      as,
      ['eq', LAST],
      '9999-12-31 23:59:59.999',
      '9999-12-31 23:59:59.998',
    ),
    times(
      `lt before 1970 of ${as}`,
      as,
      ['lt', '1969-12-31T23:59:59.999Z'],
      '1969-12-31 23:59:59.998999',
      '1969-12-31 23:59:59.999',
    ),
  ]),
  ...(['timestamptz', 'timestamp'] as const).flatMap(as => [
    times(`gte with infinity of ${as}`, as, ['gte', NOW], '2026-01-01', 'infinity', '-infinity', null),
    times(`lt with infinity of ${as}`, as, ['lt', NOW], '2025-01-01', '-infinity', 'infinity', null),
    times(`ne with infinity of ${as}`, as, ['ne', NOW], '2025-01-01', 'infinity', '-infinity', null),
    times(
      `eq of the last millisecond with infinity of ${as}`,
      as,
      ['eq', LAST],
      '9999-12-31 23:59:59.999',
      'infinity',
    ),
  ]),
  times('lt of a text', 'text', ['lt', NOW], '2025-12-31T23:59:59.999Z', NOW, null),
  times('ne of a text', 'text', ['ne', NOW], '2026-01-01T00:00:00.001Z', NOW, null),
  ...(
    [
      ['gte', '2026-01-01', 'infinity'],
      ['lt', '2025-12-31', '-infinity'],
      ['ne', '2026-01-02', 'infinity'],
    ] as const
  ).map(([operator, selected, other]): HostileCase => ({
    name: `${operator} with infinity of a date`,
    column: { type: 'date' },
    types: { postgresql: 'date' },
    test: [operator, '2026-01-01'],
    selected,
    others: [other, null],
  })),
  list('intersects with case', ['intersects', ['a']], '["a","A"]', '["A"]', '["ä"]', '[]', null),
  list('disjoint with case', ['disjoint', ['a']], '["A"]', '["a"]', null),
  list('disjoint with an empty list', ['disjoint', ['a', 'b']], '[]', '["b"]', null),
  list('subset with duplicates', ['subset', ['a', 'b']], '["a","a"]', '["a","c"]', '["A"]', null),
  list('subset with an empty list', ['subset', ['a']], '[]', '["b"]', null),
  list('nsubset with case', ['nsubset', ['a']], '["A"]', '["a","a"]', '[]', null),
  list('len_eq counts duplicates', ['len_eq', 2], '["a","a"]', '["a"]', '[]', null),
  list('len_eq 0', ['len_eq', 0], '[]', '[""]', null),
  list('len_ne', ['len_ne', 0], '["a"]', '[]', null),
  list('len_lt', ['len_lt', 1], '[]', '["a"]', null),
  list('exists false of a list', ['exists', false], null, '[]', '["null"]'),
  {
    name: 'disjoint in a loose collation',
    column: { type: 'string_array', collation: 'nondeterministic' },
    types: { ...WORDS, postgresql: 'text[] COLLATE ignore_case' },
    test: ['disjoint', ['a']],
    selected: '["A"]',
    others: ['["a"]', null],
  },
  {
    name: 'subset in a loose collation',
    column: { type: 'string_array', collation: 'nondeterministic' },
    types: { ...WORDS, postgresql: 'text[] COLLATE ignore_case' },
    test: ['subset', ['a']],
    selected: '["a"]',
    others: ['["A"]', null],
  },
  sizes('disjoint of other numbers', ['disjoint', [5]], '[1e21,1]', '[1,1152921504606846976]', null),
  sizes('disjoint of a number that JSON rounds', ['disjoint', [1e17]], '[]', '[1152921504606846976]', null),
  sizes('subset of numbers', ['subset', [1, 2 ** 60]], '[1]', '[1152921504606846976]', null),
  sizes('nsubset of numbers', ['nsubset', [5]], '[2,1152921504606846976]', '[1152921504606846976]', '[5]'),
  sizes('intersects of numbers', ['intersects', [1, 2 ** 60]], '[1]', '[1152921504606846976]', null),
  {
    name: 'intersects of numbers with many digits',
    column: { type: 'number_array' },
    types: DIGITS,
    test: ['intersects', [246619.26595673233]],
    selected: '[246619.26595673233]',
    others: [`[${LONG_TEXTS[1]}]`, null],
  },
  {
    name: 'disjoint of numbers with many digits',
    column: { type: 'number_array' },
    types: DIGITS,
    test: ['disjoint', [246619.26595673236]],
    selected: '[0.0000012345678901234567]',
    others: [`[${LONG_TEXTS[1]}]`, null],
  },
  {
    name: 'subset of numbers with many digits',
    column: { type: 'number_array' },
    types: DIGITS,
    test: ['subset', [246619.26595673233]],
    selected: '[246619.26595673233]',
    others: [`[${LONG_TEXTS[1]}]`, null],
  },
  {
    name: 'nsubset of numbers with many digits',
    column: { type: 'number_array' },
    types: DIGITS,
    test: ['nsubset', [246619.26595673236]],
    selected: '[1]',
    others: [`[${LONG_TEXTS[1]}]`, null],
  },
  {
    name: 'disjoint of numbers that JSON rounds',
    column: { type: 'number_array' },
    types: { postgresql: 'double precision[]', mysql: 'json', sqlite: 'TEXT' },
    test: ['disjoint', [0.3]],
    selected: '[0.30000000000000004]',
    others: ['[0.3]', '[1,0.3]', null],
  },
]
