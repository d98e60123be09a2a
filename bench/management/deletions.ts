/**
 * What a deletion with many dependants costs those who wait: the time to its answer, and the longest time for which the
 * thread that writes did nothing else, before the answer and while the dependants were purged.
 *
 *     node bench/management/deletions.ts [dependants, default 200000]
 */
import { randomUUID } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { OperationName } from '#services/management/operations.ts'
import { lists } from '#store/keyspace.ts'
import {
  BulkStore,
  instanceRecord,
  relationRecord,
  roleRecord,
  tenantRecord,
  typeRecord,
  userRecord,
} from './bulk-store.ts'

const dependants = Number(process.argv[2] ?? 200_000)
const print = (line: string) => process.stdout.write(`${line}\n`)

/** Time this thread has worked: on a machine that others use, the clock on the wall says how busy they are. */
function busyMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

/** Deletes what `operation` names while watching how long the thread works between two turns. */
async function timeDeletion(
  name: string,
  fill: (bulk: BulkStore) => Promise<void>,
  operation: OperationName,
  params: object,
) {
  const bulk = await BulkStore.open()
  await fill(bulk)
  await bulk.flush()
  const from = performance.now()
  let longest = 0
  const watched = { isOver: false }
  const watch = (async () => {
    let last = busyMs()
    while (!watched.isOver) {
      await nextTurn()
      const now = busyMs()
      longest = Math.max(longest, now - last)
      last = now
    }
  })()
  await bulk.service.execute(operation, { params } as never)
  const answered = performance.now() - from
  const longestBeforeAnswer = longest
  longest = 0
  while (bulk.environment.view.count(lists.all('purge')) > 0) await nextTurn()
  const purged = performance.now() - from
  watched.isOver = true
  await watch
  if (bulk.environment.view.count(lists.all('assignment')) > 0) throw new Error(`${name}: rows were left`)
  print(
    `| ${name} | ${dependants} | ${answered.toFixed(1)} | ${longestBeforeAnswer.toFixed(1)} | ${longest.toFixed(1)} | ${(purged / 1_000).toFixed(1)} |`,
  )
  await bulk.close()
}

async function fillTenant(bulk: BulkStore): Promise<void> {
  const [doc, tenant, role] = [typeRecord('doc'), tenantRecord('acme'), roleRecord('member', null)]
  const relation = relationRecord('rel', doc.id, doc.id)
  for (const record of [doc, tenant, role, relation]) await bulk.add(record)
  for (let row = 0; row < dependants / 4; row += 1) {
    const [user, instance] = [userRecord(`u${row}`), instanceRecord(`i${row}`, doc.id, tenant.id)]
    const ids = { tenantId: tenant.id, createdAt: 0 }
    await bulk.add(user)
    await bulk.add(instance)
    await bulk.add({
      kind: 'assignment',
      id: randomUUID(),
      userId: user.id,
      roleId: role.id,
      instanceId: null,
      ...ids,
    })
    for (const objectId of [instance.id, randomUUID()]) {
      await bulk.add({
        kind: 'tuple',
        id: randomUUID(),
        subjectId: instance.id,
        relationId: relation.id,
        objectId,
        ...ids,
      })
    }
  }
}

async function fillUser(bulk: BulkStore): Promise<void> {
  const [user, role] = [userRecord('busy'), roleRecord('member', null)]
  await bulk.add(user)
  await bulk.add(role)
  for (let row = 0; row < dependants; row += 1) {
    const ids = { userId: user.id, roleId: role.id, tenantId: randomUUID() }
    await bulk.add({ kind: 'assignment', id: randomUUID(), instanceId: null, createdAt: 0, ...ids })
  }
}

print(
  '| deleted | dependants | answered after, ms | longest pause before, ms | longest pause while purging, ms | purged after, s |',
)
print('| --- | --: | --: | --: | --: | --: |')
await timeDeletion('tenant', fillTenant, 'deleteTenant', { tenant_id: 'acme' })
await timeDeletion('user', fillUser, 'deleteUser', { user_id: 'busy' })
