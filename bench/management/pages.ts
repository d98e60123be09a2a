/**
 * Compares the cost of a page of a list in a small and in a large environment. The same page of the same
 * list, with or without a filter, must cost at most twice as much, whatever the number of rows. If the list
 * in the small environment is too short for the page, its last full page is used.
 *
 *     node bench/management/pages.ts [rows of each kind in the large environment, default 1000000]
 */
import type { OperationName } from '#management/environment/operations.ts'
import { atMost, type Figure, median, publish, round } from '../lib/measure.ts'
import {
  BulkStore,
  instanceRecord,
  newId,
  relationRecord,
  roleRecord,
  tenantRecord,
  typeRecord,
  userRecord,
} from '../data/bulk-store.ts'

const ROWS_SMALL = 1_000
const rowsLarge = Number(process.argv[2] ?? 1_000_000)
const PAGE_SIZE = 30
const PAGES = [1, 2, 10, 50, 100]
const RUNS = 41
const FACTOR_MAX = 2
const print = (line: string) => process.stdout.write(`${line}\n`)

/** Each list, with each of its filters. Each filter matches at least a tenth of the rows. */
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
  ['listDetailedRoleAssignments', {}],
  ['listResourceInstances', {}],
  ['listResourceInstances', { tenant: 't2' }],
  ['listResourceInstances', { resource: 'doc' }],
  ['listDetailedResourceInstances', {}],
  ['listRelationshipTuples', {}],
  ['listRelationshipTuples', { tenant: 't2' }],
  ['listRelationshipTuples', { subject: 'doc:hub' }],
  ['listRelationshipTuples', { object: 'doc:hub' }],
  ['listRelationshipTuples', { relation: 'rel1' }],
  ['listRelationshipTuples', { subject_type: 'doc' }],
  ['listRelationshipTuples', { object_type: 'doc' }],
  ['listDetailedRelationshipTuples', {}],
  ['listGroupRecords', {}],
  ['listGroupRecords', { tenant: 't2' }],
  ['listGroupRecords', { resource: 'doc' }],
  ['listGroups', {}],
  ['listGroupUsers', {}],
]

/**
 * Environment with `rows` facts of every kind. Which rows refer to each other depends on the last digit of
 * their numbers.
 */
async function filled(rows: number): Promise<BulkStore> {
  const bulk = await BulkStore.open()
  const { loader } = bulk
  const [doc, folder] = [typeRecord('doc'), typeRecord('folder')]
  const tenantRoles = Array.from({ length: 10 }, (_, digit) => roleRecord(`tr${digit}`, null))
  // Users with the digit 1 hold the role of members, so they are the members of a group.
  const docRoles = Array.from({ length: 10 }, (_, digit) =>
    roleRecord(digit === 1 ? 'member' : `rr${digit}`, doc.id),
  )
  const relations = [relationRecord('rel0', doc.id, doc.id), relationRecord('rel1', doc.id, doc.id)]
  const tenants = Array.from({ length: 10 }, (_, digit) => tenantRecord(`t${digit}`))
  const hubUser = userRecord('hub')
  const hub = { ...instanceRecord('hub', doc.id, tenants[0]!.id), isGroup: true }
  for (const record of [doc, folder, ...tenantRoles, ...docRoles, ...relations, ...tenants, hubUser]) {
    await loader.add(record)
  }
  for (let row = 0; row < rows; row += 1) {
    const digit = row % 10
    const tenantId = tenants[digit]!.id
    const type = digit === 5 ? folder : doc
    const instance = { ...instanceRecord(`i${row}`, type.id, tenantId), isGroup: digit >= 2 && digit <= 4 }
    const user = userRecord(`u${row}`)
    await loader.add(user)
    await loader.add(instance)
    if (row >= 10) await loader.add(tenantRecord(`t${row}`))
    const isInTenant = digit >= 2 && digit <= 5
    await loader.add({
      kind: 'assignment',
      id: newId(),
      userId: digit === 0 ? hubUser.id : user.id,
      roleId: (isInTenant ? tenantRoles : docRoles)[digit]!.id,
      tenantId,
      instanceId: isInTenant ? null : digit === 1 ? hub.id : instance.id,
      createdAt: 0,
      expiresAt: null,
    })
    await loader.add({
      kind: 'tuple',
      id: newId(),
      subjectId: digit === 6 ? hub.id : instance.id,
      relationId: relations[digit < 5 ? 0 : 1]!.id,
      objectId: digit === 7 ? hub.id : instance.id,
      tenantId,
      createdAt: 0,
      expiresAt: null,
    })
  }
  // This row is added last, so that it is after the compared pages. A page with this row is larger because
  // the row has many dependents.
  await loader.add(hub)
  await loader.flush()
  return bulk
}

