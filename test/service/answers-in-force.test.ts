/** Responses that depend on a commit that the store already shows, but that is not on disk yet. */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { RunningEnvironment } from '../support/running-environment.ts'

/** A directory on disk. With a store in memory, a commit is shown and flushed at the same time. */
const DISK = fileURLToPath(new URL('../../', import.meta.url))
/** Required number of rounds in which the test sees a commit before its response. */
const MEETINGS = 20

async function onDisk(): Promise<RunningEnvironment> {
  const directory = mkdtempSync(join(DISK, 'data-in-force-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const environment = await RunningEnvironment.open(`lmdb:${directory}`)
  await environment.resource('document', ['read'], { viewer: ['read'] })
  await environment.group('team')
  await environment.grant('team', 'viewer', 'document:d1')
  return environment
}

/** Starts a change and waits until the store shows it. Returns true if it has no response yet. */
async function shown(environment: RunningEnvironment, change: () => Promise<unknown>): Promise<boolean> {
  const before = environment.count('assignment')
  let isAnswered = false
  void change().then(() => (isAnswered = true))
  while (environment.count('assignment') === before) await new Promise(resolve => setImmediate(resolve))
  return !isAnswered
}

function mayRead(environment: RunningEnvironment, user: string): boolean {
  return environment.decide({ user, action: 'read', type: 'document', key: 'd1', tenant: null })
}

test('a repeated change is in force when its response is sent, even if the first change is not on disk yet', async () => {
  const environment = await onDisk()
  for (let [round, met] = [0, 0]; met < MEETINGS; round += 1) {
    const user = `user-${round}`
    await environment.users(user)
    const joinGroup = () => environment.join('team', user)
    if (await shown(environment, joinGroup)) met += 1
    await joinGroup()
    expect(mayRead(environment, user)).toBe(true)
  }
})

test('a change that is refused because of a concurrent change is in force when the refusal is sent', async () => {
  const environment = await onDisk()
  for (let [round, met] = [0, 0]; met < MEETINGS; round += 1) {
    const user = `user-${round}`
    const body = { key: user, role_assignments: [{ role: 'viewer', resource_instance: 'document:d1' }] }
    const create = () => environment.execute('createUser', { body })
    if (await shown(environment, create)) met += 1
    await expect(create()).rejects.toThrow('already')
    expect(mayRead(environment, user)).toBe(true)
  }
})
