/** A schema import that overwrites a resource, and changes of group grants at each yield of the import. */
import { expect, test } from 'vitest'
import { importSchema } from '#management/schema/transfer/schema-import.ts'
import { RunningEnvironment } from '../../support/running-environment.ts'
import { copyOf } from '../../support/calls/schema-copies.ts'

const body = {
  name: 'Document',
  actions: { read: {} },
  roles: { viewer: { name: 'V', permissions: ['read'] } },
}
const copy = copyOf({ resources: [{ key: 'document', body, relationTexts: [], actionGroups: [] }] })

async function prepared(): Promise<RunningEnvironment> {
  const environment = await RunningEnvironment.open()
  await environment.execute('createResource', { body: { key: 'document', ...body } })
  const instance = { key: 'd1', resource: 'document', tenant: 'default' }
  await environment.execute('createResourceInstance', { body: instance })
  await environment.users('anna')
  await environment.group('team')
  await environment.join('team', 'anna')
  await environment.grant('team', 'viewer', 'document:d1')
  expect(mayRead(environment)).toBe(true)
  return environment
}

const mayRead = (environment: RunningEnvironment): boolean =>
  environment.decide({ user: 'anna', action: 'read', type: 'document', key: 'd1', tenant: null })

test('a group grant that is revoked during a schema import is not restored by the import', async () => {
  let stops = 0
  for (let isOver = false; !isOver; stops += 1) {
    const environment = await prepared()
    const { work, commit } = environment.attempt(context => importSchema(context, copy))
    for (let stop = 0; stop < stops && !isOver; stop += 1) isOver = work.next().done === true
    // The import keeps these derivations of the group grants.
    await environment.execute('updateResourceRole', {
      params: { resource_id: 'document', role_id: 'viewer' },
      body: { granted_to: {} },
    })
    if (!isOver) while (!work.next().done);
    if (!(await commit())) await environment.execute('importSchema', copy)
    expect(mayRead(environment)).toBe(false)
  }
  expect(stops).toBeGreaterThan(3)
})

test('a schema import keeps the group grants of a role', async () => {
  const environment = await prepared()
  await environment.execute('importSchema', copy)
  expect(mayRead(environment)).toBe(true)
})