interface Answer {
  readonly data: readonly unknown[]
  readonly total_count: number
}

type Question = (typeof QUESTIONS)[number]

async function ask(bulk: BulkStore, [operation, filter]: Question, page: number): Promise<Answer> {
  const query = { ...filter, page, per_page: PAGE_SIZE, include_total_count: true }
  const params = { tenant_id: 't2', group_instance_key: 'doc:hub' }
  const { answer } = await bulk.service.execute(operation, { params, query } as never)
  return Array.isArray(answer)
    ? { data: answer, total_count: Number.POSITIVE_INFINITY }
    : (answer as unknown as Answer)
}

/** Returns the last full page up to `page`. Verifies the page and the total. */
async function fullPage(bulk: BulkStore, question: Question, page: number, rows: number): Promise<number> {
  for (let number = page; number >= 1; number -= 1) {
    const { data, total_count } = await ask(bulk, question, number)
    if (total_count < rows / 10) throw new Error(`${JSON.stringify(question)}: a total of ${total_count}`)
    const pages = Math.floor(total_count / PAGE_SIZE)
    if (data.length === PAGE_SIZE) return number
    if (Number.isFinite(pages) && pages < number) number = pages + 1
  }
  throw new Error(`${JSON.stringify(question)}: no full page`)
}

async function timeUs(bulk: BulkStore, question: Question, page: number): Promise<number> {
  const from = performance.now()
  await ask(bulk, question, page)
  return (performance.now() - from) * 1_000
}

/** Runs alternate between the two environments. Returns the medians in microseconds. */
async function race(
  small: BulkStore,
  large: BulkStore,
  question: Question,
  pages: readonly [number, number],
) {
  const [inSmall, inLarge]: [number[], number[]] = [[], []]
  for (let run = 0; run < RUNS; run += 1) {
    inSmall.push(await timeUs(small, question, pages[0]))
    inLarge.push(await timeUs(large, question, pages[1]))
  }
  return { small: median(inSmall), large: median(inLarge) }
}

async function comparePages(): Promise<void> {
  const small = await filled(ROWS_SMALL)
  const from = performance.now()
  const large = await filled(rowsLarge)
  const loadedS = (performance.now() - from) / 1_000
  print(`loaded ${rowsLarge} rows of each of 5 kinds in ${loadedS.toFixed(0)} s`)
  print(`| list | filter | page | compared with | ${ROWS_SMALL} rows, us | ${rowsLarge} rows, us | factor |`)
  print('| --- | --- | --: | --: | --: | --: | --: |')
  const rows = []
  for (const question of QUESTIONS) {
    for (const page of PAGES) {
      const compared = await fullPage(small, question, page, ROWS_SMALL)
      const reached = await fullPage(large, question, page, rowsLarge)
      if (reached !== page) throw new Error(`${JSON.stringify(question)}: page ${page} is not full`)
      const us = await race(small, large, question, [compared, page])
      const factor = us.large / us.small
      const [list, filter] = [question[0], JSON.stringify(question[1])]
      rows.push({ list, filter, page, compared, ...us, factor })
      const cells = [
        list,
        filter,
        page,
        compared,
        us.small.toFixed(0),
        us.large.toFixed(0),
        factor.toFixed(2),
      ]
      print(`| ${cells.join(' | ')} |`)
    }
  }
  await small.close()
  await large.close()
  const worst = rows.toSorted((a, b) => b.factor - a.factor)[0]!
  const worstOfSame = rows
    .filter(row => row.page === row.compared)
    .toSorted((a, b) => b.factor - a.factor)[0]!
  const figures: Figure[] = [
    atMost(`the same page, worst: ${nameOf(worstOfSame)}`, worstOfSame.factor, FACTOR_MAX, '×'),
    atMost(`any page of the first 100, worst: ${nameOf(worst)}`, worst.factor, FACTOR_MAX, '×'),
  ]
  const dataset = `${ROWS_SMALL} and ${rowsLarge} each of users, tenants, instances, assignments, tuples; see filled()`
  publish('management-pages', figures, {
    dataset,
    loadedS: round(loadedS),
    pageSize: PAGE_SIZE,
    runs: RUNS,
    rows,
  })
}

function nameOf(row: { readonly list: string; readonly filter: string; readonly page: number }): string {
  return `${row.list} ${row.filter} page ${row.page}`
}

await comparePages()
