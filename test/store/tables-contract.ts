/** Contract of tables, and of a `TableView` on them. */
import { describe, expect, onTestFinished, test } from 'vitest'
import type { LogEntry } from '#store/ledger.ts'
import { TableView, type RowsOptions } from '#store/embedded/table-view.ts'
import { putLast, TABLE_KEY_BYTES_MAX, type RangeOptions, type Table, type Tables } from '#store/tables.ts'
import { bytes, color, commitId, everyone, group, scannedKeys, shown, text, toyRule } from './toy-rows.ts'

export interface TablesUnderTest {
  readonly tables: Tables
  /** Closes the tables and deletes their files. Can be called twice. */
  dispose(): Promise<void>
}

export function describeTables(name: string, open: () => Promise<TablesUnderTest>): void {
  const start = async (): Promise<Tables> => {
    const subject = await open()
    onTestFinished(() => subject.dispose())
    return subject.tables
  }

  describe(`${name}: tables`, () => describeReadsAndWrites(start))
  describe(`${name}: a view over tables`, () => describeView(start))
}

const keysIn = (table: Table, range: RangeOptions): string[] =>
  [...table.range(range)].map(({ key }) => text(key))
const fromStart = { start: new Uint8Array(0) }

function describeReadsAndWrites(start: () => Promise<Tables>): void {
  const startWith = async (...keys: string[]) => {
    const tables = await start()
    const table = tables.table('one')
    await tables.write(() => {
      for (const key of keys) table.put(bytes(key), bytes(`value of ${key}`))
    })
    return { tables, table }
  }

  test('a name always opens the same table', async () => {
    const { tables, table } = await startWith('a')
    expect(tables.table('one')).toBe(table)
    expect(keysIn(tables.table('other'), fromStart)).toEqual([])
  })

  test('a snapshot shows the state at its creation until it is released', async () => {
    const { tables, table } = await startWith('a', 'b')
    const snapshot = tables.snapshot()
    const then = snapshot.table('one')
    await tables.write(() => {
      table.put(bytes('c'), bytes('later'))
      table.put(bytes('a'), bytes('changed'))
      table.remove(bytes('b'))
    })
    expect(keysIn(table, fromStart)).toEqual(['a', 'c'])
    expect(keysIn(then, fromStart)).toEqual(['a', 'b'])
    expect(text(then.get(bytes('a'))!)).toBe('value of a')
    expect(then.get(bytes('c'))).toBe(undefined)
    expect(() => then.put(bytes('d'), bytes(''))).toThrow()
    snapshot.release()
    snapshot.release()
    expect(() => snapshot.table('one').get(bytes('a'))).toThrow()
    expect(keysIn(table, fromStart)).toEqual(['a', 'c'])
  })

  test('a snapshot cannot be read after its tables are closed', async () => {
    const { tables } = await startWith('a')
    const then = tables.snapshot().table('one')
    await tables.close()
    expect(() => then.get(bytes('a'))).toThrow(expect.objectContaining({ code: 'STORE_CLOSED' }))
  })

  test('keys are ordered by unsigned bytes, and a prefix comes before longer keys', async () => {
    const tables = await start()
    const table = tables.table('one')
    const keys = [[0], [0, 0], [0, 1], [1], [127, 255], [128], [255], [255, 255]].map(key =>
      Uint8Array.from(key),
    )
    await tables.write(() => {
      for (const key of keys.toReversed()) table.put(key, bytes(''))
    })
    expect([...table.range({ start: Uint8Array.of(0) })].map(({ key }) => [...key])).toEqual(
      keys.map(key => [...key]),
    )
  })

  test('a range begins with its start, ends before its end and skips its offset', async () => {
    const { table } = await startWith('a', 'b', 'c', 'd', 'e')
    expect(keysIn(table, fromStart)).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(keysIn(table, { start: bytes('b'), end: bytes('d') })).toEqual(['b', 'c'])
    expect(keysIn(table, { start: bytes('aa'), end: bytes('dd') })).toEqual(['b', 'c', 'd'])
    expect(keysIn(table, { start: bytes('b'), offset: 2 })).toEqual(['d', 'e'])
    expect(keysIn(table, { start: bytes('b'), end: bytes('d'), offset: 2 })).toEqual([])
    expect(keysIn(table, { ...fromStart, offset: 2 ** 40 })).toEqual([])
    expect(keysIn(table, { start: bytes('c'), end: bytes('c') })).toEqual([])
    expect(keysIn(table, { ...fromStart, end: new Uint8Array(0) })).toEqual([])
  })

  test('`putLast` inserts an entry in key order, even if its key is not the last one', async () => {
    const { tables, table } = await startWith('b')
    await tables.write(() => {
      for (const key of ['c', 'a', 'd', 'c']) putLast(table, bytes(key), bytes(`last of ${key}`))
    })
    const found = [...table.range(fromStart)].map(({ key, value }) => [text(key), text(value)])
    expect(found).toEqual([
      ['a', 'last of a'],
      ['b', 'value of b'],
      ['c', 'last of c'],
      ['d', 'last of d'],
    ])
  })

  test('values of any size are read back unchanged', async () => {
    const tables = await start()
    const table = tables.table('one')
    const values = [0, 1, 4_000, 40_000, 3_000_000].map(size => new Uint8Array(size).map((_, at) => at * 7))
    await tables.write(() => values.forEach((value, at) => table.put(bytes(`key ${at}`), value)))
    values.forEach((value, at) => expect(Buffer.compare(table.get(bytes(`key ${at}`))!, value)).toBe(0))
    const ranged = [...table.range(fromStart)].map(({ value }) => value)
    values.forEach((value, at) => expect(Buffer.compare(ranged[at]!, value)).toBe(0))
  })

  test('changing the bytes of a read value does not change the stored value', async () => {
    const { table } = await startWith('a')
    table.get(bytes('a'))!.fill(0)
    for (const { key, value } of table.range(fromStart)) [key, value].forEach(got => got.fill(0))
    expect(text(table.get(bytes('a'))!)).toBe('value of a')
  })

  test('a write reads its own changes, and returns the result of its action', async () => {
    const { tables, table } = await startWith('a', 'b')
    const seen = await tables.write(() => {
      table.put(bytes('c'), bytes('new'))
      table.put(bytes('b'), bytes('changed'))
      table.remove(bytes('a'))
      table.remove(bytes('nobody'))
      return [...table.range(fromStart)].map(({ key, value }) => `${text(key)}: ${text(value)}`)
    })
    expect(seen).toEqual(['b: changed', 'c: new'])
    expect(text(table.get(bytes('b'))!)).toBe('changed')
    expect(table.get(bytes('a'))).toBeUndefined()
  })

  test('an action that throws leaves no changes', async () => {
    const { tables, table } = await startWith('a', 'b')
    const other = tables.table('other')
    const before = [...table.range(fromStart)]
    const failing = tables.write(() => {
      table.remove(bytes('a'))
      table.put(bytes('a'), bytes('again'))
      table.put(bytes('b'), bytes('changed'))
      table.put(bytes('b'), bytes('changed twice'))
      table.remove(bytes('b'))
      other.put(bytes('c'), bytes('new'))
      throw new Error('changed my mind')
    })
    await expect(failing).rejects.toThrow('changed my mind')
    expect([...table.range(fromStart)]).toEqual(before)
    expect(keysIn(other, fromStart)).toEqual([])
  })

  test('a write starts after its call has returned, and writes run one after another', async () => {
    const { tables, table } = await startWith()
    const order: number[] = []
    const writes = Array.from({ length: 50 }, (_, index) =>
      tables.write(() => {
        order.push(index)
        const before = table.get(bytes('sum'))
        table.put(bytes('sum'), bytes(String(Number(before ? text(before) : 0) + index)))
      }),
    )
    expect(order).toEqual([])
    await Promise.all(writes)
    expect(order).toEqual(Array.from({ length: 50 }, (_, index) => index))
    expect(text(table.get(bytes('sum'))!)).toBe('1225')
  })

  test('reads see a write as soon as it is complete, even after earlier reads', async () => {
    const { tables, table } = await startWith()
    for (let round = 0; round < 200; round++) {
      const write = tables.write(() => table.put(bytes('round'), bytes(String(round))))
      table.get(bytes('round'))
      await write
      expect(text(table.get(bytes('round'))!)).toBe(String(round))
    }
  })

  test('the callback for visibility is called when reads see a write, and not for a failed write', async () => {
    const { tables, table } = await startWith()
    const told: string[] = []
    const write = tables.write(
      () => table.put(bytes('a'), bytes('new')),
      () => told.push(text(table.get(bytes('a'))!)),
    )
    expect(told).toEqual([])
    await write
    expect(told).toEqual(['new'])
    const fail = () => {
      throw new Error('changed my mind')
    }
    await expect(tables.write(fail, () => told.push('failed'))).rejects.toThrow('changed my mind')
    expect(told).toEqual(['new'])
  })

  test('changes outside a write are refused', async () => {
    const { table } = await startWith('a')
    expect(() => table.put(bytes('b'), bytes(''))).toThrow('inside a write')
    expect(() => table.remove(bytes('a'))).toThrow('inside a write')
    expect(keysIn(table, fromStart)).toEqual(['a'])
  })

  test('a key is 1 to 1,978 bytes', async () => {
    const { tables, table } = await startWith()
    const longest = new Uint8Array(TABLE_KEY_BYTES_MAX).fill(97)
    await tables.write(() => table.put(longest, bytes('fits')))
    expect(text(table.get(longest)!)).toBe('fits')
    const tooLong = new Uint8Array(TABLE_KEY_BYTES_MAX + 1)
    await expect(tables.write(() => table.put(tooLong, bytes('')))).rejects.toThrow('1979 bytes')
    await expect(tables.write(() => table.put(bytes(''), bytes('')))).rejects.toThrow('0 bytes')
  })

  test('a range continues after its last key if writes occur between its reads', async () => {
    const { tables, table } = await startWith('a', 'c', 'e')
    const range = table.range(fromStart)[Symbol.iterator]()
    const seen = [text(range.next().value!.key), text(range.next().value!.key)]
    await tables.write(() => {
      for (const key of ['a', 'c']) table.remove(bytes(key))
      for (const key of ['0', '1', '2', '3']) table.put(bytes(key), bytes(''))
    })
    for (let step = range.next(); !step.done; step = range.next()) seen.push(text(step.value.key))
    expect(seen).toEqual(['a', 'c', 'e'])
  })

  test('closing completes the writes in progress; afterwards every call fails with STORE_CLOSED, including open ranges', async () => {
    const { tables, table } = await startWith('a', 'b', 'c')
    const range = table.range(fromStart)[Symbol.iterator]()
    range.next()
    const underWay = tables.write(() => table.put(bytes('d'), bytes('')))
    const closed = tables.close()
    await expect(tables.write(() => {})).rejects.toMatchObject({ code: 'STORE_CLOSED' })
    await underWay
    await closed
    const isClosed = expect.objectContaining({ code: 'STORE_CLOSED' })
    expect(() => table.get(bytes('a'))).toThrow(isClosed)
    expect(() => keysIn(table, fromStart)).toThrow(isClosed)
    expect(() => range.next()).toThrow(isClosed)
  })
}

