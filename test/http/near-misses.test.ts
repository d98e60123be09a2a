/** What `/allowed/explain` says would have allowed, but for one thing. Other tests compare engines with the oracle. */
import { describe, expect, test } from 'vitest'
import { answerFindings } from '#testing/requests/routes.ts'
import { FACTS, question, SCHEMA, sharedService } from '#testing/processes/running-service.ts'

interface Explained {
  readonly allow: boolean
  readonly debug: {
    readonly rebac: { readonly near_misses?: readonly object[]; readonly more_near_misses?: true }
  }
}

const OVER_PARENT = { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }
const verdict = await sharedService({ hasDebug: true })
await verdict.resource({
  key: 'folder',
  actions: { read: {} },
  roles: {
    guest: { name: 'Guest' },
    viewer: { name: 'Viewer', permissions: ['read'] },
    editor: { name: 'Editor', extends: ['viewer'] },
  },
})
await verdict.resource({
  key: 'document',
  actions: { read: {}, list: {} },
  relations: { parent: 'folder' },
  roles: {
    guest: { name: 'Guest' },
    viewer: { name: 'Viewer', permissions: ['read'], granted_to: { users_with_role: [OVER_PARENT] } },
    reader: {
      name: 'Reader',
      permissions: ['list'],
      granted_to: { when: { no_direct_roles_on_object: true }, users_with_role: [OVER_PARENT] },
    },
  },
})
await verdict.users('anna', 'bert', 'carl')
await verdict.instance('document:alone', 'default')
await made('relationship_tuples', {
  subject: 'folder:specs',
  relation: 'parent',
  object: 'document:plan',
  tenant: 'default',
})
await verdict.assign('anna', 'editor', 'folder:specs')
await verdict.assign('bert', 'viewer', 'folder:specs')
await verdict.assign('bert', 'guest', 'document:plan')

const specs = { type: 'folder', key: 'specs' }
const plan = { type: 'document', key: 'plan' }
const derivation = { role: 'viewer', onType: 'folder', relation: 'parent', guarded: false }

describe('a deny says what would have allowed', () => {
  test.each([
    [
      'another role on the way',
      question('anna', 'read', 'document:plan'),
      {
        kind: 'other-role',
        instance: specs,
        needed_roles: ['viewer'],
        held_roles: [{ role: 'editor', extends_needed: true }],
        path: [
          {
            kind: 'derivation',
            subject: specs,
            relation: 'parent',
            object: plan,
            role: 'viewer',
            derivation,
          },
        ],
      },
    ],
    [
      'no direct role where a guard asks for none',
      question('bert', 'list', 'document:plan'),
      {
        kind: 'guard',
        instance: plan,
        blocking_roles: ['guest'],
        path: [
          {
            kind: 'derivation',
            subject: specs,
            relation: 'parent',
            object: plan,
            role: 'reader',
            derivation: { ...derivation, guarded: true },
          },
        ],
      },
    ],
    [
      'a tuple',
      question('bert', 'read', 'document:alone'),
      {
        kind: 'no-tuple',
        instance: { type: 'document', key: 'alone' },
        role: 'viewer',
        derivation,
        held_on: specs,
      },
    ],
  ])('%s', async (_what, body, expected) => {
    const answer = await verdict.post<Explained>('/allowed/explain', body)
    expect(answer.body.debug.rebac.near_misses).toEqual([expected])
    expect(answerFindings('explainAllowed', 200, answer.body)).toEqual([])
    expect(answer.body.debug.rebac.more_near_misses).toBe(undefined)
  })

  test('and says nothing where nothing is near, where the answer is yes, and in other answers', async () => {
    for (const [path, body] of [
      ['/allowed/explain', question('carl', 'read', 'document:plan')],
      ['/allowed/explain', question('bert', 'read', 'document:plan')],
      ['/allowed', question('anna', 'read', 'document:plan')],
    ] as const) {
      const { rebac } = (await verdict.post<Explained>(path, body)).body.debug
      expect([body, Object.keys(rebac).filter(key => key.includes('near'))]).toEqual([body, []])
    }
  })

  test('unless rules allow what roles deny', async () => {
    const explain = async () => {
      const body = question('anna', 'read', 'document:plan')
      const { allow, debug } = (await verdict.post<Explained>('/allowed/explain', body)).body
      return [allow, debug.rebac.near_misses?.length]
    }
    expect(await explain()).toEqual([false, 1])
    const set = { key: 'everybody', name: 'Everybody', conditions: {} }
    expect((await verdict.post(`${SCHEMA}/condition_sets`, set)).status).toBe(200)
    await made('set_rules', { user_set: 'everybody', permission: 'document:read', resource_set: 'document' })
    expect(await explain()).toEqual([true, undefined])
  })
})

async function made(what: string, body: object): Promise<void> {
  const answer = await verdict.post(`${FACTS}/${what}`, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
}
