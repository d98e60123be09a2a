/** Expiring grants in exports and imports: expiration times are preserved, and may be in the past. */
import { expect, test } from 'vitest'
import type { RelationshipTuple } from '#entities/relationship-tuple.ts'
import type { RoleAssignment } from '#entities/role-assignment.ts'
import {
  type Client,
  sharedService,
  groupPath,
  grantBody,
  memberPath,
  neighbourOf,
} from '#testing/processes/running-service.ts'
import { content, contentOf, importInto, type Line } from '../../support/content.ts'

const END = '2131-05-01T10:00:00.123Z'
const AFTER = '2131-05-01T10:00:00.124Z'

const doc = {
  kind: 'resource',
  key: 'doc',
  name: 'Doc',
  actions: {},
  roles: { r: { name: 'R' } },
  relations: { over: 'doc' },
}
const entities: readonly Line[] = [
  doc,
  { kind: 'role', key: 'held', name: 'Held' },
  { kind: 'tenant', key: 't', name: 'T' },
  { kind: 'user', key: 'u' },
  { kind: 'instance', resource: 'doc', key: 'd1', tenant: 't' },
  { kind: 'instance', resource: 'doc', key: 'd2', tenant: 't' },
]
const inTenant = { kind: 'assignment', user: 'u', role: 'held', tenant: 't' }
const onInstance = { kind: 'assignment', user: 'u', role: 'r', resource_instance: 'doc:d1' }
const tuple = { kind: 'tuple', subject: 'doc:d1', relation: 'over', object: 'doc:d2' }

const exportOf = (environment: string) => `/v2/projects/default/envs/${environment}/export`

function factsIn(text: string): Line[] {
  const lines = text.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line) as Line]))
  return lines.filter(({ kind }) => kind === 'assignment' || kind === 'tuple')
}

/** Numbers of assignments and tuples of the environment that expire before a time. */
async function endingBefore(verdict: Client, environment: string, key: string, moment: string) {
  const count = async (list: string) => {
    const path = `/v2/facts/default/${environment}/${list}?expires_before=${moment}`
    return (await verdict.send<(RoleAssignment | RelationshipTuple)[]>('GET', path, { key })).body.length
  }
  return [await count('role_assignments'), await count('relationship_tuples')]
}

const verdict = await sharedService()

test('an export contains the expiration times of facts, and an import preserves them', async () => {
  await verdict.createDocumentModel()
  await verdict.users('ann', 'bob')
  await verdict.groups('staff', 'inner')
  const expiring = { expires_at: END }
  const facts = '/v2/facts/default/default'
  await verdict.tenantRole('auditor', [])
  const assigned = { user: 'ann', role: 'auditor', tenant: 'default' }
  await verdict.post(`${facts}/role_assignments`, { ...assigned, ...expiring })
  await verdict.post(`${facts}/role_assignments`, { ...assigned, user: 'bob' })
  await verdict.put(memberPath('staff', 'ann'), { tenant: 'default', ...expiring })
  await verdict.post(`${groupPath('staff')}/roles`, { ...grantBody('editor', 'document:d1'), ...expiring })
  await verdict.put(`${groupPath('staff')}/assign_group`, { group_instance_key: 'inner' })

  const text = await contentOf(verdict, exportOf('default'))
  expect(factsIn(text).map(({ expires_at: end }) => end)).toEqual([END, undefined, END, END, undefined])
  const key = await neighbourOf(verdict, 'twin')
  await importInto(verdict, 'twin', text, key)
  expect(await contentOf(verdict, exportOf('twin'), key)).toBe(text)
  expect(await endingBefore(verdict, 'twin', key, END)).toEqual([0, 0])
  expect(await endingBefore(verdict, 'twin', key, AFTER)).toEqual([2, 1])
  const path = '/v2/facts/default/twin/role_assignments'
  expect((await verdict.send('POST', path, { key, body: assigned })).status).toBe(200)
  expect(await endingBefore(verdict, 'twin', key, AFTER)).toEqual([1, 1])
})

test('an import accepts an expiration time that is null, absent, or has another UTC offset', async () => {
  const key = await neighbourOf(verdict, 'other')
  const lines = [
    { ...inTenant, expires_at: null },
    { ...onInstance, expires_at: '2131-05-01T12:00:00.1239+02:00' },
    { ...tuple, expires_at: END },
  ]
  await importInto(verdict, 'other', content(...entities, ...lines), key)
  const facts = factsIn(await contentOf(verdict, exportOf('other'), key))
  expect(facts.map(({ expires_at: end }) => end)).toEqual([undefined, END, END])
})

test('an import accepts an expired grant, which is then deleted', async () => {
  const key = await neighbourOf(verdict, 'late')
  const lines = [inTenant, { ...onInstance, expires_at: '2020-01-01T00:00:00Z' }]
  const { body } = await importInto(verdict, 'late', content(...entities, ...lines), key)
  expect(body).toMatchObject({ counts: { assignment: 2 } })
  let facts: Line[] = []
  while (facts.length !== 1) facts = factsIn(await contentOf(verdict, exportOf('late'), key))
  expect(facts).toMatchObject([inTenant])
})

test('an import with an invalid expiration time is rejected with the number of its line', async () => {
  const key = await neighbourOf(verdict, 'untouched')
  const before = await contentOf(verdict, exportOf('untouched'), key)
  for (const end of ['tomorrow', '2131-05-01T10:00:00', '9999-12-31T23:59:59-01:00', 5]) {
    for (const fact of [inTenant, tuple]) {
      const text = content(...entities, { ...fact, expires_at: end })
      const { body } = await importInto(verdict, 'untouched', text, key, 400)
      expect(body).toMatchObject({ message: expect.stringMatching(/^line 8: .*expires_at: must be/) })
    }
  }
  expect(await contentOf(verdict, exportOf('untouched'), key)).toBe(before)
})
