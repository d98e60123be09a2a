/** Who made a key, and when it was last used, as the list of keys tells it. */
import { expect, test } from 'vitest'
import type { ApiKey } from '#model/wire/api-key.ts'
import { KEY_USE_GRAIN_MS } from '#model/limits.ts'
import {
  ADMIN_KEY,
  API_KEY,
  type Client,
  type Envelope,
  question,
  startedService,
} from '#testing/processes/running-service.ts'

const KEYS = '/v2/api-key'
const OF_DEFAULT = { project_id: 'default', environment_id: 'default' }

async function made(verdict: Client, body: unknown, key = ADMIN_KEY) {
  const answer = await verdict.send<ApiKey & { secret: string }>('POST', KEYS, { key, body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body
}

async function listed(verdict: Client): Promise<ApiKey[]> {
  return (await verdict.send<Envelope<ApiKey>>('GET', KEYS, { key: ADMIN_KEY })).body.data
}

async function shown(verdict: Client, { id }: { readonly id: string }): Promise<ApiKey> {
  return (await listed(verdict)).find(key => key.id === id)!
}

test('a key says with which other key it was made, and what that was called, also when that is gone', async () => {
  const verdict = await startedService()
  const ofOperations = await made(verdict, { name: 'Operations' })
  expect(ofOperations.created_by).toEqual({ api_key_id: null, name: null })
  const ours = await made(verdict, { ...OF_DEFAULT, name: 'Ours' }, ofOperations.secret)
  const byOperations = { api_key_id: ofOperations.id, name: 'Operations' }
  expect(ours.created_by).toEqual(byOperations)
  // An environment comes with a key.
  const key = { key: ofOperations.secret }
  const body = { key: 'staging', name: 'Staging' }
  expect((await verdict.send('POST', '/v2/projects/default/envs', { ...key, body })).status).toBe(200)
  const { body: first } = await verdict.send<ApiKey>('GET', `${KEYS}/default/staging`, key)
  expect(first.created_by).toEqual(byOperations)
  const rotated = await verdict.send<ApiKey>('POST', `${KEYS}/${ours.id}/rotate-secret`, { key: ADMIN_KEY })
  expect(rotated.body.created_by).toEqual(byOperations)
  await verdict.send('DELETE', `${KEYS}/${ofOperations.id}`, { key: ADMIN_KEY })
  expect((await shown(verdict, ours)).created_by).toEqual(byOperations)
  // The one that the settings give.
  expect((await listed(verdict)).map(each => each.created_by)).toContain(undefined)
})

test('a key that was used says so, to ten minutes, whichever thread let it in; one that was refused does not', async () => {
  const verdict = await startedService({ httpThreads: 2 })
  const [used, unused] = [
    await made(verdict, { ...OF_DEFAULT, name: 'used' }),
    await made(verdict, { ...OF_DEFAULT, name: 'unused' }),
  ]
  expect([used.last_used_at, unused.last_used_at]).toEqual([null, null])
  const from = Date.now()
  const body = question('nobody', 'read', 'document')
  expect((await verdict.send('POST', '/allowed', { key: used.secret, body })).status).toBe(200)
  const wrong = { key: `${unused.secret}x`, body }
  expect((await verdict.send('POST', '/allowed', wrong)).status).toBe(401)
  let at: string | null = null
  while (at === null) at = (await shown(verdict, used)).last_used_at
  // When those ten minutes began, but no sooner than the key was made.
  if (at !== used.created_at) expect(Date.parse(at) % KEY_USE_GRAIN_MS).toBe(0)
  expect(at >= used.created_at).toBe(true)
  expect(Date.parse(at)).toBeGreaterThan(from - KEY_USE_GRAIN_MS)
  expect(Date.parse(at)).toBeLessThanOrEqual(Date.now())
  expect((await shown(verdict, unused)).last_used_at).toBe(null)
  // The answer says what the list does.
  const { body: one } = await verdict.send<ApiKey>('GET', `${KEYS}/${used.id}`, { key: ADMIN_KEY })
  expect(one.last_used_at).toBe(at)
  expect((await verdict.send('GET', `${KEYS}/scope`, { key: API_KEY })).status).toBe(200)
})

test('keys are found by a part of their name or of their id', async () => {
  const verdict = await startedService()
  const [shop] = [await made(verdict, { ...OF_DEFAULT, name: 'The Shop' }), await made(verdict, OF_DEFAULT)]
  const found = async (search: string) => {
    const path = `${KEYS}?search=${encodeURIComponent(search)}`
    const { body } = await verdict.send<Envelope<ApiKey>>('GET', path, { key: ADMIN_KEY })
    expect(body.total_count).toBe(body.data.length)
    return body.data.map(({ id }) => id)
  }
  expect(await found('shop')).toEqual([shop.id])
  expect(await found(shop.id)).toEqual([shop.id])
  expect(await found('nobody')).toEqual([])
})
