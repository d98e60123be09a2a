/** A conditional change conflicts with concurrent changes of the rows that its condition reads. */
import { expect, test } from 'vitest'
import type { WriteContext, GrantCondition } from '#management/drafts/context.ts'
import { isResumable, runAtOnce } from '#scheduling/resumable.ts'
import { conditional } from '#management/conditional/conditional-change.ts'
import {
  type OperationInput,
  type OperationName,
  type ReadOperation,
  type ReadOperationName,
  readOperations,
  type WriteOperation,
  writeOperations,
} from '#management/environment/operations.ts'
import { RunningEnvironment } from '../support/running-environment.ts'

type Others = () => Promise<unknown>
const nobody: Others = async () => {}

async function opened(): Promise<RunningEnvironment> {
  const environment = await RunningEnvironment.open()
  await environment.resource('page', ['read'], { viewer: ['read'] })
  await environment.tenantRole('clerk')
  await environment.users('ann', 'bob')
  await environment.group('team')
  const instance = { resource: 'page', key: 'p1', tenant: 'default' }
  await environment.execute('createResourceInstance', { body: instance })
  return environment
}

/** Returns true if a command commits although `others` run between its reads and its commit. */
async function goesThrough(
  environment: RunningEnvironment,
  command: (context: WriteContext) => unknown,
  others: Others,
): Promise<boolean> {
  const { work, commit } = environment.attempt(command)
  if (isResumable(work)) runAtOnce(work)
  await others()
  return commit()
}

/** A change that requires the current state of an entity. */
function changeOf<Name extends OperationName>(
  thing: ReadOperationName,
  [name, input]: readonly [Name, OperationInput<Name>],
) {
  const read = (readOperations as Record<string, ReadOperation>)[thing]!
  const write = (writeOperations as unknown as Record<string, WriteOperation>)[name]!
  return conditional<WriteContext, unknown>({
    tags: 'any',
    read: context => read(context, { params: (input as { params: unknown }).params, query: {} }),
    write: context => write(context, input),
  })
}

const ANN = { user_id: 'ann' }
const CLERK = { role_id: 'clerk' }
const PAGE = { resource_id: 'page' }
const VIEWER = { ...PAGE, role_id: 'viewer' }
const TEAM = { group_instance_key: 'team' }
const ofAnn = { user: 'ann', role: 'clerk', tenant: 'default' }
const inTeam = { ...TEAM, ...ANN }
const lasting = { params: inTeam, body: { tenant: 'default' } }
const ending = { params: inTeam, body: { tenant: 'default', expires_at: '2090-01-01T00:00:00Z' } }
const out = { params: inTeam, body: undefined }

const RENAMED = ['updateTenantRole', { params: CLERK, body: { name: 'Clark' } }] as const
const CHANGES: readonly (readonly [
  what: string,
  change: ReturnType<typeof changeOf>,
  others: readonly ((it: RunningEnvironment) => Promise<unknown>)[],
])[] = [
  [
    'a user commits only if its roles are unchanged',
    changeOf('getUser', ['updateUser', { params: ANN, body: { email: 'a@b.c' } }]),
    [
      it => it.execute('createRoleAssignment', { body: ofAnn }),
      it => it.execute('deleteRoleAssignment', { body: ofAnn, query: {} }),
    ],
  ],
  [
    'a group (its deletion) commits only if no member was added or removed',
    changeOf('getGroup', ['deleteGroup', { params: TEAM }]),
    [it => it.execute('addGroupMember', lasting), it => it.execute('removeGroupMember', out)],
  ],
  [
    'a resource commits only if its parts are unchanged',
    changeOf('getResource', ['updateResource', { params: PAGE, body: { name: 'Sheet' } }]),
    [
      it => it.execute('createResourceRole', { params: PAGE, body: { key: 'editor', name: 'Editor' } }),
      it => it.execute('updateResourceRole', { params: VIEWER, body: { name: 'Reader' } }),
      it => it.execute('deleteResourceRole', { params: VIEWER }),
      it => it.execute('createAction', { params: PAGE, body: { key: 'print', name: 'Print' } }),
    ],
  ],
  [
    'a role commits only if it is unchanged',
    changeOf('getTenantRole', RENAMED),
    [it => it.execute(...RENAMED)],
  ],
]

