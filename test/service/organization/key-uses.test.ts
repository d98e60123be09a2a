/** Times of the last uses of API keys, which are written rarely and in one commit. */
import { expect, test } from 'vitest'
import { KeyUses } from '#management/organization/key-uses.ts'
import { KEY_USE_GRAIN_MS } from '#model/limits.ts'
import type { ApiKey } from '#model/wire/organization/api-key.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { decodeAs } from '#store/keyspace/record-codec.ts'
import { organizationService } from '../../support/running-organization.ts'

const NOON = Date.UTC(2026, 0, 1, 12)

async function keysOf(count: number) {
  const { organization, service, principal } = await organizationService()
  const ids: string[] = []
  for (let index = 0; index < count; index += 1) {
    const { answer } = await service.execute('createApiKey', principal, { body: {} })
    ids.push((answer as ApiKey).id)
  }
  const { view } = organization.store
  const revoke = (id: string) => service.execute('deleteApiKey', principal, { params: { api_key_id: id } })
  const written = (): (number | null)[] => {
    const keys = Array.from(view.scan(lists.all('api-key')), row => decodeAs('api-key', row))
    return ids.map(id => keys.find(key => key.id === id)?.lastUsedAt ?? null)
  }
  return { organization, ids, revoke, written, commits: () => view.sequence() }
}

test('uses of several keys are written in one commit, and nothing is written without new uses', async () => {
  const { organization, ids, written, commits } = await keysOf(3)
  let now = NOON + 1
  const uses = new KeyUses(() => now)
  const before = commits()
  await uses.write(organization)
  expect([commits(), written()]).toEqual([before, [null, null, null]])
  for (let time = 0; time < 1_000; time += 1) uses.note(ids[0]!)
  uses.note(ids[1]!)
  expect([uses.lastUseOf(ids[0]!), uses.lastUseOf(ids[2]!)]).toEqual([NOON, null])
  await uses.write(organization)
  expect([commits(), written()]).toEqual([before + 1, [NOON, NOON, null]])
  // The time is in the rows now, and no longer in memory.
  expect(uses.lastUseOf(ids[0]!)).toBe(null)
  uses.note(ids[0]!)
  await uses.write(organization)
  expect(commits()).toBe(before + 1)
  now += KEY_USE_GRAIN_MS
  uses.note(ids[0]!)
  await uses.write(organization)
  expect([commits(), written()]).toEqual([before + 2, [NOON + KEY_USE_GRAIN_MS, NOON, null]])
})

test('the latest use wins regardless of the order of writes by several nodes, and deleted keys are skipped', async () => {
  const { organization, ids, revoke, written } = await keysOf(2)
  const [early, late] = [new KeyUses(() => NOON), new KeyUses(() => NOON + KEY_USE_GRAIN_MS)]
  for (const uses of [early, late]) for (const id of ids) uses.note(id)
  await revoke(ids[1]!)
  await Promise.all([late.write(organization), early.write(organization)])
  expect(written()).toEqual([NOON + KEY_USE_GRAIN_MS, null])
  early.note(ids[0]!)
  await early.write(organization)
  expect(written()).toEqual([NOON + KEY_USE_GRAIN_MS, null])
})

test('a use during a write is written by the next write', async () => {
  const { organization, ids, written } = await keysOf(2)
  let now = NOON
  const uses = new KeyUses(() => now)
  for (const id of ids) uses.note(id)
  const writing = uses.write(organization)
  now += KEY_USE_GRAIN_MS
  uses.note(ids[0]!)
  await writing
  expect(uses.lastUseOf(ids[0]!)).toBe(now)
  await uses.write(organization)
  expect(written()).toEqual([now, NOON])
})
