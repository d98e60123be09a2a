/** Pages of a long audit log, and the number of rows that are read for them. */
import { expect, test } from 'vitest'
import { listAuditEntries } from '#management/audit/audit.ts'
import { RecordReader } from '#management/drafts/record-reader.ts'
import { YIELD_ROWS } from '#scheduling/resumable.ts'
import type { AuditEntry, AuditQuery } from '#model/wire/organization/audit.ts'
import { storedEnvironment } from '../../support/environment-service.ts'

const ENTRIES = 3_000
const USERS = 7

/** A log with one entry per second, from seven users in rotation. */
async function longLog() {
  const { view, commit } = await storedEnvironment()
  for (let from = 0; from < ENTRIES; from += 1_000) {
    await commit(records => {
      for (let n = from; n < from + 1_000; n += 1) {
        records.put({
          kind: 'audit',
          id: idOf(n),
          createdAt: n * 1_000,
          keyId: null,
          requestId: `request-${n}`,
          operation: n % 2 === 0 ? 'updateUser' : 'assignUserRole',
          input: { user_id: `user-${n % USERS}` },
          isInputCut: false,
          sequence: null,
          aboutNames: null,
          aboutIds: null,
          actor: null,
        })
      }
    })
  }
  return new RecordReader(view)
}

function idOf(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`
}

/** Reads a page, and counts how often the read yields. */
function read(records: RecordReader, query: AuditQuery) {
  const reading = listAuditEntries({ records }, { query })
  for (let stops = 0; ; stops += 1) {
    const step = reading.next()
    if (step.done) return { ...step.value, stops }
  }
}

function numbersOf(entries: readonly AuditEntry[]): number[] {
  return entries.map(({ id }) => Number(id.slice(-12)))
}

test('pages of 3,000 audit entries match the whole log in both orders, with and without filters', async () => {
  const records = await longLog()
  const all = Array.from({ length: ENTRIES }, (_, n) => n)
  const cases: readonly (readonly [AuditQuery, (n: number) => boolean])[] = [
    [{}, () => true],
    [{ about: 'user:user-3' }, n => n % USERS === 3],
    [{ about: 'user:user-9' }, () => false],
    [{ operation: 'updateUser' }, n => n % 2 === 0],
  ]
  for (const [filters, isWanted] of cases) {
    const oldest = all.filter(isWanted)
    const pageCount = Math.ceil(oldest.length / 100)
    for (const order of ['newest', 'oldest'] as const) {
      const expected = order === 'newest' ? oldest.toReversed() : oldest
      // The first 25 pages contain half of the entries that are filtered by operation.
      for (const page of [1, 7, 25, pageCount, pageCount + 1].filter(number => number > 0)) {
        const found = read(records, { ...filters, order, page, per_page: 100 })
        expect(numbersOf(found.data), JSON.stringify([filters, order, page])).toEqual(
          expected.slice((page - 1) * 100, page * 100),
        )
        expect([found.total_count, found.page_count]).toEqual([oldest.length, pageCount])
      }
    }
  }
})

test('a filter over the audit log yields every few entries; a page without a filter reads only its entries', async () => {
  const records = await longLog()
  const { stops } = read(records, { about: 'user:user-9', per_page: 100 })
  expect(stops).toBe(Math.floor(ENTRIES / YIELD_ROWS))
  // The total count and the page are read in one pass.
  expect(read(records, { about: 'user:user-3', per_page: 100 }).stops).toBe(stops)
  for (const page of [1, 15, 30]) {
    expect(read(records, { page, per_page: 100 }).stops).toBeLessThan(10)
  }
})