test.each(CHANGES)('a conditional change of %s', async (_, change, others) => {
  const environment = await opened()
  for (const other of others) {
    expect(await goesThrough(environment, change, () => other(environment))).toBe(false)
  }
  expect(await goesThrough(environment, change, nobody)).toBe(true)
})

test('a conditional change fails if a row that its condition read was changed, even if it writes another row', async () => {
  const environment = await opened()
  const clerk = { params: CLERK }
  const attempt = () =>
    environment.attempt(
      conditional({
        tags: 'any',
        read: context => readOperations.getTenantRole(context, clerk),
        write: context => writeOperations.updateUser(context, { params: ANN, body: { email: 'a@b.c' } }),
      }),
    )
  const [lost, won] = [attempt(), attempt()]
  runAtOnce(lost.work)
  await environment.execute('updateTenantRole', { ...clerk, body: { name: 'Clark' } })
  runAtOnce(won.work)
  expect([await lost.commit(), await won.commit()]).toEqual([false, true])
})

test('a conditional change of an entity without lists does not conflict with changes of other entities', async () => {
  const environment = await opened()
  const elsewhere = () =>
    environment.execute('updateUser', { params: { user_id: 'bob' }, body: { email: crypto.randomUUID() } })
  const attributed = { params: { instance_id: 'page:p1' }, body: { attributes: { a: 1 } } }
  for (const change of [
    changeOf('getTenantRole', RENAMED),
    changeOf('getResourceInstance', ['updateResourceInstance', attributed]),
  ]) {
    expect(await goesThrough(environment, change, elsewhere)).toBe(true)
  }
})

const NEW: GrantCondition = { tags: null, isNew: true }
const LASTING: GrantCondition = { tags: ['"null"'], isNew: false }
const ANY: GrantCondition = { tags: 'any', isNew: false }

const join = (grantCondition: GrantCondition) => (context: WriteContext) =>
  writeOperations.addGroupMember({ ...context, grantCondition }, ending)
const leave = (grantCondition: GrantCondition) => (context: WriteContext) =>
  writeOperations.removeGroupMember({ ...context, grantCondition }, out)

test('a new membership commits only if no concurrent request has created it', async () => {
  const environment = await opened()
  const other = () => environment.execute('addGroupMember', lasting)
  expect(await goesThrough(environment, join(NEW), other)).toBe(false)
  await environment.execute('removeGroupMember', out)
  expect(await goesThrough(environment, join(NEW), nobody)).toBe(true)
})

test('a membership changes or is removed only if neither it nor its expiration time was replaced', async () => {
  const environment = await opened()
  const again = async () => {
    await environment.execute('removeGroupMember', out)
    await environment.execute('addGroupMember', lasting)
  }
  const moved = () => environment.execute('addGroupMember', ending)
  for (const command of [join(LASTING), leave(LASTING)]) {
    for (const [others, isThrough] of [
      [again, false],
      [moved, false],
      [nobody, true],
    ] as const) {
      await environment.execute('addGroupMember', lasting)
      expect(await goesThrough(environment, command, others)).toBe(isThrough)
    }
  }
})

test('a membership change does not conflict with other users who join and leave the same group', async () => {
  const environment = await opened()
  const ofBob = { ...TEAM, user_id: 'bob' }
  const elsewhere = async () => {
    await environment.execute('addGroupMember', { params: ofBob, body: { tenant: 'default' } })
    await environment.execute('removeGroupMember', { params: ofBob, body: undefined })
  }
  expect(await goesThrough(environment, join(NEW), elsewhere)).toBe(true)
  expect(await goesThrough(environment, leave(ANY), elsewhere)).toBe(true)
})
