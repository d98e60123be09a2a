/** Expiring grants: set, changed and removed expiration times, and lists filtered by expiration time. */
import { describe, expect, test } from 'vitest'
import type { RelationshipTuple } from '#entities/relationship-tuple.ts'
import type { DetailedRoleAssignment, RoleAssignment } from '#entities/role-assignment.ts'
import type { User } from '#entities/user.ts'
import {
  type Envelope,
  FACTS,
  fresh,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { type Problem, refusal } from '../../support/calls/refusals.ts'
import { createGrantModel, endsIn, GRANTS } from '../../support/calls/grants.ts'

const verdict = await sharedService()
await createGrantModel(verdict)

const ASSIGNMENTS = `${FACTS}/role_assignments`
const TUPLES = `${FACTS}/relationship_tuples`
const USERS = `${FACTS}/users`
const [END, LATER] = ['2131-05-01T10:00:00.123Z', '2131-05-02T00:00:00.000Z']
const PAST = '2020-01-01T00:00:00.000Z'
const INVALID_TIMES: readonly (readonly [end: unknown, message: RegExp])[] = [
  ['tomorrow', /must be an RFC 3339 time with an offset, such as 2/],
  ['', /must be an RFC 3339 time/],
  ['2131-05-01T10:00:00', /must be an RFC 3339 time/],
  ['2131-02-30T10:00:00Z', /must be an RFC 3339 time/],
  ['2131-05-01T10:00:60Z', /must be an RFC 3339 time/],
  ['+010000-01-01T00:00:00Z', /must be an RFC 3339 time/],
  ['9999-12-31T23:59:59.999-00:01', /in the years 1970 to 9999/],
  ['0001-01-01T00:00:00Z', /in the years 1970 to 9999/],
  [4_000_000_000_000, /must be string or null/],
  [{}, /must be string or null/],
]

/** The body that assigns `auditor` to a user. */
const auditor = (user: string, expires_at?: string | null) => ({
  user,
  role: 'auditor',
  tenant: 'default',
  expires_at,
})

/** The body that puts an object into a folder. */
const parent = (subject: string, object: string, expires_at?: string) => ({
  subject,
  relation: 'parent',
  object,
  tenant: 'default',
  expires_at,
})

describe.each(Object.entries(GRANTS))('%s', (_, make) => {
  test('expires at the requested time, with any offset, up to the end of the year 9999', async () => {
    const grant = await make(verdict)
    for (const [end, shown] of [
      ['2131-05-01T12:00:00.1239+02:00', END],
      ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ] as const) {
      expect((await grant.put(end)).status).toBe(200)
      expect(await grant.ends()).toEqual([shown])
    }
  })

  test('gets the expiration time of the last request, or none if that request names none', async () => {
    const grant = await make(verdict)
    for (const end of [undefined, END, LATER, END, undefined, LATER, null]) {
      expect((await grant.put(end)).status).toBe(200)
      expect(await grant.ends()).toEqual([end ?? null])
    }
  })

  test('is a duplicate if it is granted again with the same expiration time', async () => {
    for (const end of [END, null]) {
      const grant = await make(verdict)
      await grant.put(end)
      const revision = await verdict.revision()
      const again = await grant.put(end)
      if (grant.isRepeatable) expect(again.status).toBe(200)
      else expect(refusal(again)).toEqual([409, 'DUPLICATE_ENTITY'])
      expect(await verdict.revision()).toBe(revision)
    }
  })

  test('is rejected with an expiration time in the past, and nothing changes', async () => {
    const grant = await make(verdict)
    for (const before of [[], [END]]) {
      if (before.length > 0) await grant.put(END)
      const revision = await verdict.revision()
      const refused = await grant.put<Problem>(PAST)
      expect(refusal(refused)).toEqual([422, 'INVALID_INPUT'])
      expect(refused.body.message).toMatch(
        /^expires_at: must be in the future: 2020-01-01T00:00:00.000Z is in the past, the current time is 20.*; use a later time, or null for no expiration$/,
      )
      expect(refused.body.detail![0]!.loc).toEqual(['body', 'expires_at'])
      expect([await grant.ends(), await verdict.revision()]).toEqual([before, revision])
    }
  })

  test('is rejected with an invalid expiration time, and nothing changes', async () => {
    const grant = await make(verdict)
    const revision = await verdict.revision()
    for (const [end, message] of INVALID_TIMES) {
      const refused = await grant.put<Problem>(end)
      expect(refusal(refused), String(end)).toEqual([422, 'INVALID_INPUT'])
      expect(refused.body.message).toMatch(message)
    }
    expect(await verdict.revision()).toBe(revision)
  })
})

test('a grant keeps its id and its creation time if its expiration time changes', async () => {
  const { key: user } = await verdict.user(...fresh('ann'))
  const made = await verdict.post<RoleAssignment>(ASSIGNMENTS, auditor(user, END))
  const moved = await verdict.post<RoleAssignment>(ASSIGNMENTS, auditor(user, LATER))
  expect(moved.body).toEqual({ ...made.body, expires_at: LATER })
  expect((await verdict.get(`${ASSIGNMENTS}?user=${user}`)).body).toEqual([moved.body])
  const permanent = await verdict.post<RoleAssignment>(ASSIGNMENTS, auditor(user))
  const { expires_at: _, ...withoutEnd } = made.body
  expect(permanent.body).toStrictEqual(withoutEnd)

  const [f1, d1] = fresh('folder:f', 'document:d')
  const related = await verdict.post<RelationshipTuple>(TUPLES, parent(f1, d1, END))
  const later = await verdict.post<RelationshipTuple>(TUPLES, parent(f1, d1, LATER))
  expect(later.body).toEqual({ ...related.body, expires_at: LATER })
})

describe('bulk calls', () => {
  test('assign roles with expiration times, change existing ones, and count only new assignments', async () => {
    const names = fresh('ann', 'bob', 'cy')
    await verdict.users(...names)
    const [ann, bob, cy] = names
    const assign = (...body: object[]) => verdict.post(`${ASSIGNMENTS}/bulk`, body)
    const made = await assign(auditor(ann, END), auditor(bob), auditor(cy, END))
    expect(made.body).toEqual({ assignments_created: 3 })
    const again = await assign(auditor(ann, END), auditor(bob, LATER), auditor(cy))
    expect(again.body).toEqual({ assignments_created: 0 })
    const ends = await endsIn(verdict, `${ASSIGNMENTS}?user=${ann}&user=${bob}&user=${cy}`)
    expect(ends).toEqual([END, LATER, null])
  })

  test('create tuples with expiration times, and change the times of existing tuples', async () => {
    const [f1, d1, d2] = fresh('folder:f', 'document:d1', 'document:d2')
    const relate = (...operations: object[]) => verdict.post(`${TUPLES}/bulk`, { operations })
    expect((await relate(parent(f1, d1, END), parent(f1, d2))).status).toBe(200)
    expect((await relate(parent(f1, d1), parent(f1, d2, LATER))).status).toBe(200)
    expect(await endsIn(verdict, `${TUPLES}?subject=${f1}`)).toEqual([null, LATER])
  })

  test('name the element whose expiration time is past, and change nothing', async () => {
    const names = fresh('ann', 'bob')
    await verdict.users(...names)
    const [ann, bob] = names
    const body = [auditor(ann, END), auditor(bob, PAST)]
    const refused = await verdict.post<Problem>(`${ASSIGNMENTS}/bulk`, body)
    expect(refusal(refused)).toEqual([422, 'INVALID_INPUT'])
    expect(refused.body.message).toMatch(/^\[1\]: expires_at: must be in the future/)
    expect(refused.body.detail![0]!.loc).toEqual(['body', 1, 'expires_at'])

    const [f1, d1] = fresh('folder:f', 'document:d')
    const operations = [parent(f1, d1, PAST)]
    const unrelated = await verdict.post<Problem>(`${TUPLES}/bulk`, { operations })
    expect(unrelated.body.message).toMatch(/^operations\[0\]: expires_at: must be in the future/)
    expect(await endsIn(verdict, `${ASSIGNMENTS}?user=${ann}&user=${bob}`)).toEqual([])
    expect(await endsIn(verdict, `${TUPLES}?subject=${f1}`)).toEqual([])
  })

  test('create users with expiring role assignments, like calls for a single user', async () => {
    const [ann, bob] = fresh('ann', 'bob')
    const roles = (end: string | null) => [{ role: 'auditor', tenant: 'default', expires_at: end }]
    const made = await verdict.post<User>(USERS, { key: ann, role_assignments: roles(END) })
    expect(made.body.roles).toEqual([{ role: 'auditor', tenant: 'default', expires_at: END }])
    await verdict.put(`${FACTS}/bulk/users`, {
      operations: [
        { key: ann, role_assignments: roles(null) },
        { key: bob, role_assignments: roles(LATER) },
      ],
    })
    expect(await endsIn(verdict, `${ASSIGNMENTS}?user=${ann}&user=${bob}`)).toEqual([null, LATER])
    const refused = await verdict.put<Problem>(`${USERS}/${bob}`, { key: bob, role_assignments: roles(PAST) })
    expect(refused.body.detail![0]!.loc).toEqual(['body', 'role_assignments', 0, 'expires_at'])
    expect(await endsIn(verdict, `${ASSIGNMENTS}?user=${bob}`)).toEqual([LATER])
  })
})

test('expires_before combines with other filters and paging, and omits grants that no longer expire', async () => {
  const service = await startedService({ storeUrl: `lmdb:${storeDirectory()}` })
  await createGrantModel(service)
  await service.users('ann', 'bob')
  const assign = (user: string, instance: string, end?: string) =>
    service.post(ASSIGNMENTS, {
      ...auditor(user, end),
      role: 'editor',
      resource_instance: `document:${instance}`,
    })
  const relate = (object: string, end?: string) =>
    service.post(TUPLES, parent('folder:f', `document:${object}`, end))
  await assign('ann', 'd1', END)
  await assign('ann', 'd2')
  await assign('bob', 'd1', LATER)
  await assign('bob', 'd3', END)
  await relate('d1', END)
  await relate('d2')
  await relate('d3', LATER)
  const assigned = async (query: string) => {
    const { body } = await service.get<RoleAssignment[]>(`${ASSIGNMENTS}?${query}`)
    return body.map(({ user, resource_instance }) => `${user} ${resource_instance}`)
  }
  const related = async (query: string) =>
    (await service.get<RelationshipTuple[]>(`${TUPLES}?${query}`)).body.map(({ object }) => object)
  const after = encodeURIComponent('2131-05-02T02:00:00.001+02:00')

  expect(await assigned(`expires_before=${END}`)).toEqual([])
  expect(await assigned(`expires_before=${LATER}`)).toEqual(['ann document:d1', 'bob document:d3'])
  const all = ['ann document:d1', 'bob document:d1', 'bob document:d3']
  expect(await assigned(`expires_before=${after}`)).toEqual(all)
  expect(await assigned(`expires_before=${after}&user=bob&resource_instance=document:d1`)).toEqual([all[1]])
  expect(await assigned(`expires_before=${after}&resource=folder`)).toEqual([])
  const paged = `${ASSIGNMENTS}?expires_before=${after}&include_total_count=true&per_page=2&page=2`
  const { body } = await service.get<Envelope<RoleAssignment>>(paged)
  expect([body.data.map(({ user }) => user), body.total_count, body.page_count]).toEqual([['bob'], 3, 2])
  const detailed = await service.get<Envelope<DetailedRoleAssignment>>(
    `${ASSIGNMENTS}/detailed?expires_before=${LATER}`,
  )
  expect(detailed.body.data.map(({ expires_at: end }) => end)).toEqual([END, END])

  expect(await related(`expires_before=${LATER}`)).toEqual(['document:d1'])
  expect(await related(`expires_before=${after}&subject=folder:f`)).toEqual(['document:d1', 'document:d3'])
  expect(await related(`expires_before=${after}&object=document:d2`)).toEqual([])

  await assign('ann', 'd1')
  await assign('ann', 'd2', END)
  await relate('d1')
  await relate('d2', END)
  expect(await assigned(`expires_before=${LATER}`)).toEqual(['ann document:d2', 'bob document:d3'])
  expect(await related(`expires_before=${LATER}`)).toEqual(['document:d2'])
  await service.delete(TUPLES, { subject: 'folder:f', relation: 'parent', object: 'document:d2' })
  expect(await related(`expires_before=${LATER}`)).toEqual([])
})

test.each([ASSIGNMENTS, TUPLES])('%s rejects expires_before without a valid time', async path => {
  for (const time of ['tomorrow', '2131-05-01T10:00:00', '']) {
    expect(refusal(await verdict.get(`${path}?expires_before=${time}`))).toEqual([422, 'INVALID_INPUT'])
  }
})
