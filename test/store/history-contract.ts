/** Random histories, compared with a `Map`. A failing run prints its seed and the shortest history. */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { MemoryTables } from '#store/memory/memory-tables.ts'
import type { Requirement } from '#store/ledger.ts'
import { TableView } from '#store/embedded/table-view.ts'
import type { View } from '#store/view.ts'
import { holdsForAll } from '../support/random-runs.ts'
import type { OpenLedger } from './ledger-under-test.ts'
import {
  allRows,
  bytes,
  COLORS,
  color,
  commitId,
  commitOf,
  everyone,
  group,
  GROUPS,
  logged,
  readable,
  readableEntry,
  scanned,
  shown,
  toyRule,
  type ReadableRow,
} from './toy-rows.ts'

const RUNS = 8
const KEYS = ['ann', 'bea', 'cyd', 'dee', 'eve']

/** One step of a history. Requirements are relative to the state of the row at that step. */
interface Step {
  readonly require: readonly { key: string; kind: 'absent' | 'version' | 'created'; offBy: number }[]
  readonly delete: readonly string[]
  readonly put: readonly (readonly [string, string])[]
  /** The step whose id is sent again, counted backward from the last step. */
  readonly repeat: number | null
}

const key = fc.constantFrom(...KEYS)
const letters = fc.tuple(fc.constantFrom(...GROUPS), fc.constantFrom(...COLORS)).map(pair => pair.join(''))
const value = fc.oneof({ weight: 6, arbitrary: letters }, { weight: 1, arbitrary: fc.constant('') })
const requirement = fc.record({
  key,
  kind: fc.constantFrom('absent', 'version', 'created'),
  offBy: fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.constantFrom(-1, 1) }),
})
const step: fc.Arbitrary<Step> = fc.record({
  require: fc.array(requirement, { maxLength: 2 }),
  delete: fc.array(key, { maxLength: 2 }),
  put: fc.uniqueArray(fc.tuple(key, value), { maxLength: 4, selector: ([name]) => name }),
  repeat: fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat(3) }),
})

export function describeHistories(open: OpenLedger): void {
  test('a random history leaves the same rows, lists and log as a plain model', async () => {
    await holdsForAll(fc.array(step, { maxLength: 25 }), RUNS, async steps => {
      const subject = await open()
      try {
        const model = new Model()
        for (const next of steps) {
          const commit = model.commitFor(next)
          const expected = model.commit(commit)
          const came = await subject.ledger.commit(commitOf(commit)).then(
            revision => revision.sequence,
            (error: { code: string }) => error.code,
          )
          expect(came).toEqual(expected)
          model.expectEqual(await subject.view())
        }
        expect(await allRows(subject.ledger)).toEqual(model.rowsBy(() => true))
        const entries = await logged(subject.ledger)
        expect(entries.map(readableEntry)).toEqual(model.entries)

        const tables = new MemoryTables()
        const rebuilt = new TableView(tables, toyRule)
        for (const entry of entries) await tables.write(() => rebuilt.apply(entry))
        expect(shown(rebuilt)).toEqual(shown(await subject.view()))
      } finally {
        await subject.dispose()
      }
    })
  })
}

interface ModelCommit {
  readonly id: Uint8Array
  readonly require: readonly Requirement[]
  readonly delete: readonly string[]
  readonly put: Readonly<Record<string, string>>
}

/** Reference implementation of a ledger and its view. */
class Model {
  readonly #rows = new Map<string, ReadableRow>()
  readonly #done: { readonly commit: ModelCommit; readonly sequence: number }[] = []
  readonly entries: object[] = []

  commitFor(next: Step): ModelCommit {
    const repeated = next.repeat === null ? undefined : this.#done.at(-1 - next.repeat)
    return {
      id: repeated?.commit.id ?? commitId(),
      require: next.require.map(({ key: name, kind, offBy }): Requirement => {
        const row = this.#rows.get(name)
        if (kind === 'absent') return { key: bytes(name), absent: true }
        if (kind === 'version') return { key: bytes(name), version: (row?.version ?? 0) + offBy }
        return { key: bytes(name), created: (row?.created ?? 0) + offBy }
      }),
      delete: next.delete,
      put: Object.fromEntries(next.put),
    }
  }

  commit(commit: ModelCommit): number | 'REVISION_CONFLICT' {
    const earlier = this.#done.find(({ commit: { id } }) => id === commit.id)
    if (earlier) return earlier.sequence
    for (const required of commit.require) {
      const row = this.#rows.get(new TextDecoder().decode(required.key))
      const holds =
        'absent' in required
          ? !row
          : 'version' in required
            ? row?.version === required.version
            : 'created' in required
              ? row?.created === required.created
              : this.#done.length === required.head
      if (!holds) return 'REVISION_CONFLICT'
    }
    const sequence = this.#done.length + 1
    for (const name of commit.delete) this.#rows.delete(name)
    const put = Object.entries(commit.put).map(([name, letterPair], position) => {
      const created = this.#rows.get(name)?.created ?? sequence * 65_536 + position
      const row = { key: name, value: letterPair, version: sequence, created }
      this.#rows.set(name, row)
      return row
    })
    this.#done.push({ commit, sequence })
    this.entries.push({
      sequence,
      id: Buffer.from(commit.id).toString('hex'),
      delete: commit.delete,
      put,
      changes: [],
    })
    return sequence
  }

  rowsBy(predicate: (value: string) => boolean): ReadableRow[] {
    const rows = [...this.#rows.values()].filter(row => predicate(row.value))
    return rows.toSorted((one, other) => one.created - other.created)
  }

  expectEqual(view: View): void {
    const all = this.rowsBy(letterPair => letterPair !== '')
    expect(view.sequence()).toBe(this.#done.length)
    expect(scanned(view, everyone)).toEqual(all)
    expect(view.count(everyone)).toBe(all.length)
    for (const name of KEYS) {
      const row = view.get(bytes(name))
      expect(row && readable(row)).toEqual(this.#rows.get(name))
    }
    for (const letter of GROUPS) {
      const rows = this.rowsBy(letterPair => letterPair[0] === letter)
      expect(scanned(view, group(letter))).toEqual(rows)
      expect(view.count(group(letter))).toBe(rows.length)
    }
    for (const letter of COLORS) {
      const rows = this.rowsBy(letterPair => letterPair[1] === letter)
      expect(scanned(view, color(letter))).toEqual(rows)
      for (const offset of [1, 3])
        expect(scanned(view, color(letter), { offset })).toEqual(rows.slice(offset))
      const after = rows[0]?.created
      if (after !== undefined) expect(scanned(view, color(letter), { after })).toEqual(rows.slice(1))
    }
  }
}
