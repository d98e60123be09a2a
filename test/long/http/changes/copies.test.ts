/** Applying the change stream to a copy of an environment keeps the copy equal to the environment. */
import { expect, test } from 'vitest'
import { CHANGE_NOUNS, CHANGE_VERBS } from '#entities/change-event.ts'
import { Random } from '#testing/data/random.ts'
import { FACTS, RESOURCES, SCHEMA, startedService } from '#testing/processes/running-service.ts'
import { ChangeStream } from '#testing/requests/change-stream.ts'
import { EnvironmentCopy, listedEnvironment, listedForm } from '#testing/requests/environment-copy.ts'
import { routes } from '#testing/requests/routes.ts'
import { MANAGEMENT_CALLS } from '../../../support/calls/management-calls.ts'

const ONLY_READ = new Set(routes.filter(({ isRead }) => isRead).map(({ operationId }) => operationId))

test('a copy that applies all events equals the lists after every management operation', async () => {
  const verdict = await startedService()
  const stream = await ChangeStream.opened(verdict.address, {
    query: `?since=${beginningOf(await verdict.revision())}`,
  })
  const copy = new EnvironmentCopy()
  const kinds = new Set<string>()
  for (const { operation, method, path, body, text, headers, key } of MANAGEMENT_CALLS) {
    // Operations that only read emit no events.
    if (method === 'GET' || ONLY_READ.has(operation)) continue
    const answer = await verdict.send(method, path, {
      body,
      ...(text && { text }),
      ...(headers && { headers }),
      ...(key && { key }),
    })
    expect([operation, answer.status]).toEqual([operation, expect.toBeOneOf([200, 201, 204])])
    for (const event of await stream.upTo(await present(verdict))) {
      copy.apply(event)
      if (event.event.includes('.')) kinds.add(event.event)
    }
    expect(copy.all, operation).toEqual(listedForm(await listedEnvironment(verdict)))
  }
  // These events never occur: rules have no fields that can change, and no call changes an expiration time.
  const all = CHANGE_NOUNS.flatMap(noun => CHANGE_VERBS.map(verb => `${noun}.${verb}`))
  expect(all.filter(kind => !kinds.has(kind))).toEqual([
    'role_assignment.updated',
    'relationship_tuple.updated',
    'set_rule.updated',
  ])
})

/** A random change. The keys are few, so that most changes affect entities of earlier changes. */
function randomStep(random: Random): readonly [method: string, path: string, body?: unknown] {
  const user = `u${random.below(4)}`
  const tenant = random.pick(['default', 't0', 't1'])
  const instance = `document:d${random.below(4)}`
  const folder = `folder:f${random.below(3)}`
  const assigned = random.chance(0.5)
    ? { user, role: 'manager', tenant }
    : { user, role: 'viewer', resource_instance: instance, tenant }
  const tuple = { subject: folder, relation: 'parent', object: instance, tenant }
  return random.pick([
    ['POST', `${FACTS}/users`, { key: user, attributes: { n: random.below(9) } }],
    ['PATCH', `${FACTS}/users/${user}`, { email: `${random.below(9)}@example.org` }],
    ['DELETE', `${FACTS}/users/${user}`],
    ['POST', `${FACTS}/tenants`, { key: tenant, name: tenant }],
    ['DELETE', `${FACTS}/tenants/${tenant}`],
    ['POST', `${FACTS}/resource_instances`, { resource: 'document', key: instance.split(':')[1], tenant }],
    ['DELETE', `${FACTS}/resource_instances/${instance}`],
    ['POST', `${FACTS}/role_assignments`, assigned],
    ['POST', `${FACTS}/role_assignments/bulk`, [0, 1, 2].map(n => ({ ...assigned, user: `u${n}` }))],
    ['DELETE', `${FACTS}/role_assignments`, assigned],
    ['POST', `${FACTS}/relationship_tuples`, tuple],
    ['DELETE', `${FACTS}/relationship_tuples`, tuple],
    ['POST', `${SCHEMA}/roles`, { key: 'manager', name: 'Manager', permissions: ['document:read'] }],
    ['DELETE', `${SCHEMA}/roles/manager`],
    ['POST', `${RESOURCES}/document/roles`, { key: 'viewer', name: 'Viewer', permissions: ['read'] }],
    ['DELETE', `${RESOURCES}/document/roles/viewer`],
    ['POST', RESOURCES, { key: 'folder', name: 'Folder', actions: {} }],
    [
      'POST',
      `${RESOURCES}/document/relations`,
      { key: 'parent', name: 'Parent', subject_resource: 'folder' },
    ],
    ['DELETE', `${RESOURCES}/folder`],
    [
      'POST',
      `${SCHEMA}/condition_sets`,
      { key: 'old', name: 'Old', type: 'userset', conditions: { 'user.n': { greater_than: 3 } } },
    ],
    [
      'POST',
      `${FACTS}/set_rules`,
      { user_set: 'old', permission: 'document:read', resource_set: '__autogen_document' },
    ],
    ['DELETE', `${SCHEMA}/condition_sets/old`],
  ] as const)
}

/** A short log: a client that stays disconnected for long receives a reset. */
const LOG_ENTRIES = 100

test.each([1, 2])(
  'a copy equals the lists after each reconnect to a stream with a short log (seed %i)',
  async seed => {
    const random = new Random(seed)
    const verdict = await startedService({ logEntriesMax: LOG_ENTRIES })
    await verdict.resource({ key: 'document', actions: { read: {} } })
    const copy = new EnvironmentCopy()
    let lastId: string | undefined
    for (let round = 0; round < 12; round++) {
      // In a quarter of the rounds, makes more changes than the log contains.
      const steps = random.chance(0.25) ? 3 * LOG_ENTRIES : random.below(20)
      for (let step = 0; step < steps; step++) {
        const [method, path, body] = randomStep(random)
        const { status } = await verdict.send(method, path, { body })
        expect(status).toBeLessThan(500)
      }
      const stream = await ChangeStream.opened(verdict.address, { lastEventId: lastId })
      const changed = random.below(10)
      for (let step = 0; step < changed; step++) {
        const [method, path, body] = randomStep(random)
        await verdict.send(method, path, { body })
      }
      const wanted = await present(verdict)
      for (;;) {
        const event = (await stream.next())!
        if (event.event === 'reset' || (event.event === 'snapshot' && lastId === undefined)) {
          if (event.event === 'reset') copy.resets += 1
          copy.load(await listedEnvironment(verdict))
        } else copy.apply(event)
        if (event.id !== undefined) lastId = event.id
        if (event.id !== undefined && sequenceOf(event.id) >= sequenceOf(wanted)) break
      }
      expect(copy.all).toEqual(listedForm(await listedEnvironment(verdict)))
      stream.close()
    }
  },
)

function sequenceOf(revision: string): number {
  return Number(revision.split('.')[1])
}

/** The current revision of the environment. */
async function present(verdict: Awaited<ReturnType<typeof startedService>>): Promise<string> {
  const answer = await verdict.get('/v2/facts/default/default/users')
  return answer.headers.get('x-revision')!
}

function beginningOf(revision: string): string {
  return `${revision.split('.')[0]}.0`
}
