/** A start during concurrent writes. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { DecisionEngine } from '#engine/engine.ts'
import { RunningEnvironment } from '../support/running-environment.ts'

const USERS = 10_000
const tenant = 'default'

const names = Array.from({ length: USERS }, (_, index) => `user-${index}`)

test('an index that is loaded during writes is in one consistent state at its first decision', async () => {
  const environment = await RunningEnvironment.open()
  await environment.resource('document', ['read'], { viewer: ['read'] })
  await environment.users(...names)
  const held = (user: string) => ({
    body: { user, role: 'viewer', resource_instance: 'document:plan', tenant },
  })
  await environment.execute('createRoleAssignment', held(names[0]!))
  const isHolder = (engine: DecisionEngine) => (user: string) =>
    engine.evaluate({ user, action: 'read', type: 'document', key: 'plan', tenant })
  let at = 0
  // Repeats until several writes occur during a load.
  for (let steps = 0; steps <= 2;) {
    const load = { isOver: false }
    const loading = environment
      .startedEngine()
      .then(engine => names.filter(isHolder(engine)))
      .finally(() => (load.isOver = true))
    for (steps = 0; !load.isOver; steps += 1) {
      // One user holds the role at any time. During a change, two users hold it.
      await environment.execute('createRoleAssignment', held(names[at + 1]!))
      await environment.execute('deleteRoleAssignment', { ...held(names[at]!), query: {} })
      at += 1
      await nextTurn()
    }
    const holders = await loading
    expect([1, 2], String(holders)).toContain(holders.length)
  }
})
