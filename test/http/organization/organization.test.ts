/** The organization, and endpoints of the commercial service that do not exist. */
import { expect, test } from 'vitest'
import type { Organization } from '#model/wire/organization/organization.ts'
import type { EnvironmentStats } from '#model/wire/organization/environment.ts'
import { ADMIN_KEY, API_KEY, FACTS, sharedService } from '#testing/processes/running-service.ts'
import { refusal } from '../../support/calls/refusals.ts'

const verdict = await sharedService()
const scope = await verdict.get<{ organization_id: string }>('/v2/api-key/scope')
const { organization_id: id } = scope.body

test.each([API_KEY, ADMIN_KEY])(
  'the single organization is found by key and by id, with the key %s',
  async key => {
    const read = async (path: string) => (await verdict.send<Organization>('GET', path, { key })).body
    const organization = await read('/v2/orgs/default')
    expect(organization).toMatchObject({ id, key: 'default', is_enterprise: false, settings: null })
    const project = await verdict.admin<{ created_at: string }>('GET', '/v2/projects/default')
    expect(organization.created_at).toBe(project.body.created_at)
    for (const path of [`/v2/orgs/${id}`, '/v2/orgs/active/org'])
      expect(await read(path)).toEqual(organization)
    expect(await read('/v2/orgs')).toEqual([organization])
    expect(await read('/v2/orgs?page=2')).toEqual([])
    expect(await read('/v2/orgs?search=DEF')).toEqual([organization])
    expect(await read('/v2/orgs?search=other')).toEqual([])
    expect(refusal(await verdict.send('GET', '/v2/orgs/other', { key }))).toEqual([404, 'NOT_FOUND'])
  },
)

test('the member list is always empty', async () => {
  for (const query of ['', '?search=a', '?project_id=default&env_id=default', '?env_id=default']) {
    expect((await verdict.get(`/v2/members${query}`)).body, query).toEqual([])
  }
})

test('mau is always 0, because decisions do not count users', async () => {
  await verdict.user('ann')
  expect(await verdict.allows('ann', 'read', 'document:d')).toBe(false)
  const path = '/v2/projects/default/envs/default/stats'
  const { body } = await verdict.admin<EnvironmentStats>('GET', path)
  expect(body.stats).toMatchObject({ users: 1, mau: 0 })
})

test.each([
  `${FACTS}/user_invites`,
  `${FACTS}/access_requests`,
  `${FACTS}/operation_approvals`,
  '/v2/pdps/default/default/audit_logs',
  '/v2/pdps/default/default/configs',
  '/v2/pdps/me/config',
  '/v2/internal/opal_data/default',
  '/v2/projects/default/repos',
  '/v2/elements/default/default/config',
  '/v2/orgs/default/invites',
  '/v2/history',
  '/v2/policy_guards/scopes',
])('%s does not exist', async path => {
  expect(refusal(await verdict.get(path))).toEqual([404, 'NOT_FOUND'])
})
