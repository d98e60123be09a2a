/** Environment variables of the decision API (native.md 0, D-17 to D-20). */
import { describe, expect, test } from 'vitest'
import type { Config } from '../../../src/config/settings.ts'
import { readConfig } from '../../../src/config/read-config.ts'

const CASES: readonly {
  readonly name: string
  readonly field: keyof Config
  readonly fallback: unknown
  /** Valid texts with their values. */
  readonly good: readonly (readonly [string, unknown])[]
  readonly bad: readonly string[]
}[] = [
  ...(['STRICT_HEADERS', 'AUTHZEN_STRICT', 'DEBUG_DECISIONS'] as const).map((name, index) => ({
    name,
    field: (['hasStrictHeaders', 'isAuthzenStrict', 'hasDebug'] as const)[index]!,
    fallback: false,
    good: [
      ['true', true],
      ['false', false],
    ] as const,
    bad: ['', '1', 'yes', 'TRUE', ' true'],
  })),
  {
    name: 'BYTES_PATH',
    field: 'hasBytesPath',
    fallback: true,
    good: [
      ['true', true],
      ['false', false],
    ],
    bad: ['', '0', 'no'],
  },
  {
    name: 'PERMISSION_FORMAT',
    field: 'permissionFormat',
    fallback: 'action:resource',
    good: [
      ['action:resource', 'action:resource'],
      ['resource:action', 'resource:action'],
    ],
    bad: ['', 'action', 'resource:', 'constructor'],
  },
  {
    name: 'SUBJECT_TYPES',
    field: 'subjectTypes',
    fallback: ['user', 'identity'],
    good: [
      ['user', ['user']],
      ['user,person, robot', ['user', 'person', 'robot']],
    ],
    bad: ['', ',', 'user,', 'user,,robot'],
  },
  {
    name: 'PUBLIC_URL',
    field: 'publicUrl',
    fallback: null,
    good: [
      ['https://pdp.example.com', 'https://pdp.example.com'],
      ['HTTPS://PDP.example.com:443/T1/', 'HTTPS://PDP.example.com:443/T1/'],
      ['http://localhost:7766', 'http://localhost:7766'],
    ],
    bad: [
      '',
      'pdp.example.com',
      '/t1',
      'ftp://pdp.example.com',
      ' https://pdp.example.com',
      String.raw`https://pdp.example.com\t1`,
      ...['?b', '/#b', '?', '/t1#'].map(end => `https://pdp.example.com${end}`),
      'https://u:p@a',
    ],
  },
  ...(
    [
      ['MAX_LISTED_ENTRIES', 'listedEntriesMax', 100_000, 10_000_000],
      ['SEARCH_PAGE_SIZE', 'searchPageSize', 1_000, 100_000],
      ['MAX_SEARCH_PAGE_SIZE', 'searchPageSizeMax', 10_000, 100_000],
      ['MAX_BULK_CHECKS', 'bulkChecksMax', 10_000, 1_000_000],
    ] as const
  ).map(([name, field, fallback, max]) => ({
    name,
    field,
    fallback,
    good: [
      ['1', 1],
      [String(max), max],
    ] as const,
    bad: ['0', String(max + 1), '-1', '1.5', '1e3', ' 1', '', 'many'],
  })),
]

describe.each(CASES)('the setting $name', ({ name, field, fallback, good, bad }) => {
  test('has a default', () => {
    expect(readConfig({})[field]).toEqual(fallback)
  })

  test('accepts valid values', () => {
    for (const [text, value] of good) expect(readConfig({ [name]: text })[field], text).toEqual(value)
  })

  test('rejects invalid values with its name', () => {
    for (const text of bad)
      expect(() => readConfig({ [name]: text }), text).toThrow(`setting ${name}: expected `)
  })
})

test('a PUBLIC_URL with credentials is rejected, and the message does not contain them', () => {
  const read = () => readConfig({ PUBLIC_URL: 'https://ops:hunter2@pdp.example.com' })
  expect(read).toThrow('got one with credentials')
  expect(read).not.toThrow(/hunter2/)
})
