/** When a copy last had everything, as a later process reads it: never later than it was, whatever became of the clocks. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type SyncClocks, LastSyncRecord } from '#store/redis/last-sync-record.ts'

const directory = mkdtempSync(join(tmpdir(), 'verdict-heard-'))
afterAll(() => rmSync(directory, { recursive: true }))

const HOUR_MS = 3_600_000
const NOTED_AT = { wallMs: 1_000 * HOUR_MS, sinceBootMs: HOUR_MS, boot: 'this boot' }

function clocks({
  wallMs,
  sinceBootMs,
  boot,
}: typeof NOTED_AT | { wallMs: number; sinceBootMs: number; boot: null }): SyncClocks {
  return { wallMs: () => wallMs, sinceBootMs: () => sinceBootMs, boot }
}

/** What is known so many milliseconds later, by clocks that differ by what is given. */
function agoAfter(
  elapsedMs: number,
  others: { readonly wallSetMs?: number; readonly isOtherBoot?: boolean } = {},
) {
  const { wallSetMs = 0, isOtherBoot = false } = others
  const note = new LastSyncRecord(directory, 'a store', clocks(NOTED_AT))
  note.note(100)
  note.close()
  const later = {
    wallMs: NOTED_AT.wallMs + elapsedMs + wallSetMs,
    sinceBootMs: isOtherBoot ? elapsedMs : NOTED_AT.sinceBootMs + elapsedMs,
    boot: isOtherBoot ? 'the next boot' : NOTED_AT.boot,
  }
  return new LastSyncRecord(directory, 'a store', clocks(later)).agoMs()
}

test('it is as long ago as it was when it was noted, and what has passed since', () => {
  expect(agoAfter(5_000)).toBe(5_100)
  expect(agoAfter(5_000, { isOtherBoot: true })).toBe(5_100)
})

test('a clock that was set back makes it no younger as long as the machine runs', () => {
  expect(agoAfter(5_000, { wallSetMs: -HOUR_MS })).toBe(5_100)
  expect(agoAfter(5_000, { wallSetMs: -4_000 })).toBe(5_100)
})

test('a clock that was set forward makes it older', () => {
  expect(agoAfter(5_000, { wallSetMs: HOUR_MS })).toBe(HOUR_MS + 5_100)
})

test('a moment in the future is none', () => {
  expect(agoAfter(5_000, { wallSetMs: -HOUR_MS, isOtherBoot: true })).toBeNull()
})

test('where nothing names the boot the clock of the wall counts', () => {
  const nameless = { ...NOTED_AT, boot: null }
  new LastSyncRecord(directory, 'a store', clocks(nameless)).note(0)
  const later = { ...nameless, wallMs: nameless.wallMs + 7, sinceBootMs: 0 }
  expect(new LastSyncRecord(directory, 'a store', clocks(later)).agoMs()).toBe(7)
})

test('what was heard from another store counts for nothing', () => {
  new LastSyncRecord(directory, 'a store', clocks(NOTED_AT)).note(0)
  expect(new LastSyncRecord(directory, 'another', clocks(NOTED_AT)).agoMs()).toBeNull()
})

test.each([
  '',
  '{',
  'null',
  '{}',
  '{"store":"a store"}',
  '{"store":"a store","wallMs":"soon"}',
  '\0'.repeat(256),
])('a file that says %j says nothing', text => {
  writeFileSync(join(directory, 'heard'), text)
  expect(new LastSyncRecord(directory, 'a store', clocks(NOTED_AT)).agoMs()).toBeNull()
})

test('no file says nothing, and no directory keeps nobody from going on', () => {
  const nowhere = new LastSyncRecord(join(directory, 'nowhere'), 'a store')
  nowhere.note(0)
  expect(nowhere.agoMs()).toBeNull()
})
