/** Near misses in `/allowed/explain`. `test/engine/near-misses.test.ts` covers every case. */
import { expect, test } from 'vitest'
import { answerFindings } from '#testing/requests/routes.ts'
import { question, sharedService } from '#testing/processes/running-service.ts'

interface Explained {
  readonly allow: boolean
  readonly debug: {
    readonly rebac: { readonly near_misses?: readonly object[]; readonly more_near_misses?: true }
  }
}

const viewer = { name: 'Viewer', permissions: ['read'] }
const OVER_PARENT = { role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }
const verdict = await sharedService({ hasDebug: true })
await verdict.resource({
  key: 'folder',
  actions: { read: {} },
  roles: { viewer, editor: { name: 'Editor', extends: ['viewer'] } },
})
await verdict.resource({
  key: 'document',
  actions: { read: {} },
  relations: { parent: 'folder' },
  roles: { viewer: { ...viewer, granted_to: { users_with_role: [OVER_PARENT] } } },
})
await verdict.users('anna', 'bert')
await verdict.relate('folder:specs', 'parent', 'document:plan')
await verdict.assign('anna', 'editor', 'folder:specs')

async function explained(path: string, user: string): Promise<Explained> {
  const { body } = await verdict.post<Explained>(path, question(user, 'read', 'document:plan'))
  return body
}

test('only an explained deny has near misses, in the documented shape', async () => {
  const answer = await explained('/allowed/explain', 'anna')
  expect(answerFindings('explainAllowed', 200, answer)).toEqual([])
  const [specs, plan] = [
    { type: 'folder', key: 'specs' },
    { type: 'document', key: 'plan' },
  ]
  const derivation = { role: 'viewer', onType: 'folder', relation: 'parent', guarded: false }
  expect(answer.debug.rebac).toMatchObject({
    near_misses: [
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
  })
  for (const [path, user] of [
    ['/allowed/explain', 'bert'],
    ['/allowed', 'anna'],
  ] as const) {
    const { rebac } = (await explained(path, user)).debug
    expect([path, user, Object.keys(rebac).filter(key => key.includes('near'))]).toEqual([path, user, []])
  }
})

test('an explained allow by a rule has no near misses', async () => {
  await verdict.conditionSet({ key: 'anyone', conditions: {} })
  await verdict.setRule('anyone', 'document:read', 'document')
  const { allow, debug } = await explained('/allowed/explain', 'anna')
  expect([allow, debug.rebac.near_misses]).toEqual([true, undefined])
})
