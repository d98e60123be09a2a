/** Lists for a tree of groups: top-level groups, their children, and the groups of a user. */
import { describe, expect, test } from 'vitest'
import type { GroupLink, ListedGroup } from '#entities/group.ts'
import {
  type Envelope,
  FACTS,
  fresh,
  groupPath,
  GROUPS,
  memberPath,
  sharedService,
} from '#testing/processes/running-service.ts'

const verdict = await sharedService()

function listed(query: string): Promise<Envelope<ListedGroup>> {
  return verdict.done('GET', `${GROUPS}/direct?${query}`)
}

async function keysIn(query: string): Promise<string[]> {
  return (await listed(query)).data.map(({ group_instance_key: key }) => key)
}

/** Creates a tenant with groups `a` to `e`: `b` in `a`, `c` in `b` and in `d`, and `e` of another type. */
async function newTree() {
  const [tenant, a, b, c, d, e] = fresh('tenant', 'a', 'b', 'c', 'd', 'e')
  await verdict.tenant(tenant)
  for (const key of [a, b, c, d, `squad:${e}`]) await verdict.group(key, tenant)
  await verdict.nest(b, { into: a })
  await verdict.nest(c, { into: b })
  await verdict.nest(c, { into: d })
  return { tenant, a, b, c, d, e }
}

describe('top-level groups', () => {
  test('are the groups that are in no other group, in pages with a total count', async () => {
    const { tenant, a, b, c, d, e } = await newTree()
    const top = `tenant=${tenant}&top_level=true`
    expect(await keysIn(top)).toEqual([a, d, e])
    expect(await listed(`${top}&per_page=2&page=2`)).toMatchObject({
      data: [{ group_instance_key: e }],
      total_count: 3,
      page_count: 2,
    })
    expect(await keysIn(`${top}&resource=squad`)).toEqual([e])
    expect(await keysIn(`${top}&search=${d}`)).toEqual([d])
    expect(await keysIn(`tenant=${tenant}&top_level=false`)).toEqual([a, b, c, d, e])
  })

  test('change when groups are nested, removed from other groups or deleted', async () => {
    const { tenant, a, b, c, d, e } = await newTree()
    const top = `tenant=${tenant}&top_level=true`
    await verdict.unnest(c, { from: d })
    expect(await keysIn(top)).toEqual([a, d, e])
    await verdict.unnest(c, { from: b })
    expect(await keysIn(top)).toEqual([a, c, d, e])
    await verdict.nest(d, { into: c })
    expect(await keysIn(top)).toEqual([a, c, e])
    await verdict.deleteGroup(a)
    expect(await keysIn(top)).toEqual([b, c, e])
  })

  test('include groups that are related to instances other than groups', async () => {
    const { tenant, a, d, e } = await newTree()
    for (let n = 0; n < 40; n += 1) {
      await verdict.instance(`group:${a}-plain-${n}`, tenant)
      await verdict.relate(`group:${a}`, 'group', `group:${a}-plain-${n}`, tenant)
    }
    expect(await keysIn(`tenant=${tenant}&top_level=true`)).toEqual([a, d, e])
  })
})

describe('a group in a list', () => {
  test('shows the number of its direct members, and whether it contains groups', async () => {
    const { tenant, a, b, c, d, e } = await newTree()
    const users = ['u1', 'u2', 'u3'].map(name => `${a}-${name}`)
    await verdict.users(...users)
    for (const user of users) await verdict.join(b, user, tenant)
    await verdict.join(c, users[0]!, tenant)
    const linksIn = async (path: string) =>
      (await verdict.get<Envelope<GroupLink>>(path)).body.data.map(
        ({ group_instance_key: key, users_count, has_children }) => [key, users_count, has_children],
      )
    expect(await linksIn(`${GROUPS}/direct?tenant=${tenant}`)).toEqual([
      [a, 0, true],
      [b, 3, true],
      [c, 1, false],
      [d, 0, true],
      [e, 0, false],
    ])
    expect(await linksIn(`${groupPath(a)}/children`)).toEqual([[b, 3, true]])
    expect(await linksIn(`${groupPath(`squad:${e}`)}/children`)).toEqual([])
    expect(await linksIn(`${groupPath(a)}/parents`)).toEqual([])
    expect(await linksIn(`${groupPath(c)}/parents`)).toEqual([
      [b, 3, true],
      [d, 0, true],
    ])
    await verdict.leave(b, users[1]!)
    await verdict.deleteGroup(c)
    const { body } = await verdict.get(`${GROUPS}/direct/${b}`)
    expect(body).toMatchObject({ users_count: 2, has_children: false })
  })

  test('has no children if only instances other than groups are linked to it', async () => {
    const { tenant, e, c } = await newTree()
    await verdict.instance(`group:${c}-plain`, tenant)
    await verdict.relate(`group:${c}-plain`, 'group', `group:${c}`, tenant)
    expect(await listed(`tenant=${tenant}&search=${c}`)).toMatchObject({
      data: [{ group_instance_key: c, has_children: false }],
    })
    expect(await keysIn(`tenant=${tenant}&search=${e}`)).toEqual([e])
  })
})

describe('the groups of a user', () => {
  test('are listed in the order in which the user joined, with expiration times', async () => {
    const { tenant, a, b, d, e } = await newTree()
    const [user, other] = fresh('user', 'other')
    const { id } = await verdict.user(user)
    await verdict.user(other)
    await verdict.join(a, other, tenant)
    await verdict.join(`squad:${e}`, user, tenant)
    const end = '2130-01-01T00:00:00.000Z'
    await verdict.put(memberPath(d, user), { tenant, expires_at: end })
    await verdict.assign(user, 'member', `group:${b}`, tenant)
    expect(await listed(`user=${user}`)).toMatchObject({
      data: [
        { group_instance_key: e, group_resource_type_key: 'squad' },
        { group_instance_key: d, expires_at: end, has_children: true },
        { group_instance_key: b, users_count: 1 },
      ],
      total_count: 3,
      page_count: 1,
    })
    expect(await keysIn(`user=${id}&per_page=1&page=2`)).toEqual([d])
    expect(await keysIn(`user=${user}&resource=group`)).toEqual([d, b])
    expect(await keysIn(`user=${user}&top_level=true`)).toEqual([e, d])
    expect(await keysIn(`user=${user}&search=${b}`)).toEqual([b])
    expect(await keysIn(`user=${user}&tenant=default`)).toEqual([])
    await verdict.deleteGroup(d)
    expect(await keysIn(`user=${user}`)).toEqual([e, b])
    expect((await listed(`tenant=${tenant}`)).data[0]).not.toHaveProperty('expires_at')
  })

  test('exclude other roles, and the member role on instances other than groups', async () => {
    const { tenant, c } = await newTree()
    const [user] = fresh('user')
    await verdict.user(user)
    await verdict.resource({ key: `doc-${user}`, roles: { member: { name: 'Member' } } })
    await verdict.instance(`group:${c}-plain`, tenant)
    for (const on of [`doc-${user}:d1`, `group:${c}-plain`]) await verdict.assign(user, 'member', on, tenant)
    const held = await verdict.get<readonly unknown[]>(`${FACTS}/role_assignments?user=${user}`)
    expect(held.body).toHaveLength(2)
    expect(await listed(`user=${user}`)).toEqual({ data: [], total_count: 0, page_count: 0 })
    expect(await keysIn('user=nobody')).toEqual([])
  })
})
