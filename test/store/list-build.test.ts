/** Bulk load of rows and secondary indexes: the result is the same view as after applying the commits. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LogEntry, Row } from '#store/ledger.ts'
import { ListBuild } from '#store/bulk-load/list-build.ts'
import { MemoryTables } from '#store/memory/memory-tables.ts'
import { buildKeys } from '#store/bulk-load/key-build.ts'
import { RowLoad } from '#store/bulk-load/row-load.ts'
import { TableView } from '#store/embedded/table-view.ts'
import type { Tables } from '#store/tables.ts'
import type { ListRule } from '#store/view.ts'
import { holdsForAll } from '../support/random-runs.ts'
import { bytes, text, toyRule } from './toy-rows.ts'

/** Idle users are in list `w`. The oldest item of a user in a color represents all items of that color. */
const holdingRule: ListRule = ({ key, value }) => {
  const [kind, user, number] = text(key).split('-')
  const held = bytes(`h${user}`)
  if (kind === 'user') {
    return [
      { list: bytes('u'), counted: true },
      { list: bytes(`i${user}`), counted: false },
      { list: bytes('w'), counted: true, unless: held },
    ]
  }
  const color = text(value)
  return [
    { list: held, counted: true, displaces: { owner: bytes(`i${user}`), from: bytes('w') } },
    { list: bytes(`c${user}${color}`), counted: false, representedIn: bytes(`r${color}`) },
    ...(Number(number) % 2 === 0 ? [{ list: bytes('e'), counted: true }] : []),
  ]
}

const TABLES = ['rows', 'keys', 'lists', 'counts', 'meta']

function dump(tables: Tables): object {
  return Object.fromEntries(
    TABLES.map(name => [
      name,
      Array.from(tables.table(name).range({ start: new Uint8Array() }), ({ key, value }) => [
        Buffer.from(key).toString('hex'),
        Buffer.from(value).toString('hex'),
      ]),
    ]),
  )
}

async function applied(rows: readonly Row[], rule: ListRule): Promise<object> {
  const tables = new MemoryTables()
  const view = new TableView(tables, rule)
  for (const row of rows) {
    const revision = { epoch: 'epoch', sequence: row.version }
    const entry: LogEntry = { revision, id: new Uint8Array(16), delete: [], put: [row], changes: [] }
    await tables.write(() => view.apply(entry))
  }
  return dump(tables)
}

/** Tables with these rows, without lists. */
async function loaded(rows: readonly Row[], rule: ListRule = toyRule, sequence = rows.length) {
  const tables = new MemoryTables()
  const view = new TableView(tables, rule)
  const load = new RowLoad()
  for (const row of rows) load.add(row)
  await load.write(tables)
  await tables.write(() => view.setSequence(sequence))
  return { tables, view }
}

/** Builds the lists `attempts` times, in batches of `orderedEntries` entries. */
async function built(
  rows: readonly Row[],
  rule: ListRule,
  sequence: number,
  { attempts = 1, orderedEntries = 1_000 } = {},
): Promise<object> {
  const { tables, view } = await loaded(rows, rule, sequence)
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    const build = new ListBuild(tables, view, rule, { orderedEntries })
    for (const row of [...view.batches()].flat()) {
      build.take(row)
      await build.makeRoom(new AbortController().signal)
    }
    await build.finish(new AbortController().signal)
  }
  return dump(tables)
}

function rowsOf(keys: readonly string[], values: readonly string[]): Row[] {
  return keys.map((key, index) => {
    const sequence = index + 1
    return { key: bytes(key), value: bytes(values[index]!), version: sequence, created: sequence * 65_536 }
  })
}

const user = fc.constantFrom('a', 'b', 'c')
const key = fc.oneof(
  user.map(name => `user-${name}`),
  fc.tuple(user, fc.nat(9)).map(([name, number]) => `held-${name}-${number}`),
)

test.each([
  ['lists with representatives', holdingRule, fc.constantFrom('r', 'g')],
  ['plain lists', toyRule, fc.constantFrom('ar', 'ag', 'br', 'bg', '')],
] as const)('%s are built as commits would have built them', async (_what, rule, value) => {
  const history = fc.uniqueArray(key, { maxLength: 30 }).chain(keys => {
    return fc.tuple(fc.constant(keys), fc.array(value, { minLength: keys.length, maxLength: keys.length }))
  })
  await holdsForAll(fc.tuple(history, fc.nat()), 25, async ([[keys, values], factor]) => {
    const rows = rowsOf(keys, values)
    // As in a scan, the order is arbitrary, and some rows occur twice.
    const scanned = [...rows, ...rows.slice(0, 3)].toSorted(
      (one, other) => ((one.created * factor) % 97) - ((other.created * factor) % 97),
    )
    const expected = rows.length === 0 ? await built([], rule, 0) : await applied(rows, rule)
    expect(await built(scanned, rule, rows.length)).toEqual(expected)
    // The lists are built in small batches, and in part again over the result of an earlier build.
    const inPieces = { orderedEntries: 1 + (factor % 5), attempts: 1 + (factor % 2) }
    expect(await built(scanned, rule, rows.length, inPieces)).toEqual(expected)
  })
})

test('a list build uses the newer row of a key that was re-created during the scan', async () => {
  const [older, newer] = rowsOf(['user-a', 'user-a'], ['r', 'g']) as [Row, Row]
  expect(await built([newer, older], holdingRule, 2)).toEqual(await built([newer], holdingRule, 2))
})

test('a list build that is aborted fails with the reason of the abort', async () => {
  const { tables, view } = await loaded(rowsOf(['a'], ['ar']))
  const reason = new Error('enough')
  const building = new ListBuild(tables, view, toyRule).run(AbortSignal.abort(reason))
  await expect(building).rejects.toBe(reason)
})

test('missing keys are built as commits would have written them, even in a second attempt', async () => {
  const { tables, view } = await loaded(rowsOf(['c', 'a', 'b'], ['ar', '', 'bg']))
  const whole = dump(tables)
  const [some] = tables.table('keys').range({ start: new Uint8Array() })
  for (const left of [[], [some!]]) {
    await tables.write(() => {
      const keys = tables.table('keys')
      const all = Array.from(keys.range({ start: new Uint8Array() }))
      for (const entry of all) keys.remove(entry.key)
      for (const entry of left) keys.put(entry.key, entry.value)
    })
    expect(dump(tables)).not.toEqual(whole)
    await buildKeys(tables, view, new AbortController().signal)
    expect(dump(tables)).toEqual(whole)
  }
})