function describeView(start: () => Promise<Tables>): void {
  const entry = (
    sequence: number,
    deletes: string[],
    put: [key: string, value: string, created: number][],
  ): LogEntry => ({
    revision: { epoch: 'history', sequence },
    id: commitId(),
    delete: deletes.map(bytes),
    put: put.map(([key, value, created]) => ({
      key: bytes(key),
      value: bytes(value),
      version: sequence,
      created,
    })),
    changes: [],
  })
  const history = [
    entry(1, [], [['ann', 'ar', 10], ['bea', 'ag', 11], ['cyd', 'br', 12]]), // oxfmt-ignore
    entry(2, ['bea'], [['dee', 'br', 20], ['ann', 'bg', 10]]), // oxfmt-ignore
    entry(3, ['ann', 'dee'], [['ann', 'ar', 30], ['bea', 'ar', 31]]), // oxfmt-ignore
    entry(4, [], [['cyd', '', 12], ['dee', 'ag', 40]]), // oxfmt-ignore
  ]
  const startWithHistory = async () => {
    const tables = await start()
    const view = new TableView(tables, toyRule)
    const apply = (entries: readonly LogEntry[]) =>
      tables.write(() => entries.forEach(next => view.apply(next)))
    for (const next of history) await apply([next])
    return { view, apply, tables }
  }
  /** All stored entries. Views with the same content could still differ in internal entries. */
  const stored = (tables: Tables) =>
    ['rows', 'keys', 'lists', 'counts', 'meta'].map(name => [...tables.table(name).range(fromStart)])

  test('applying the last commit, or the latest commits in order, again changes nothing at all', async () => {
    const { view, apply, tables } = await startWithHistory()
    const before = [shown(view), stored(tables)]
    for (const first of [-1, 0, 1, 2]) {
      await apply(history.slice(first))
      expect([shown(view), stored(tables)]).toEqual(before)
    }
  })

  test('a list is read in creation order, from an offset, and after a row', async () => {
    const { view } = await startWithHistory()
    expect(scannedKeys(view, everyone)).toEqual(['ann', 'bea', 'dee'])
    expect(scannedKeys(view, everyone, { offset: 1 })).toEqual(['bea', 'dee'])
    expect(scannedKeys(view, everyone, { offset: 3 })).toEqual([])
    expect(scannedKeys(view, everyone, { after: 30 })).toEqual(['bea', 'dee'])
    expect(scannedKeys(view, everyone, { after: 30, offset: 1 })).toEqual(['dee'])
    expect(scannedKeys(view, everyone, { after: 40 })).toEqual([])
    // This list is not counted, so the view does not know in advance that the offset is past the end.
    expect(scannedKeys(view, color('r'), { offset: 2 })).toEqual([])
  })

  test('counts contain only counted lists that are not empty', async () => {
    const { view, tables } = await startWithHistory()
    expect([view.count(everyone), view.count(group('a')), view.count(group('b'))]).toEqual([3, 3, 0])
    expect(view.count(color('r'))).toBe(0)
    expect(keysIn(tables.table('counts'), fromStart)).toEqual(['all', 'group:a'])
  })

  test('rows are read in creation order in batches', async () => {
    const { view } = await startWithHistory()
    const keys = (options: RowsOptions) => view.rows(options).map(({ key }) => text(key))
    expect(keys({ after: -1, countMax: 10 })).toEqual(['cyd', 'ann', 'bea', 'dee'])
    expect(keys({ after: -1, countMax: 2 })).toEqual(['cyd', 'ann'])
    expect(keys({ after: 30, countMax: 2 })).toEqual(['bea', 'dee'])
    expect(keys({ after: 12, before: 31, countMax: 2 })).toEqual(['ann'])
    expect(keys({ after: 40, countMax: 2 })).toEqual([])
  })
}
