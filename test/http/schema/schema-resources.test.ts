/** PUT and PATCH of resources (native.md B.4): which parts keep their ids and facts, and which do not. */
import { describe, expect, test } from 'vitest'
import type { Relation } from '#entities/relation.ts'
import type { Resource } from '#entities/resource.ts'
import type { ResourceRole } from '#entities/role.ts'
import { inherited, newPage, shelfOf } from '../../support/calls/pages.ts'
import { FACTS, fresh, RESOURCES, sharedService } from '#testing/processes/running-service.ts'
import { IMPOSSIBLE, INVALID, NOT_FOUND, type Problem, refusal } from '../../support/calls/refusals.ts'

const verdict = await sharedService()
const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'

/** A new page on a shelf. Ann is a viewer of the page. */
async function pageWithFacts() {
  const page = await newPage(verdict)
  const [ann, p1, s1] = fresh('ann', `${page}:p`, `${shelfOf(page)}:s`)
  await verdict.user(ann)
  await verdict.assign(ann, 'viewer', p1)
  await verdict.relate(s1, 'on', p1)
  return { page, path: `${RESOURCES}/${page}`, ann, p1, s1 }
}

describe('PUT of a resource', () => {
  test('creates it with the key of the path if it does not exist', async () => {
    const [key] = fresh('made')
    const body = { name: 'Made', actions: { read: {} }, roles: { r: { name: 'R', permissions: ['read'] } } }
    const { body: created } = await verdict.put<Resource>(`${RESOURCES}/${key}`, body)
    expect(created).toMatchObject({ key, name: 'Made', roles: { r: { permissions: ['read'] } } })
    const { body: again } = await verdict.put<Resource>(`${RESOURCES}/${created.id}`, body)
    expect(again).toMatchObject({ id: created.id, key, created_at: created.created_at })
  })

  test.each([
    ['no%20key', INVALID],
    [UNKNOWN_ID, NOT_FOUND],
  ])('does not create %s', async (reference, refused) => {
    const answer = await verdict.put<Problem>(`${RESOURCES}/${reference}`, { name: 'X', actions: {} })
    expect(refusal(answer)).toEqual(refused)
  })

  test('keeps ids, assignments and tuples of parts in the body, and removes all other parts', async () => {
    const { page, path, ann, p1, s1 } = await pageWithFacts()
    const before = (await verdict.patch<Resource>(path, { description: 'Old', urn: 'urn:x' })).body
    const { body: after } = await verdict.put<Resource>(path, {
      name: 'New',
      actions: { print: { name: 'Print' }, read: {} },
      roles: { viewer: { name: 'Looker', permissions: ['print'] } },
      relations: { on: shelfOf(page) },
    })
    expect(after).toMatchObject({ id: before.id, name: 'New', description: null, urn: null })
    expect(after.actions['read']!.id).toBe(before.actions['read']!.id)
    expect(Object.keys(after.roles)).toEqual(['viewer'])
    expect(after.roles['viewer']!.id).toBe(before.roles['viewer']!.id)
    expect(await verdict.allows(ann, 'print', p1)).toBe(true)
    expect(await verdict.allows(ann, 'read', p1)).toBe(false)
    const entry = inherited(page)
    await verdict.post(`${path}/roles/viewer/implicit_grants`, entry)
    await verdict.users(`${ann}-2`)
    await verdict.assign(`${ann}-2`, 'keeper', s1)
    expect(await verdict.allows(`${ann}-2`, 'print', p1)).toBe(true)
    // Without the maps, all parts are removed. New roles and relations with the same keys have no facts.
    await verdict.put(path, { name: 'Empty', actions: { read: {} } })
    const { body: back } = await verdict.patch<Resource>(path, {
      roles: {
        viewer: { name: 'V', permissions: ['read'], granted_to: { users_with_role: [entry] } },
      },
      relations: { on: shelfOf(page) },
    })
    expect(back.roles['viewer']!.id).not.toBe(before.roles['viewer']!.id)
    expect(await verdict.allows(ann, 'read', p1)).toBe(false)
    expect(await verdict.allows(`${ann}-2`, 'read', p1)).toBe(false)
  })

  test('can reverse which of two roles extends the other', async () => {
    const [key] = fresh('swap')
    const roles = (first: object, second: object) => ({
      name: 'S',
      actions: {},
      roles: { a: { name: 'A', ...first }, b: { name: 'B', ...second } },
    })
    const path = `${RESOURCES}/${key}`
    expect((await verdict.put(path, roles({ extends: ['b'] }, {}))).status).toBe(200)
    expect((await verdict.put(path, roles({}, { extends: ['a'] }))).status).toBe(200)
    expect(refusal(await verdict.put(path, roles({ extends: ['b'] }, { extends: ['a'] })))).toEqual(
      IMPOSSIBLE,
    )
  })

  test('replaces a relation if its subject resource changes', async () => {
    const page = await newPage(verdict)
    const before = (await verdict.get<Relation>(`${RESOURCES}/${page}/relations/on`)).body
    await verdict.post(`${RESOURCES}/${page}/roles/viewer/implicit_grants`, inherited(page))
    await verdict.patch(`${RESOURCES}/${page}`, { relations: { on: page } })
    const after = (await verdict.get<Relation>(`${RESOURCES}/${page}/relations/on`)).body
    expect(after).toMatchObject({ subject_resource: page })
    expect(after.id).not.toBe(before.id)
    const { body: role } = await verdict.get<ResourceRole>(`${RESOURCES}/${page}/roles/viewer`)
    expect(role.granted_to.users_with_role).toEqual([])
  })
})

