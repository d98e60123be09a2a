/**
 * A change that is meant for a thing as it was seen rests on all that was seen: whoever changes any of that between the look and
 * the commit makes it run again.
 */
import { expect, test } from 'vitest'
import { conditional } from '#management/environment/conditional.ts'
import {
  type OperationInput,
  type OperationName,
  type ReadOperation,
  type ReadOperationName,
  readOperations,
  type WriteOperation,
  writeOperations,
} from '#management/environment/operations.ts'
import { runAtOnce } from '#model/resumable.ts'
import { RunningEnvironment } from '../support/running-environment.ts'

async function opened(): Promise<RunningEnvironment> {
  const environment = await RunningEnvironment.open()
  const { execute } = environment
  const make = execute.bind(environment)
  await make('createResource', {
    body: {
      key: 'page',
      name: 'Page',
      actions: { read: {} },
      roles: { viewer: { name: 'Viewer', permissions: ['read'] } },
    },
  })
  await make('createTenantRole', { body: { key: 'clerk', name: 'Clerk' } })
  await make('createUser', { body: { key: 'ann' } })
  await make('createUser', { body: { key: 'bob' } })
  await make('createGroup', { body: { group_instance_key: 'team', group_tenant: 'default' } })
  await make('createResourceInstance', { body: { resource: 'page', key: 'p1', tenant: 'default' } })
  return environment
}

/** Whether a change of the thing as it is goes through, if `others` come between its look and its commit. */
async function goesThrough<Name extends OperationName>(
  environment: RunningEnvironment,
  thing: ReadOperationName,
  [name, input]: readonly [Name, OperationInput<Name>],
  others: () => Promise<unknown>,
): Promise<boolean> {
  const read = (readOperations as Record<string, ReadOperation>)[thing]!
  const write = (writeOperations as unknown as Record<string, WriteOperation>)[name]!
  const { work, commit } = environment.attempt(
    conditional({
      tags: 'any',
      read: context => read(context, { params: (input as { params: unknown }).params, query: {} }),
      write: context => write(context, input),
    }),
  )
  runAtOnce(work)
  await others()
  return commit()
}

const ofAnn = { user: 'ann', role: 'clerk', tenant: 'default' }

test('a change of a user goes through only if it holds the same roles', async () => {
  const environment = await opened()
  const change = ['updateUser', { params: { user_id: 'ann' }, body: { email: 'a@b.c' } }] as const
  const assign = () => environment.execute('createRoleAssignment', { body: ofAnn })
  const unassign = () => environment.execute('deleteRoleAssignment', { body: ofAnn, query: {} })
  expect(await goesThrough(environment, 'getUser', change, async () => {})).toBe(true)
  expect(await goesThrough(environment, 'getUser', change, assign)).toBe(false)
  expect(await goesThrough(environment, 'getUser', change, unassign)).toBe(false)
})

test('the removal of a group goes through only if nobody has joined it or left', async () => {
  const environment = await opened()
  const change = ['deleteGroup', { params: { group_instance_key: 'team' } }] as const
  const params = { group_instance_key: 'team', user_id: 'ann' }
  const join = () => environment.execute('addGroupMember', { params, body: { tenant: 'default' } })
  const leave = () => environment.execute('removeGroupMember', { params, body: undefined })
  expect(await goesThrough(environment, 'getGroup', change, join)).toBe(false)
  expect(await goesThrough(environment, 'getGroup', change, leave)).toBe(false)
  expect(await goesThrough(environment, 'getGroup', change, async () => {})).toBe(true)
})

test('a change of a resource goes through only if its parts are the same', async () => {
  const environment = await opened()
  const page = { resource_id: 'page' }
  const change = ['updateResource', { params: page, body: { name: 'Sheet' } }] as const
  const viewer = { ...page, role_id: 'viewer' }
  const others: (() => Promise<unknown>)[] = [
    () =>
      environment.execute('createResourceRole', { params: page, body: { key: 'editor', name: 'Editor' } }),
    () => environment.execute('updateResourceRole', { params: viewer, body: { name: 'Reader' } }),
    () => environment.execute('deleteResourceRole', { params: viewer }),
    () => environment.execute('createAction', { params: page, body: { key: 'print', name: 'Print' } }),
  ]
  for (const other of others) expect(await goesThrough(environment, 'getResource', change, other)).toBe(false)
  expect(await goesThrough(environment, 'getResource', change, async () => {})).toBe(true)
})

test('a change rests on what was read for the look, also where it writes something else', async () => {
  const environment = await opened()
  const clerk = { params: { role_id: 'clerk' } }
  const attempt = () =>
    environment.attempt(
      conditional({
        tags: 'any',
        read: context => readOperations.getTenantRole(context, clerk),
        write: context =>
          writeOperations.updateUser(context, { params: { user_id: 'ann' }, body: { email: 'a@b.c' } }),
      }),
    )
  const [lost, won] = [attempt(), attempt()]
  runAtOnce(lost.work)
  await environment.execute('updateTenantRole', { ...clerk, body: { name: 'Clark' } })
  runAtOnce(won.work)
  expect([await lost.commit(), await won.commit()]).toEqual([false, true])
})

test('a change of what is shown without a list does not mind what others do elsewhere', async () => {
  const environment = await opened()
  const elsewhere = () =>
    environment.execute('updateUser', { params: { user_id: 'bob' }, body: { email: crypto.randomUUID() } })
  const role = ['updateTenantRole', { params: { role_id: 'clerk' }, body: { name: 'Clark' } }] as const
  expect(await goesThrough(environment, 'getTenantRole', role, elsewhere)).toBe(true)
  const instance = [
    'updateResourceInstance',
    { params: { instance_id: 'page:p1' }, body: { attributes: { a: 1 } } },
  ] as const
  expect(await goesThrough(environment, 'getResourceInstance', instance, elsewhere)).toBe(true)
  const itself = () => environment.execute(...role)
  expect(await goesThrough(environment, 'getTenantRole', role, itself)).toBe(false)
})
