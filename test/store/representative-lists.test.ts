/** Lists with representatives and lists with displaced rows (`view.ts`), after random commits. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemoryTables } from '#store/memory/memory-tables.ts'
import type { LogEntry } from '#store/ledger.ts'
import { TableView } from '#store/embedded/table-view.ts'
import type { ListEntry, ListRule } from '#store/view.ts'
import { holdsForAll } from '../support/random-runs.ts'
import { bytes, text } from './toy-rows.ts'

const HOLDERS = ['a', 'b', 'c']
const holders = bytes('holders')
const idle = bytes('idle')
const byId = (owner: string) => bytes(`id:${owner}`)
const held = (owner: string) => bytes(`held:${owner}`)
const PARITIES = ['0', '1']
const ofParity = (parity: string) => bytes(`parity:${parity}`)
const isOfParity = (key: string, parity: string) =>
  key.startsWith('thing') && String(Number(key.split(':')[1]) % 2) === parity

/** The row `owner:a` is a holder. The row `thing:7:a` is an item of the holder `a`. */
const rule: ListRule = ({ key }): ListEntry[] => {
  const [kind, ...rest] = text(key).split(':')
  const owner = rest.at(-1)!
  if (kind === 'owner') {
    return [
      { list: idle, counted: true, unless: held(owner) },
      { list: byId(owner), counted: false },
    ]
  }
  const displaces = { owner: byId(owner), from: idle }
  const parity = String(Number(rest[0]) % 2)
  return [
    { list: held(owner), counted: true, representedIn: holders, displaces },
    {
      list: bytes(`both:${owner}:${parity}`),
      counted: false,
      representedIn: ofParity(parity),
      within: held(owner),
    },
  ]
}

const anyRow = fc.oneof(
  fc.constantFrom(...HOLDERS).map(owner => `owner:${owner}`),
  fc.tuple(fc.nat(3), fc.constantFrom(...HOLDERS)).map(([number, owner]) => `thing:${number}:${owner}`),
)
const anyCommit = fc.record({
  put: fc.uniqueArray(anyRow, { maxLength: 4 }),
  delete: fc.uniqueArray(anyRow, { maxLength: 4 }),
})

test('the oldest item of each holder represents the holder in a list, and holders without items are listed as idle', async () => {
  const anyHistory = fc.tuple(fc.array(anyCommit, { maxLength: 12 }), fc.nat())
  await holdsForAll(anyHistory, 60, async ([commits, back]) => {
    const tables = new MemoryTables()
    const view = new TableView(tables, rule)
    const rows = new Map<string, number>()
    const entries: LogEntry[] = []
    for (const [index, commit] of commits.entries()) {
      const sequence = index + 1
      for (const key of commit.delete) rows.delete(key)
      const put = commit.put.map((key, position) => {
        const created = rows.get(key) ?? sequence * 100 + position
        rows.set(key, created)
        return { key: bytes(key), value: bytes(''), version: sequence, created }
      })
      const revision = { epoch: 'e', sequence }
      const entry = { revision, id: bytes('id'), delete: commit.delete.map(bytes), put, changes: [] }
      entries.push(entry)
      await tables.write(() => view.apply(entry))
      // Entries that are applied again change nothing.
      await tables.write(() => view.apply(entry))
      for (const former of entries.slice(back % entries.length)) await tables.write(() => view.apply(former))

      const inOrder = [...rows].toSorted(([, left], [, right]) => left - right).map(([key]) => key)
      const oldest = HOLDERS.flatMap(
        owner => inOrder.find(key => key.startsWith('thing') && key.endsWith(owner)) ?? [],
      )
      expect(namesIn(view, holders)).toEqual(inOrder.filter(key => oldest.includes(key)))
      const isBusy = (owner: string) => oldest.some(key => key.endsWith(owner))
      const lazy = inOrder.filter(key => key.startsWith('owner') && !isBusy(key.slice(-1)))
      expect(namesIn(view, idle)).toEqual(lazy)
      expect([view.count(holders), view.count(idle)]).toEqual([oldest.length, lazy.length])
      for (const parity of PARITIES) {
        const first = HOLDERS.flatMap(
          owner => inOrder.find(key => isOfParity(key, parity) && key.endsWith(owner)) ?? [],
        )
        expect(namesIn(view, ofParity(parity))).toEqual(inOrder.filter(key => first.includes(key)))
        expect(view.count(ofParity(parity))).toBe(first.length)
      }
    }
  })
})

function namesIn(view: TableView, list: Uint8Array): string[] {
  return [...view.scan(list)].map(row => text(row.key))
}
