/**
 * A short form of the benchmark of noisy neighbors (`bench/hostile`). During each attack, a well-behaved
 * tenant of another environment is served correctly, and no request fails with an internal error.
 */
import { afterAll, expect, test } from 'vitest'
import { HostileClient } from '#testing/hostile/caller.ts'
import { HOSTILES, type Size, textOf } from '#testing/hostile/hostiles.ts'
import { RULED_HOSTILES, ruledTextOf } from '#testing/hostile/ruled-hostiles.ts'
import { arrangePolite, livePolitely } from '#testing/hostile/polite.ts'
import { neighbourOf, sharedService } from '#testing/processes/running-service.ts'
import { sharedDirectory } from '../../support/processes/temporary-directories.ts'

const SMALL: Size = {
  groups: 200,
  instances: 200,
  actions: 20,
  roles: 20,
  rules: 100,
  elements: 200,
  bodyBytes: 300_000,
  attributeBytes: 20_000,
  callers: 8,
}
const TURNS = 12
/** Statuses of requests that succeed or are rejected with a reason. */
const IN_ORDER = [0, 200, 201, 204, 400, 404, 409, 413, 422, 429, 503]
const IMPORT = '/v2/projects/default/envs/hostile/import?replace=true'
const PACE = { decisionsPerSecond: 100, writesPerSecond: 50 }

const verdict = await sharedService({ storeUrl: `lmdb:${sharedDirectory()}` })
const keys = {
  polite: await neighbourOf(verdict, 'polite'),
  hostile: await neighbourOf(verdict, 'hostile'),
  ruled: await neighbourOf(verdict, 'ruled'),
}
const polite = new HostileClient(verdict.address, keys.polite)
const hostile = new HostileClient(verdict.address, keys.hostile)
const ruled = new HostileClient(verdict.address, keys.ruled)
afterAll(() => {
  polite.close()
  hostile.close()
  ruled.close()
})
await arrangePolite(polite)
await hostile.done('POST', IMPORT, textOf(SMALL))
await ruled.done('POST', '/v2/projects/default/envs/ruled/import?replace=true', ruledTextOf(SMALL))

test.each([
  ...Object.entries(HOSTILES).map(([name, attack]) => [name, hostile, attack] as const),
  ...Object.entries(RULED_HOSTILES).map(([name, attack]) => [name, ruled, attack] as const),
])('during the attack "%s" a well-behaved tenant is served correctly', async (_, attacker, attack) => {
  let turns = 0
  const statuses: number[] = []
  const goOn = async (): Promise<void> => {
    while (turns < TURNS) statuses.push(await attack(attacker, SMALL, turns++))
  }
  let isOver = false
  const attacking = Promise.all(Array.from({ length: SMALL.callers }, goOn)).then(() => {
    isOver = true
  })
  const felt = await livePolitely(polite, PACE, () => isOver)
  await attacking
  expect(felt.failures).toEqual([])
  expect(felt.decisions.length).toBeGreaterThan(0)
  expect(statuses.filter(status => !IN_ORDER.includes(status))).toEqual([])
  expect((await verdict.get('/ready')).status).toBe(200)
})

test('a change of a well-behaved tenant does not wait for sixty queued pages of another tenant', async () => {
  await hostile.done('POST', IMPORT, textOf(SMALL))
  const many = new HostileClient(verdict.address, keys.hostile, 60)
  const inFront: number[] = []
  // A change takes a few event-loop iterations, and a page of two megabytes takes tens of them. A single
  // change can be late, but not every change.
  while (inFront.every(pages => pages >= 15)) {
    expect(inFront.length).toBeLessThan(20)
    let answered = 0
    const pages = Array.from({ length: 60 }, async () => {
      const { status } = await many.send('GET', '/v2/facts/default/hostile/users?per_page=100')
      answered += 1
      return status
    })
    await Promise.race(pages)
    const before = answered
    await polite.done('POST', '/v2/facts/default/polite/users', { key: `late-${inFront.length}` })
    inFront.push(answered - before)
    expect(new Set(await Promise.all(pages))).toEqual(new Set([200]))
  }
  many.close()
})
