/** Encoding of changes in logs and messages, in the current format and in that of older releases. */
import { expect, test } from 'vitest'
import type { Change } from '#model/change.ts'
import { decodeChanges, encodeChanges } from '#store/keyspace/change-codec.ts'

const instance = { type: 'document', key: 'a:b' }
const scope = { instance }
const tuple = { subject: { type: 'folder', key: 'f' }, relation: 'parent', object: instance }
const CHANGES: readonly Change[] = [
  { kind: 'user-put', user: 'ann', attributes: null, row: 0 },
  { kind: 'user-put', user: 'ann', attributes: JSON.parse('{"__proto__":1,"a":[null]}') as object as never },
  { kind: 'user-put', user: 'ann' },
  { kind: 'user-put', user: 'ann', attributes: {}, id: 'of-one-that-went-again' },
  { kind: 'instance-put', instance, tenant: 'default', attributes: {}, row: 7 },
  { kind: 'instance-put', instance, tenant: '', attributes: null },
  { kind: 'assignment-put', user: 'ann', role: 'viewer', scope: { tenant: 't' }, row: 1, expiresAt: 5 },
  { kind: 'assignment-put', user: 'ann', role: 'viewer', scope: { tenant: 't' } },
  { kind: 'assignment-put', user: 'ann', role: 'viewer', scope: { tenant: 't' }, tenant: 't' },
  { kind: 'assignment-put', user: 'ann', role: 'viewer', scope, tenant: 't', row: 0 },
  { kind: 'assignment-put', user: 'ann', role: 'viewer', scope, expiresAt: 0 },
  { kind: 'tuple-put', ...tuple, tenant: 't', row: 0, expiresAt: 1_900_000_000_000 },
  { kind: 'tuple-put', ...tuple },
  { kind: 'tuple-put', ...tuple, tenant: 't', id: 'i', expiresAt: 5 },
  { kind: 'tuple-removed', ...tuple, tenant: 't', id: 'i' },
  { kind: 'user-removed', user: 'ann', id: 'i', took: { assignment: 2 } },
  { kind: 'type-put', type: 'document', actions: ['read'], row: 3 },
]

test.each(CHANGES.map(change => [JSON.stringify(change), change] as const))(
  '%s is decoded as it was encoded',
  (_, change) => {
    expect(decodeChanges(encodeChanges([change]))).toEqual([change])
  },
)

test('changes that an older release wrote are decoded unchanged, with `until` as their expiration time', () => {
  const stored = (change: Change) => JSON.stringify(change).replace('"expiresAt"', '"until"')
  expect(decodeChanges(`[${CHANGES.map(stored).join(',')}]`)).toEqual(CHANGES)
  const ofObject = CHANGES.find(change => 'expiresAt' in change && change.id !== undefined)!
  expect(encodeChanges([ofObject])).toBe(`[${stored(ofObject)}]`)
})

test('an encoded fact takes less than 60 % of the bytes of its JSON object', () => {
  const facts = CHANGES.filter(
    ({ kind, id }) => kind.endsWith('-put') && kind !== 'type-put' && id === undefined,
  )
  expect(encodeChanges(facts).length).toBeLessThan(JSON.stringify(facts).length * 0.6)
})

test('a change with an unknown code cannot be decoded', () => {
  expect(() => decodeChanges('[["?"]]')).toThrow(RangeError)
})
