/** Sorted runs of the rows of a first load. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { LogEntry, Row } from '#store/ledger.ts'
import { withChanges } from '#store/redis/copy/scanned-rows.ts'
import { decodeRow } from '#store/keyspace/row-codec.ts'
import { RowRuns, type StoredRow } from '#store/bulk-load/row-runs.ts'
import { seed } from '../properties/seeded.ts'
import { runsOf } from '../support/random-runs.ts'
import type { ReadableRow } from './toy-rows.ts'
import { sharedDirectory } from '../support/processes/temporary-directories.ts'

const directory = sharedDirectory()
const scanDirectory = join(directory, 'scan')
const encoder = new TextEncoder()
const decoder = new TextDecoder()

function rowOf({ key, value, version, created }: ReadableRow): Row {
  return { key: encoder.encode(key), value: encoder.encode(value), version, created }
}

function readable(rows: Iterable<StoredRow>): ReadableRow[] {
  return Array.from(rows, ({ created, bytes }) => {
    const { key, value, version } = decodeRow(created, bytes)
    return { key: decoder.decode(key), value: decoder.decode(value), version, created }
  })
}

const row = fc
  .record({ place: fc.nat(40), version: fc.integer({ min: 1, max: 9 }), length: fc.nat(300) })
  .map(({ place, version, length }) => {
    return { key: `key-${place}`, value: `${version}`.repeat(length), version, created: place * 65_536 }
  })

test.each([1, 500, 1_000_000])('rows in runs of %d bytes are merged in order', runBytesMax => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 60 }), rows => {
      const runs = new RowRuns(scanDirectory, runBytesMax)
      const newest = new Map<number, ReadableRow>()
      for (const each of rows) {
        runs.add(rowOf(each))
        const known = newest.get(each.created)
        if (known === undefined || known.version < each.version) newest.set(each.created, each)
      }
      expect(runs.count).toBe(rows.length)
      const right = [...newest.values()].toSorted((one, other) => one.created - other.created)
      expect(readable(runs.inOrder()).map(({ key, version }) => [key, version])).toEqual(
        right.map(({ key, version }) => [key, version]),
      )
      expect(existsSync(scanDirectory)).toBe(false)
    }),
    { seed, numRuns: runsOf(10) },
  )
})

test('rows in runs can be longer than the read buffer', () => {
  const runs = new RowRuns(scanDirectory, 1)
  const rows = [700_000, 3, 300_000].map((length, index) => {
    return { key: `key-${index}`, value: 'v'.repeat(length), version: 1, created: 9 - index }
  })
  for (const each of rows) runs.add(rowOf(each))
  expect(readable(runs.inOrder())).toEqual(rows.toReversed())
})

test('rows after a scan with concurrent changes are those of the end of the scan', () => {
  const step = fc.record({ key: fc.nat(6), isPut: fc.boolean() })
  const history = fc.array(step, { minLength: 1, maxLength: 40 })
  fc.assert(
    fc.property(history, fc.nat(), fc.array(fc.nat(), { maxLength: 20 }), (steps, half, moments) => {
      const states: Map<string, ReadableRow>[] = [new Map()]
      const entries: LogEntry[] = []
      for (const [index, { key: number, isPut }] of steps.entries()) {
        const [sequence, key] = [index + 1, `key-${number}`]
        const state = new Map(states.at(-1))
        const former = state.get(key)
        state.delete(key)
        const created = former?.created ?? sequence * 65_536
        const written = { key, value: `at ${sequence}`, version: sequence, created }
        if (isPut) state.set(key, written)
        states.push(state)
        const change = isPut
          ? { put: [rowOf(written)], delete: [] }
          : { put: [], delete: [encoder.encode(key)] }
        const revision = { epoch: 'epoch', sequence }
        entries.push({ revision, id: new Uint8Array(16), changes: [], ...change })
      }
      const from = half % steps.length
      const runs = new RowRuns(scanDirectory, 100)
      for (const [index, moment] of [0, 1, 2, 3, 4, 5, 6, ...moments].entries()) {
        // A scan finds all rows that exist during the whole scan. It can find other rows, and rows twice.
        const state = states[from + ((moments[index] ?? moment) % (states.length - from))]!
        const found = state.get(`key-${index % 7}`)
        if (found) runs.add(rowOf(found))
      }
      const end = [...states.at(-1)!.values()].toSorted((one, other) => one.created - other.created)
      expect(readable(withChanges(runs.inOrder(), entries.slice(from)))).toEqual(end)
    }),
    { seed, numRuns: runsOf(100) },
  )
})
