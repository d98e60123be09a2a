/** Every call on a group with 100,000 members reads few rows and has a small response (native.md B.3). */
import { beforeAll, expect, test } from 'vitest'
import type { OperationInput, OperationName } from '#management/environment/operations.ts'
import { EnvironmentService } from '#management/environment/environment-service.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'
import { GROUP_READ_ENTRIES_MAX } from '#model/limits.ts'
import { TimeOrderedIds } from '#composition/process/time-ordered-ids.ts'
import { recordFrom } from '#entities/entity.ts'
import { USER } from '#entities/user.ts'
import { RowLoader } from '#testing/processes/row-loader.ts'
import { countedView, type ReadCounts } from '../../support/counted-view.ts'
import { scope } from '../../support/environment-service.ts'
import { runtimeServicesWith } from '../../support/runtime-services.ts'

const MEMBERS = 100_000
/** The members that a response shows, and the rows of the call itself. */
const ROWS_MAX = GROUP_READ_ENTRIES_MAX + 200
/** The ids that a response shows, in quotes, and its other fields. */
const ANSWER_BYTES_MAX = GROUP_READ_ENTRIES_MAX * 40 + 4_096
const tenant = 'default'
const big = { group_instance_key: 'big' }

let counts: ReadCounts
let service: EnvironmentService

beforeAll(async () => {
  const store = await openStore('memory:', listRule)
  const { ledger, ...environment } = await store.environment('large-group')
  const { counted, counts: counting } = countedView(environment.view)
  counts = counting
  const ids = new TimeOrderedIds(Date.now)
  const newId = () => ids.next()
  service = new EnvironmentService({
    store: { ...environment, ledger, view: counted },
    scope,
    runtime: runtimeServicesWith({ newId, onBackgroundFault: error => expect.unreachable(String(error)) }),
    whenVisible: () => Promise.resolve(),
  })
  await service.execute('createTenant', { body: { key: tenant, name: 'Default' } })
  for (const key of ['big', 'inner', 'outer']) {
    await service.execute('createGroup', { body: { group_instance_key: key, group_tenant: tenant } })
  }
  const actions = { read: {} }
  const roles = { viewer: { name: 'Viewer', permissions: ['read'] } }
  await service.execute('createResource', { body: { key: 'doc', name: 'Doc', actions, roles } })
  await service.execute('createUser', { body: { key: 'newcomer' } })

  const [member] = (await execute('listResourceRoles', { params: { resource_id: 'group' }, query: {} }))
    .answer
  const group = (await execute('getGroupRecord', { params: big })).answer
  const tenantId = (await execute('getTenant', { params: { tenant_id: tenant } })).answer.id
  const loader = new RowLoader(ledger)
  const times = { createdAt: 0, updatedAt: 0 }
  const profile = recordFrom(USER, {})
  for (let number = 0; number < MEMBERS; number += 1) {
    const userId = newId()
    await loader.add({ kind: 'user', id: userId, key: `u${number}`, ...profile, ...times })
    const held = { userId, roleId: member!.id, tenantId, instanceId: group.id }
    await loader.add({ kind: 'assignment', id: newId(), ...held, createdAt: 0, expiresAt: null })
  }
  await loader.flush()
  return async () => {
    await service.close()
    await store.close()
  }
})

function execute<Name extends OperationName>(name: Name, input: OperationInput<Name>) {
  return service.execute(name, input)
}

const query = {}
const body = { tenant }
const onBig = { role: 'viewer', resource: 'doc', resource_instance: 'd1', tenant }
const newcomer = { ...big, user_id: 'newcomer' }

// The order matters, because each call depends on the result of the previous one.
const CALLS: readonly (readonly [OperationName, object])[] = [
  ['getGroup', { params: big }],
  ['getGroupRecord', { params: big }],
  ['listGroups', { query }],
  ['listGroupRecords', { query }],
  ['listGroupRecords', { query: { user: 'u5', top_level: true } }],
  ['listGroupUsers', { params: big, query }],
  ['listGroupUsers', { params: big, query: { page: 1_000, per_page: 100 } }],
  ['addGroupMember', { params: newcomer, body }],
  ['addGroupMember', { params: { ...big, user_id: 'u99999' }, body }],
  ['removeGroupMember', { params: newcomer, body }],
  ['addGroupRole', { params: big, body: onBig }],
  ['listGroupRoles', { params: big, query }],
  ['removeGroupRole', { params: big, body: onBig }],
  ['assignGroup', { params: big, body: { group_instance_key: 'inner' } }],
  ['assignGroup', { params: { group_instance_key: 'outer' }, body: big }],
  ['listGroupChildren', { params: big, query }],
  ['listGroupParents', { params: big, query }],
  ['unassignGroup', { params: big, body: { group_instance_key: 'inner' } }],
  ['unassignGroup', { params: { group_instance_key: 'outer' }, body: big }],
  ['deleteGroup', { params: big }],
  ['createGroup', { body: { ...big, group_tenant: tenant } }],
]

test.each(CALLS)('%s reads few rows of a group with 100,000 members: %j', async (name, input) => {
  const readBefore = counts.scanned + counts.placed + counts.lookups
  const { answer } = await service.execute(name, input as never)
  // A purge reads more rows, but only after the response.
  expect(counts.scanned + counts.placed + counts.lookups - readBefore).toBeLessThanOrEqual(
    ROWS_MAX * (name === 'listGroups' ? 2 : 1),
  )
  expect(JSON.stringify(answer ?? null).length).toBeLessThanOrEqual(ANSWER_BYTES_MAX)
  const shown = answer as { readonly users?: readonly string[]; readonly users_count?: number } | undefined
  if (shown?.users && shown.users_count! >= MEMBERS) {
    expect(shown.users).toHaveLength(GROUP_READ_ENTRIES_MAX)
  }
})
