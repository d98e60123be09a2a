/** Grants that end: said at creation, moved and made lasting by granting again, shown wherever they are, found by their end. */
import { describe, expect, test } from 'vitest'
import type { RelationshipTuple } from '#model/wire/relationship-tuple.ts'
import type { DetailedRoleAssignment, RoleAssignment } from '#model/wire/role-assignment.ts'
import type { User } from '#model/wire/user.ts'
import {
  type Envelope,
  FACTS,
  fresh,
  type Problem,
  refusal,
  sharedService,
  startedService,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import { createGrantModel, endsIn, GRANTS } from '../../support/grants.ts'

const verdict = await sharedService()
await createGrantModel(verdict)

const ASSIGNMENTS = `${FACTS}/role_assignments`
const TUPLES = `${FACTS}/relationship_tuples`
const USERS = `${FACTS}/users`
const [END, LATER] = ['2131-05-01T10:00:00.123Z', '2131-05-02T00:00:00.000Z']
const PAST = '2020-01-01T00:00:00.000Z'
const NO_TIMES: readonly (readonly [end: unknown, message: RegExp])[] = [
  ['tomorrow', /must be a moment of RFC 3339 with its offset, as 2/],
  ['', /must be a moment of RFC 3339/],
  ['2131-05-01T10:00:00', /must be a moment of RFC 3339/],
  ['2131-02-30T10:00:00Z', /must be a moment of RFC 3339/],
  ['2131-05-01T10:00:60Z', /must be a moment/],
  ['+010000-01-01T00:00:00Z', /must be a moment of RFC 3339/],
  ['9999-12-31T23:59:59.999-00:01', /between the years 1970 and 9999/],
  ['0001-01-01T00:00:00Z', /between the years 1970 and 9999/],
  [4_000_000_000_000, /must be string or null/],
  [{}, /must be string or null/],
]

describe.each(Object.entries(GRANTS))('%s', (_, make) => {
  test('ends at the time of the request, with every offset, up to the end of the year 9999', async () => {
    const grant = await make(verdict)
    for (const [end, shown] of [
      ['2131-05-01T12:00:00.1239+02:00', END],
      ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ] as const) {
      expect((await grant.put(end)).status).toBe(200)
      expect(await grant.ends()).toEqual([shown])
    }
  })

  test('gets another end if it is granted again, and none if the request names none', async () => {
    const grant = await make(verdict)
    for (const end of [undefined, END, LATER, END, undefined, LATER, null]) {
      expect((await grant.put(end)).status).toBe(200)
      expect(await grant.ends()).toEqual([end ?? null])
    }
  })

  test('exists already if it is granted again with the same end', async () => {
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

  test('is refused with an end in the past, and nothing changes', async () => {
    const grant = await make(verdict)
    for (const before of [[], [END]]) {
      if (before.length > 0) await grant.put(END)
      const revision = await verdict.revision()
      const refused = await grant.put<Problem>(PAST)
      expect(refusal(refused)).toEqual([422, 'INVALID_INPUT'])
      expect(refused.body.message).toMatch(
        /^expires_at: must lie ahead: 2020-01-01T00:00:00.000Z is past, here it is 20.*; name a later time, or null for what lasts$/,
      )
      expect(refused.body.detail![0]!.loc).toEqual(['body', 'expires_at'])
      expect([await grant.ends(), await verdict.revision()]).toEqual([before, revision])
    }
  })

  test('is refused if its end is no time, and nothing changes', async () => {
    const grant = await make(verdict)
    const revision = await verdict.revision()
    for (const [end, message] of NO_TIMES) {
      const refused = await grant.put<Problem>(end)
      expect(refusal(refused), String(end)).toEqual([422, 'INVALID_INPUT'])
      expect(refused.body.message).toMatch(message)
    }
    expect(await verdict.revision()).toBe(revision)
  })
})

test('what is granted again with another end stays the same, with its id and its time', async () => {
  const { key: user } = await verdict.user(...fresh('ann'))
  const body = { user, role: 'auditor', tenant: 'default', expires_at: END }
  const made = await verdict.post<RoleAssignment>(ASSIGNMENTS, body)
  const moved = await verdict.post<RoleAssignment>(ASSIGNMENTS, { ...body, expires_at: LATER })
  expect(moved.body).toEqual({ ...made.body, expires_at: LATER })
  expect((await verdict.get(`${ASSIGNMENTS}?user=${user}`)).body).toEqual([moved.body])
  const lasting = await verdict.post<RoleAssignment>(ASSIGNMENTS, { ...body, expires_at: undefined })
  const { expires_at: _, ...madeToLast } = made.body
  expect(lasting.body).toStrictEqual(madeToLast)

  const [f1, d1] = fresh('folder:f', 'document:d')
  const sides = { subject: f1, relation: 'parent', object: d1, tenant: 'default', expires_at: END }
  const related = await verdict.post<RelationshipTuple>(TUPLES, sides)
  const later = await verdict.post<RelationshipTuple>(TUPLES, { ...sides, expires_at: LATER })
  expect(later.body).toEqual({ ...related.body, expires_at: LATER })
})

describe('bulks', () => {
  test('assign with ends, move those of what is assigned, and count what they add', async () => {
    const names = fresh('ann', 'bob', 'cy')
    await verdict.users(...names)
    const [ann, bob, cy] = names
    const wanted = (user: string, end?: string | null) => ({
      user,
      role: 'auditor',
      tenant: 'default',
      expires_at: end,
    })
    const assign = (...body: object[]) => verdict.post(`${ASSIGNMENTS}/bulk`, body)
    expect((await assign(wanted(ann, END), wanted(bob), wanted(cy, END))).body).toEqual({
      assignments_created: 3,
    })
    const again = await assign(wanted(ann, END), wanted(bob, LATER), wanted(cy))
    expect(again.body).toEqual({ assignments_created: 0 })
    const ends = await endsIn(verdict, `${ASSIGNMENTS}?user=${ann}&user=${bob}&user=${cy}`)
    expect(ends).toEqual([END, LATER, null])
  })

  test('relate with ends, and move those of what is related', async () => {
    const [f1, d1, d2] = fresh('folder:f', 'document:d1', 'document:d2')
    const wanted = (object: string, end?: string) => ({
      subject: f1,
      relation: 'parent',
      object,
      tenant: 'default',
      expires_at: end,
    })
    const relate = (...operations: object[]) => verdict.post(`${TUPLES}/bulk`, { operations })
    expect((await relate(wanted(d1, END), wanted(d2))).status).toBe(200)
    expect((await relate(wanted(d1), wanted(d2, LATER))).status).toBe(200)
    expect(await endsIn(verdict, `${TUPLES}?subject=${f1}`)).toEqual([null, LATER])
  })

  test('name the element whose end is past, and change nothing', async () => {
    const names = fresh('ann', 'bob')
    await verdict.users(...names)
    const [ann, bob] = names
    const wanted = (user: string, end: string) => ({
      user,
      role: 'auditor',
      tenant: 'default',
      expires_at: end,
    })
    const refused = await verdict.post<Problem>(`${ASSIGNMENTS}/bulk`, [wanted(ann, END), wanted(bob, PAST)])
    expect(refusal(refused)).toEqual([422, 'INVALID_INPUT'])
    expect(refused.body.message).toMatch(/^\[1\]: expires_at: must lie ahead/)
    expect(refused.body.detail![0]!.loc).toEqual(['body', 1, 'expires_at'])

    const [f1, d1] = fresh('folder:f', 'document:d')
    const tuple = { subject: f1, relation: 'parent', object: d1, tenant: 'default', expires_at: PAST }
    const unrelated = await verdict.post<Problem>(`${TUPLES}/bulk`, { operations: [tuple] })
    expect(unrelated.body.message).toMatch(/^operations\[0\]: expires_at: must lie ahead/)
    expect(await endsIn(verdict, `${ASSIGNMENTS}?user=${ann}&user=${bob}`)).toEqual([])
    expect(await endsIn(verdict, `${TUPLES}?subject=${f1}`)).toEqual([])
  })

  test('of users bring assignments that end, and so do users on their own', async () => {
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

test('what ends before a moment is listed with every other filter and in pages, and leaves the list when it lasts', async () => {
  const service = await startedService({ storeUrl: `lmdb:${storeDirectory()}` })
  await createGrantModel(service)
  await service.users('ann', 'bob')
  const assign = (user: string, instance: string, end?: string) =>
    service.post(ASSIGNMENTS, {
      user,
      role: 'editor',
      resource_instance: `document:${instance}`,
      tenant: 'default',
      expires_at: end,
    })
  const relate = (object: string, end?: string) =>
    service.post(TUPLES, {
      subject: 'folder:f',
      relation: 'parent',
      object: `document:${object}`,
      tenant: 'default',
      expires_at: end,
    })
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
  await service.send('DELETE', TUPLES, {
    body: { subject: 'folder:f', relation: 'parent', object: 'document:d2' },
  })
  expect(await related(`expires_before=${LATER}`)).toEqual([])
})

test.each([ASSIGNMENTS, TUPLES])('%s refuses a moment that is none', async path => {
  for (const moment of ['tomorrow', '2131-05-01T10:00:00', '']) {
    expect(refusal(await verdict.get(`${path}?expires_before=${moment}`))).toEqual([422, 'INVALID_INPUT'])
  }
})