describe('PATCH of a resource', () => {
  test('replaces the given fields completely and keeps the others', async () => {
    const page = await newPage(verdict)
    const path = `${RESOURCES}/${page}`
    const before = (await verdict.get<Resource>(path)).body
    const { body: after } = await verdict.patch<Resource>(path, { actions: { read: { name: 'Look' } } })
    expect(Object.keys(after.actions)).toEqual(['read'])
    expect(after.actions['read']).toMatchObject({ id: before.actions['read']!.id, name: 'Look' })
    expect(Object.keys(after.roles)).toEqual(['viewer', 'editor'])
    expect(after.relations).toEqual(before.relations)
    const { body: emptied } = await verdict.patch<Resource>(path, { roles: {}, attributes: null, urn: null })
    expect([emptied.roles, emptied.attributes, emptied.urn]).toEqual([{}, {}, null])
  })

  // Removing a part also removes its facts, so a client must ask for it with {}.
  test.each(['actions', 'roles', 'relations'])(
    'rejects null for %s with 422, and removes all parts of this kind for {}',
    async member => {
      const { path, ann, p1 } = await pageWithFacts()
      const before = await verdict.get<Resource>(path)
      const facts = async () =>
        Promise.all(
          [`role_assignments?user=${ann}`, `relationship_tuples?object=${p1}`].map(
            async list => (await verdict.get<unknown[]>(`${FACTS}/${list}`)).body,
          ),
        )
      const factsBefore = await facts()
      expect(factsBefore.map(list => list.length)).toEqual([1, 1])
      const refused = await verdict.patch<Problem>(path, { name: 'Another', [member]: null })
      expect(refusal(refused)).toEqual(INVALID)
      expect(refused.body.detail).toEqual([
        { loc: ['body', member], type: 'type', msg: expect.stringContaining('or send {} to remove all') },
      ])
      expect((await verdict.get<Resource>(path)).body).toEqual(before.body)
      expect(await facts()).toEqual(factsBefore)
      expect(await verdict.allows(ann, 'read', p1)).toBe(true)

      const emptied = await verdict.patch<Resource>(path, { [member]: {} })
      expect([emptied.status, emptied.body[member as 'roles']]).toEqual([200, {}])
    },
  )
})
