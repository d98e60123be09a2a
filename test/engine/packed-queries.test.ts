/** Queries are packed into bytes and read back. */
import { expect, test } from 'vitest'
import type { Query } from '#model/decision.ts'
import { packQueries } from '#model/packed-queries.ts'

const ask: Query = { user: 'alice', action: 'read', type: 'document', key: 'd1', tenant: null }

test('packed queries are read back unchanged, in any script', () => {
  const queries: Query[] = [
    ask,
    { ...ask, user: '鍵😀', key: 'ü', tenant: 'default' },
    { ...ask, key: null },
    { ...ask, user: '\ufeffa', action: 'lesenä', type: 'dokumentü', tenant: '' },
    { ...ask, user: 'a'.repeat(512), key: '\u0000' },
  ]
  const packed = packQueries(queries)!
  expect(packed.count).toBe(queries.length)
  expect(queries.map((_, index) => packed.query(index))).toEqual(queries)
  expect(packQueries([])!.count).toBe(0)
})

test('a packed buffer has at least three bytes after the last key', () => {
  const { bytes, keyRanges } = packQueries([{ ...ask, user: 'é', key: '鍵' }])!
  expect(bytes.byteLength).toBe(keyRanges[2]! + keyRanges[3]! + 3)
})

test('queries that differ only in their keys share one terms object', () => {
  const queries = [ask, { ...ask, tenant: 'b' }, { ...ask, user: 'bob' }, { ...ask, action: 'write' }, ask]
  const packed = packQueries(queries)!
  const allTerms = queries.map((_, index) => packed.terms(index))
  expect(new Set(allTerms).size).toBe(3)
  expect(allTerms[0]).toBe(allTerms[4])
  expect(allTerms[0]).toBe(allTerms[2])
})

test.each(['\ud800', 'a\udc00', '\udc00\ud800', '', 'a'.repeat(513)])(
  'a key that no entity can have is not packed: %j',
  key => {
    expect(packQueries([ask, { ...ask, user: key }])).toBe(null)
    expect(packQueries([ask, { ...ask, key }])).toBe(null)
  },
)

test.each(['type', 'action', 'tenant'] as const)('a %s longer than the maximum is not packed', name => {
  expect(packQueries([ask, { ...ask, [name]: 'a'.repeat(128) }])).not.toBe(null)
  expect(packQueries([ask, { ...ask, [name]: 'a'.repeat(129) }])).toBe(null)
})

test('queries whose keys exceed the maximum body size are not packed', () => {
  const long = { ...ask, user: 'a'.repeat(512), key: 'b'.repeat(512) }
  const many = (count: number) => Array.from({ length: count }, () => long)
  expect(packQueries(many(16 * 1_024))).not.toBe(null)
  expect(packQueries(many(16 * 1_024 + 1))).toBe(null)
})
