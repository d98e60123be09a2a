/** Entities stay deleted if their purge is interrupted by a kill (native.md C.7). */
import { expect, onTestFinished, test } from 'vitest'
import { StoreLook } from '#testing/processes/store-look.ts'
import { FACTS, SCHEMA, storeDirectory } from '#testing/processes/running-service.ts'
import { startedProcess } from '../../support/processes/started-process.ts'

/** One less than the limit of a bulk. The purge of these users takes about a second. */
const HOLDERS = 9_999

test('a tenant whose purge was interrupted stays deleted, and a new tenant with its key is kept', async () => {
  // Repeats the test until both kills interrupt the purge.
  while (!(await wasKilledInItsPurge()));
})

/** Deletes a tenant and kills the process twice during its purge. Returns false if a kill came too late. */
async function wasKilledInItsPurge(): Promise<boolean> {
  const cwd = storeDirectory()
  const start = () => startedProcess({}, { cwd })
  const counted = `${FACTS}/role_assignments?include_total_count=true&per_page=1`

  const first = start()
  await first.call('POST', `${SCHEMA}/roles`, { key: 'member', name: 'Member' })
  for (const key of ['acme', 'other']) await first.call('POST', `${FACTS}/tenants`, { key, name: key })
  const body = Array.from({ length: HOLDERS }, (_, n) => ({ user: `u${n}`, role: 'member', tenant: 'acme' }))
  await first.call('POST', `${FACTS}/role_assignments/bulk?missing_user_policy=create`, [
    ...body,
    { user: 'u0', role: 'member', tenant: 'other' },
  ])
  const { environment_id } = await first.call<{ environment_id: string }>('GET', '/v2/api-key/scope')
  const look = new StoreLook(`${cwd}/data`, environment_id)
  onTestFinished(() => look.close())
  await first.call('DELETE', `${FACTS}/tenants/acme`)
  expect(await first.call('GET', counted)).toMatchObject({ total_count: 1 })
  await look.until(() => look.count('assignment') < HOLDERS / 2)
  await first.end('SIGKILL')
  await look.replay()
  const left = look.count('assignment')
  if (look.count('purge') === 0) return false

  const second = start()
  expect(await second.call('GET', counted)).toMatchObject({ total_count: 1 })
  await second.call('POST', `${FACTS}/tenants`, { key: 'acme', name: 'New' })
  await second.call('POST', `${FACTS}/role_assignments`, { user: 'u1', role: 'member', tenant: 'acme' })
  await look.until(() => look.count('assignment') < left / 2)
  await second.end('SIGKILL')
  await look.replay()
  const isKilledAgain = look.count('purge') === 1

  const third = start()
  await look.until(() => look.count('purge') === 0)
  expect(look.count('assignment')).toBe(2)
  const all = await third.call<{ user: string; tenant: string }[]>('GET', `${FACTS}/role_assignments`)
  expect(all.map(({ user, tenant }) => [user, tenant])).toEqual([
    ['u0', 'other'],
    ['u1', 'acme'],
  ])
  const users = await third.call('GET', `${FACTS}/tenants/acme/users`)
  expect(users).toMatchObject({ total_count: 1, data: [{ key: 'u1' }] })
  await third.end('SIGKILL')
  return isKilledAgain
}
