/** A commit of many facts is prepared in steps, so that the thread can do other work between the steps. */
import { expect, test } from 'vitest'
import type { Change } from '#model/change.ts'
import { assign, instance, resourceType, role, tenant, user } from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'

const COUNT = 2_000
const keys = Array.from({ length: COUNT }, (_, n) => `doc-${n}`)
const commit: readonly Change[] = keys.flatMap(key => [
  instance(`doc:${key}`),
  assign('alice', 'reader', `doc:${key}`),
])

test('a large commit is invisible before its last step, whatever else the thread does between steps', () => {
  const engine = SharedEngine.with([
    tenant('default'),
    user('alice'),
    resourceType('doc', 'read'),
    role('doc', 'reader', { can: ['read'] }),
  ])
  const mayRead = (key: string) =>
    engine.evaluate({ user: 'alice', action: 'read', type: 'doc', key, tenant: null })
  const steps = engine.writer.applyInSteps([...commit])
  let count = 0
  for (let step = steps.next(); !step.done; step = steps.next()) {
    expect(mayRead(keys[0]!)).toBe(false)
    expect(mayRead(keys.at(-1)!)).toBe(false)
    engine.writer.reserveCapacity([
      user('bob'),
      instance('doc:other'),
      assign('alice', 'reader', 'doc:other'),
    ])()
    expect(engine.writer.collect(1)).toBe(true)
    expect(engine.writer.precompute(1)).toBe(true)
    count += 1
  }
  expect(keys.filter(mayRead)).toEqual(keys)
  expect(mayRead('other')).toBe(false)
  expect(count).toBeGreaterThan(commit.length / 256)
})
