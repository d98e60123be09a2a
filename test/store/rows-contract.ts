/** Ledger contract of rows: versions, creation order, lists, counts, and loading all rows. */
import { expect, test } from 'vitest'
import type { OpenLedger } from './ledger-under-test.ts'
import { allRows, bytes, commitOf, everyone, group, readable, scannedKeys, text } from './toy-rows.ts'

export function describeRows(start: OpenLedger): void {
  test('a row that is deleted and put again is a new row, in one commit or in two', async () => {
    const { ledger, view } = await start()
    await ledger.commit(commitOf({ put: { alice: 'ar', bob: 'ar', carol: 'ar' } }))
    await ledger.commit(commitOf({ delete: ['alice'] }))
    await ledger.commit(commitOf({ put: { alice: 'ar' } }))
    await ledger.commit(commitOf({ delete: ['bob'], put: { bob: 'ar' } }))
    expect(scannedKeys(await view(), group('a'))).toEqual(['carol', 'alice', 'bob'])
    expect((await view()).get(bytes('bob'))).toMatchObject({ version: 4, created: 4 * 65_536 })
    expect((await view()).count(everyone)).toBe(3)
  })

  test('an overwritten row moves from its former lists to its new ones', async () => {
    const { ledger, view } = await start()
    await ledger.commit(commitOf({ put: { alice: 'ar', bob: 'ar' } }))
    await ledger.commit(commitOf({ put: { alice: 'br' } }))
    expect(scannedKeys(await view(), group('a'))).toEqual(['bob'])
    expect(scannedKeys(await view(), group('b'))).toEqual(['alice'])
    await ledger.commit(commitOf({ put: { bob: '' } }))
    const after = await view()
    expect(scannedKeys(after, everyone)).toEqual(['alice'])
    expect([after.count(everyone), after.count(group('a')), after.count(group('b'))]).toEqual([1, 0, 1])
    await ledger.commit(commitOf({ put: { bob: 'br' } }))
    const again = await view()
    expect([scannedKeys(again, group('b')), again.count(group('b'))]).toEqual([['alice', 'bob'], 2])
  })

  test('rows are found by a prefix of their keys, in byte order', async () => {
    const { ledger, view } = await start()
    const keys = ['b', 'ab', 'a', 'abc', 'abd', 'ac', 'é', 'ê', '文', '文字', '😀', '😀x', 'ab*']
    for (const key of keys) await ledger.commit(commitOf({ put: { [key]: 'ar' } }))
    const ofBytes = [[0xff], [0xff, 0xff], [0xff, 0xff, 1], [0x01, 0xff, 0x07], [0x02]]
    const put = ofBytes.map(key => ({ key: Uint8Array.from(key), value: bytes('ar') }))
    await ledger.commit({ ...commitOf({}), put })
    const beginning = async (prefix: Uint8Array) =>
      [...(await view()).beginningWith(prefix)].map(({ key }) => text(key))
    expect(await beginning(bytes('ab'))).toEqual(['ab', 'ab*', 'abc', 'abd'])
    expect(await beginning(bytes('abd'))).toEqual(['abd'])
    expect(await beginning(bytes('abx'))).toEqual([])
    expect(await beginning(bytes('文'))).toEqual(['文', '文字'])
    expect(await beginning(bytes('😀'))).toEqual(['😀', '😀x'])
    expect(await beginning(bytes('é').subarray(0, 1))).toEqual(['é', 'ê'])
    const count = async (...prefix: number[]) =>
      [...(await view()).beginningWith(Uint8Array.from(prefix))].length
    expect([await count(0xff), await count(0xff, 0xff), await count(0x01, 0xff)]).toEqual([3, 2, 1])
    expect(await count()).toBe(keys.length + ofBytes.length)
  })

  test('a read of rows by prefix reflects the last commit, with new rows between older rows', async () => {
    const { ledger, view } = await start()
    const stored = Array.from({ length: 300 }, (_, index) => `key-${String(index).padStart(3, '0')}`)
    await ledger.commit(commitOf({ put: Object.fromEntries(stored.map(key => [key, 'ar'])) }))
    await ledger.commit(commitOf({ delete: ['key-100', 'key-101', 'key-199'], put: { 'key-105': 'bg' } }))
    await ledger.commit(
      commitOf({ put: { 'key-1': 'br', 'key-1500': 'br', 'key-2': 'br', 'key-101': 'br' } }),
    )
    const found = [...(await view()).beginningWith(bytes('key-1'))].map(readable)
    const expected = stored.filter(key => key.startsWith('key-1') && key !== 'key-100' && key !== 'key-199')
    expect(found.map(({ key }) => key)).toEqual([...expected, 'key-1', 'key-1500'].toSorted())
    expect(found.find(({ key }) => key === 'key-105')).toMatchObject({ value: 'bg', version: 2 })
    expect(found.find(({ key }) => key === 'key-101')).toMatchObject({ value: 'br', version: 3 })
  })

  test('`rows` yields each row once, even in several batches', async () => {
    const { ledger } = await start()
    const keys = Array.from({ length: 2_500 }, (_, index) => `row-${String(index).padStart(4, '0')}`)
    await ledger.commit(commitOf({ put: Object.fromEntries(keys.map(key => [key, 'ar'])) }))
    expect((await allRows(ledger)).map(({ key }) => key)).toEqual(keys)
  })

  test('`rows` yields all rows that existed when it began, even during concurrent commits', async () => {
    const { ledger } = await start()
    const keys = Array.from({ length: 3_000 }, (_, index) => `row-${index}`)
    await ledger.commit(commitOf({ put: Object.fromEntries(keys.map(key => [key, 'ar'])) }))
    const seen = new Set<string>()
    for await (const batch of ledger.rows()) {
      for (const { key } of batch) seen.add(text(key))
      await ledger.commit(commitOf({ put: { 'row-2999': 'bg', [`late-${seen.size}`]: 'ar' } }))
    }
    expect(keys.filter(key => !seen.has(key))).toEqual([])
  })
}
