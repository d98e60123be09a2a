/** The warm-up of the writer before the first reader. */
import { afterEach, expect, test, vi } from 'vitest'
import { warmUpWriter } from '#engine/shared-index/warm-up.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Change } from '#model/change.ts'

const KINDS: Record<Change['kind'], true> = {
  'type-put': true,
  'type-removed': true,
  'role-put': true,
  'role-removed': true,
  'relation-put': true,
  'relation-removed': true,
  'tenant-put': true,
  'tenant-removed': true,
  'user-put': true,
  'user-removed': true,
  'instance-put': true,
  'instance-removed': true,
  'assignment-put': true,
  'assignment-removed': true,
  'tuple-put': true,
  'tuple-removed': true,
  'condition-set-put': true,
  'condition-set-removed': true,
  'rule-put': true,
  'rule-removed': true,
  'mapping-put': true,
  'mapping-removed': true,
}

afterEach(() => vi.restoreAllMocks())

test('a warm-up makes every kind of change, collects all removed entities, and invalidates and builds closures', () => {
  const apply = vi.spyOn(SharedIndexWriter.prototype, 'apply')
  const handle = vi.spyOn(SharedIndexWriter.prototype, 'handle', 'get')
  const writer = () => apply.mock.contexts[0] as SharedIndexWriter
  let before: ReturnType<SharedIndexWriter['figures']> | null = null
  let steps = 0
  for (const _ of warmUpWriter()) {
    if (handle.mock.calls.length === 0) before = writer().figures()
    steps++
  }
  const kinds = apply.mock.calls.flatMap(([changes]) => Array.from(changes, ({ kind }) => kind))
  expect(new Set(kinds)).toEqual(new Set(Object.keys(KINDS)))
  // The warm-up also pauses between commits.
  expect(steps).toBeGreaterThan(apply.mock.calls.length)
  expect(writer().collect(1)).toBe(false)
  const { assignments, tuples, records, ...work } = writer().figures()
  // The warm-up leaves the entities with which it began, as work for the next round.
  expect({ assignments, tuples, records }).toEqual({
    assignments: before!.assignments,
    tuples: before!.tuples,
    records: before!.records,
  })
  expect(Math.min(work.containersVoided, work.closuresBuilt)).toBeGreaterThan(0)
})
