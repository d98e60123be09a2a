/**
 * A group with 100,000 members answers every group call in bounded size and time (contract B.3). Time is counted in rows
 * that a call reads: a clock would tell of the machine.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { OperationInput, OperationName } from '#management/environment/operations.ts'
import { EnvironmentService } from '#management/environment/environment-service.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import type { Row } from '#store/ledger.ts'
import { openStore } from '#store/open-store.ts'
import type { ListName, ScanOptions, View } from '#store/view.ts'
import { GROUP_READ_ENTRIES_MAX } from '#model/limits.ts'
import { TimeOrderedIds } from '../../src/composition/time-ordered-ids.ts'
import { RowLoader } from '#testing/processes/row-loader.ts'

const MEMBERS = 100_000
/** The first thousand, and what belongs to the call itself. */
const ROWS_MAX = GROUP_READ_ENTRIES_MAX + 200
/** A thousand ids in quotes, and the rest. */
const ANSWER_BYTES_MAX = GROUP_READ_ENTRIES_MAX * 40 + 4_096
const scope = { organizationId: 'o', projectId: 'p', environmentId: 'e', createdAt: 0 }
const tenant = 'default'
const big = { group_instance_key: 'big' }

/** The view of a store, and how many rows were read through it. */
class CountingView implements View {
  snapshot(): never {
    throw new Error('nobody takes a snapshot here')
  }

  readonly #view: View
  readonly present = this
  rowsRead = 0

  constructor(view: View) {
    this.#view = view
  }

  sequence(): number {
    return this.#view.sequence()
  }

  get(key: Uint8Array): Row | undefined {
    this.rowsRead += 1
    return this.#view.get(key)
  }

  *scan(list: ListName, options?: ScanOptions): Iterable<Row> {
    for (const row of this.#view.scan(list, options)) {
      this.rowsRead += 1
      yield row
    }
  }

  batches(): Iterable<readonly Row[]> {
    return this.#view.batches()
  }

  beginningWith(prefix: Uint8Array): Iterable<Row> {
    return this.#view.beginningWith(prefix)
  }

  *places(list: ListName, options?: ScanOptions): Iterable<number> {
    for (const place of this.#view.places(list, options)) {
      this.rowsRead += 1
      yield place
    }
  }

  count(list: ListName): number {
    return this.#view.count(list)
  }
}

let view: CountingView
let service: EnvironmentService

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-group-'))
  const store = await openStore(`lmdb:${directory}`, listRule)
  const { ledger, ...environment } = await store.environment('large-group')
  view = new CountingView(environment.view)
  const ids = new TimeOrderedIds(Date.now)
  const newId = () => ids.next()
  service = new EnvironmentService({
    store: { ...environment, ledger, view },
    scope,
    surroundings: {
      now: Date.now,
      elapsedMs: () => performance.now(),
      newId,
      newCommitId: () => randomBytes(16),
      newSecret: () => '',
      seal: () => null,
      attributesBytesMax: 65_536,
      onCommit: () => {},
      onBackgroundFault: error => {
        throw error
      },
    },
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
  const profile = { email: null, firstName: null, lastName: null, attributes: {} }
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
    rmSync(directory, { recursive: true })
  }
})

function execute<Name extends OperationName>(name: Name, input: OperationInput<Name>) {
  return service.execute(name, input)
}

const query = {}
const body = { tenant }
const onBig = { role: 'viewer', resource: 'doc', resource_instance: 'd1', tenant }
const newcomer = { ...big, user_id: 'newcomer' }

// In this order: each finds the group as the one before has left it.
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

test.each(CALLS)('%s %j', async (name, input) => {
  view.rowsRead = 0
  const { answer } = await service.execute(name, input as never)
  // A purge that goes on behind the answer reads, too, but not before the answer.
  expect(view.rowsRead).toBeLessThanOrEqual(ROWS_MAX * (name === 'listGroups' ? 2 : 1))
  expect(JSON.stringify(answer ?? null).length).toBeLessThanOrEqual(ANSWER_BYTES_MAX)
  const shown = answer as { readonly users?: readonly string[]; readonly users_count?: number } | undefined
  if (shown?.users && shown.users_count! >= MEMBERS) {
    expect(shown.users).toHaveLength(GROUP_READ_ENTRIES_MAX)
  }
})
