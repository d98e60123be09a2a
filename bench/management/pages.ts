/**
 * What a page of a list costs in a small environment and in a large one: the same page of the same list, without a filter
 * or with one, must cost the same within a factor of two, however many rows there are.
 *
 *     node bench/management/pages.ts [rows of each kind in the large environment, default 1000000]
 */
import { randomUUID } from 'node:crypto'
import type { OperationName } from '#services/management/operations.ts'
import {
  BulkStore,
  instanceRecord,
  relationRecord,
  roleRecord,
  tenantRecord,
  typeRecord,
  userRecord,
} from './bulk-store.ts'

const ROWS_SMALL = 1_000
const rowsLarge = Number(process.argv[2] ?? 1_000_000)
const RUNS = 300
const print = (line: string) => process.stdout.write(`${line}\n`)

/** Each list with each of its filters. Every filter lets a tenth through, or more; all of them reach page 3. */
const QUESTIONS: readonly (readonly [OperationName, Record<string, unknown>])[] = [
  ['listTenants', {}],
  ['listUsers', {}],
  ['listUsers', { role: 'tr2' }],
  ['listUsers', { role: '' }],
  ['listTenantUsers', {}],
  ['listRoleAssignments', {}],
  ['listRoleAssignments', { user: 'hub' }],
  ['listRoleAssignments', { role: 'tr2' }],
  ['listRoleAssignments', { tenant: ['t2'] }],
  ['listRoleAssignments', { tenant: ['t2', 't3'] }],
  ['listRoleAssignments', { resource: 'doc' }],
  ['listRoleAssignments', { resource_instance: 'doc:hub' }],
  ['listResourceInstances', {}],
  ['listResourceInstances', { tenant: 't2' }],
  ['listResourceInstances', { resource: 'doc' }],
  ['listRelationshipTuples', {}],
  ['listRelationshipTuples', { tenant: 't2' }],
  ['listRelationshipTuples', { subject: 'doc:hub' }],
  ['listRelationshipTuples', { object: 'doc:hub' }],
  ['listRelationshipTuples', { relation: 'rel1' }],
  ['listRelationshipTuples', { subject_type: 'doc' }],
  ['listRelationshipTuples', { object_type: 'doc' }],
]
const PAGES = [1, 3]

/** Every kind of fact `rows` times; what a row refers to goes by the last digit of its number. */
async function filled(rows: number): Promise<BulkStore> {
  const bulk = await BulkStore.open()
  const [doc, folder] = [typeRecord('doc'), typeRecord('folder')]
  const tenantRoles = Array.from({ length: 10 }, (_, digit) => roleRecord(`tr${digit}`, null))
  const docRoles = Array.from({ length: 10 }, (_, digit) => roleRecord(`rr${digit}`, doc.id))
  const relations = [relationRecord('rel0', doc.id, doc.id), relationRecord('rel1', doc.id, doc.id)]
  const tenants = Array.from({ length: 10 }, (_, digit) => tenantRecord(`t${digit}`))
  const hubUser = userRecord('hub')
  const hub = instanceRecord('hub', doc.id, tenants[0]!.id)
  for (const record of [doc, folder, ...tenantRoles, ...docRoles, ...relations, ...tenants, hubUser, hub]) {
    await bulk.add(record)
  }
  for (let row = 0; row < rows; row += 1) {
    const digit = row % 10
    const tenantId = tenants[digit]!.id
    const instance = instanceRecord(`i${row}`, digit === 5 ? folder.id : doc.id, tenantId)
    const user = userRecord(`u${row}`)
    await bulk.add(user)
    await bulk.add(instance)
    if (row >= 10) await bulk.add(tenantRecord(`t${row}`))
    const isInTenant = digit >= 2 && digit <= 5
    await bulk.add({
      kind: 'assignment',
      id: randomUUID(),
      userId: digit === 0 ? hubUser.id : user.id,
      roleId: (isInTenant ? tenantRoles : docRoles)[digit]!.id,
      tenantId,
      instanceId: isInTenant ? null : digit === 1 ? hub.id : instance.id,
      createdAt: 0,
    })
    await bulk.add({
      kind: 'tuple',
      id: randomUUID(),
      subjectId: digit === 6 ? hub.id : instance.id,
      relationId: relations[digit < 5 ? 0 : 1]!.id,
      objectId: digit === 7 ? hub.id : instance.id,
      tenantId,
      createdAt: 0,
    })
  }
  await bulk.flush()
  return bulk
}

interface Answer {
  readonly data: readonly unknown[]
  readonly total_count: number
}

async function ask(
  bulk: BulkStore,
  [operation, filter]: (typeof QUESTIONS)[number],
  page: number,
): Promise<Answer> {
  const query = { ...filter, page, per_page: 30, include_total_count: true }
  const { answer } = await bulk.service.execute(operation, { params: { tenant_id: 't2' }, query } as never)
  return answer as Answer
}

/** The median of many runs in microseconds, after the answer was found right: full pages and the expected total. */
async function timePage(bulk: BulkStore, question: (typeof QUESTIONS)[number], page: number, rows: number) {
  const answer = await ask(bulk, question, page)
  const isRight = answer.data.length === 30 && answer.total_count >= rows / 10
  if (!isRight) throw new Error(`${JSON.stringify(question)}: ${answer.data.length} of ${answer.total_count}`)
  const taken: number[] = []
  for (let run = 0; run < RUNS; run += 1) {
    const from = performance.now()
    await ask(bulk, question, page)
    taken.push(performance.now() - from)
  }
  return taken.toSorted((a, b) => a - b)[RUNS / 2]! * 1_000
}

async function comparePages(): Promise<void> {
  const small = await filled(ROWS_SMALL)
  const from = performance.now()
  const large = await filled(rowsLarge)
  print(`loaded ${5 * rowsLarge} rows in ${((performance.now() - from) / 1_000).toFixed(0)} s`)
  print(`| list | filter | page | ${ROWS_SMALL} rows, µs | ${rowsLarge} rows, µs | factor |`)
  print('| --- | --- | --: | --: | --: | --: |')
  for (const question of QUESTIONS) {
    for (const page of PAGES) {
      await timePage(small, question, page, ROWS_SMALL)
      const [before, after] = [
        await timePage(small, question, page, ROWS_SMALL),
        await timePage(large, question, page, rowsLarge),
      ]
      const [name, filter] = question
      const cells = [
        name,
        JSON.stringify(filter),
        page,
        before.toFixed(0),
        after.toFixed(0),
        (after / before).toFixed(2),
      ]
      print(`| ${cells.join(' | ')} |`)
    }
  }
  await small.close()
  await large.close()
}

await comparePages()
