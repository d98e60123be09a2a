/** The time of the last synchronization of a replica, as a later process with other clocks reads it. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type SyncClocks, LastSyncRecord } from '#store/redis/copy/last-sync-record.ts'
import { sharedDirectory } from '../../support/processes/temporary-directories.ts'

const directory = sharedDirectory()

const HOUR_MS = 3_600_000
const NOTED_AT = { wallMs: 1_000 * HOUR_MS, sinceBootMs: HOUR_MS, boot: 'this boot' }

function clocks({
  wallMs,
  sinceBootMs,
  boot,
}: typeof NOTED_AT | { wallMs: number; sinceBootMs: number; boot: null }): SyncClocks {
  return { wallMs: () => wallMs, sinceBootMs: () => sinceBootMs, boot }
}

/** Notes an age, and returns the age that is read `elapsedMs` later with changed clocks. */
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

test('the age of the last synchronization is the noted age plus the elapsed time', () => {
  expect(agoAfter(5_000)).toBe(5_100)
  expect(agoAfter(5_000, { isOtherBoot: true })).toBe(5_100)
})

test('setting the clock back does not reduce the age of the last synchronization within one boot', () => {
  expect(agoAfter(5_000, { wallSetMs: -HOUR_MS })).toBe(5_100)
  expect(agoAfter(5_000, { wallSetMs: -4_000 })).toBe(5_100)
})

test('setting the clock forward increases the age of the last synchronization', () => {
  expect(agoAfter(5_000, { wallSetMs: HOUR_MS })).toBe(HOUR_MS + 5_100)
})

test('a record of a last synchronization in the future is ignored', () => {
  expect(agoAfter(5_000, { wallSetMs: -HOUR_MS, isOtherBoot: true })).toBeNull()
})

test('the age of the last synchronization is computed from the wall clock if the boot is unknown', () => {
  const nameless = { ...NOTED_AT, boot: null }
  new LastSyncRecord(directory, 'a store', clocks(nameless)).note(0)
  const later = { ...nameless, wallMs: nameless.wallMs + 7, sinceBootMs: 0 }
  expect(new LastSyncRecord(directory, 'a store', clocks(later)).agoMs()).toBe(7)
})

test('a record of the last synchronization with another store is ignored', () => {
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
])('a record of the last synchronization that contains %j is ignored', text => {
  writeFileSync(join(directory, 'heard'), text)
  expect(new LastSyncRecord(directory, 'a store', clocks(NOTED_AT)).agoMs()).toBeNull()
})

test('reading and noting the last synchronization are not errors if the record or its directory is missing', () => {
  const nowhere = new LastSyncRecord(join(directory, 'nowhere'), 'a store')
  nowhere.note(0)
  expect(nowhere.agoMs()).toBeNull()
})
