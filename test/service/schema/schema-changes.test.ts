/** Decisions follow from the stored rows, and the schema stays consistent (native.md C.5 and C.7). */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AuthzError } from '#model/errors.ts'
import type { RelationRecord, RoleRecord } from '#entities/records.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { holdsForAll } from '../../support/random-runs.ts'
import { RunningEnvironment } from '../../support/running-environment.ts'
import { allQuestions, anyStep, FACTS, FOUNDATION, RULES, type Step, SURE } from '../random-management.ts'
import { strayMentions } from '../removals/stray-mentions.ts'

const GROUP_LISTS = ['listGroupChildren', 'listGroupParents', 'listGroupRoles', 'listGroupUsers'] as const
const questions = allQuestions()

const anyHistory = (length: number) =>
  fc.array(anyStep, { minLength: length, maxLength: length, size: 'max' })

async function run(environment: RunningEnvironment, step: Step): Promise<void> {
  try {
    await environment.execute(step.operation, step.input)
  } catch (error) {
    if (!(error instanceof AuthzError) || error.code === 'INTERNAL') throw error
  }
}

/** Returns the decisions on which all engines agree. */
function expectAgreement(environment: RunningEnvironment): boolean[] {
  const live = questions.map(query => environment.decide(query))
  for (const other of [environment.freshEngine(), environment.oracle()]) {
    expect(questions.map(query => other.evaluate(query))).toEqual(live)
  }
  return live
}

/** Reads all lists. Fails if a stored entity cannot be shown. */
async function shown(environment: RunningEnvironment): Promise<unknown> {
  const query = { per_page: 100 }
  const resources = await environment.execute('listResources', { query })
  const groups = await environment.execute('listGroups', { query })
  const links = []
  for (const { group_instance_key, group_resource_type_key } of groups) {
    const params = { group_instance_key: `${group_resource_type_key}:${group_instance_key}` }
    for (const list of GROUP_LISTS) {
      links.push(await environment.execute(list, { params, query }))
    }
  }
  return { resources, groups, links }
}

/** Keys of relations of the groups API without a tuple and without a derivation of another client. */
function unneededRelations(environment: RunningEnvironment): string[] {
  const records = environment.reader()
  const tuples = [...records.list('tuple', lists.all('tuple'))]
  const roles = [...records.list('role', lists.all('role'))]
  const isNeeded = ({ id, typeId, key, groupUse }: RelationRecord): boolean => {
    const isOwn = (role: RoleRecord, source: string): boolean =>
      source === 'member' && role.key === (groupUse?.use === 'grant' ? groupUse.role : 'member')
    const isDerivedOver = (role: RoleRecord): boolean =>
      role.grantedTo.entries.some(entry => entry.relation === key && !isOwn(role, entry.role))
    return (
      tuples.some(({ relationId }) => relationId === id) ||
      roles.some(role => role.typeId === typeId && isDerivedOver(role))
    )
  }
  const made = [...records.list('relation', lists.all('relation'))].filter(
    ({ groupUse }) => groupUse !== null,
  )
  return made.filter(relation => !isNeeded(relation)).map(({ key }) => key)
}

async function founded(url?: string): Promise<RunningEnvironment> {
  const environment = await RunningEnvironment.open(url)
  for (const { operation, input } of [...FOUNDATION, ...FACTS, ...RULES]) {
    await environment.execute(operation, input)
  }
  return environment
}

/** Runs the steps with a concurrency of `width`, and checks agreement several times during the purge. */
async function check(environment: RunningEnvironment, steps: readonly Step[], width: number) {
  const looksAt = new Set([0, 0.3, 0.6].map(share => Math.floor((share * steps.length) / width) * width))
  for (let start = 0; start < steps.length; start += width) {
    await Promise.all(steps.slice(start, start + width).map(step => run(environment, step)))
    expect(await strayMentions(environment)).toEqual([])
    if (width === 1) expect(unneededRelations(environment)).toEqual([])
    if (looksAt.has(start)) expectAgreement(environment)
  }
  await environment.purged()
  expect(environment.orphanCount()).toBe(0)
  return [expectAgreement(environment), await shown(environment)]
}

test('the initial state of the random histories allows some checks and denies others', async () => {
  expect(new Set(expectAgreement(await founded()))).toEqual(new Set([true, false]))
})

test('after any history, the engine, a reloaded engine and the oracle agree, and all referenced rows exist', async () => {
  for (const [series, first] of SURE.entries()) {
    const property = async (steps: readonly Step[]) => {
      const environment = await founded()
      await environment.execute(first.operation, first.input)
      await check(environment, steps, 1)
      await environment.close()
    }
    await holdsForAll(anyHistory(60), 1, property, { series })
  }
})

test('after concurrent changes and a restart, the engine, a reloaded engine and the oracle still agree', async () => {
  // The test uses lmdb, because a store in memory commits immediately.
  const property = async (steps: readonly Step[]) => {
    const environment = await founded(`lmdb:${storeDirectory()}`)
    const before = await check(environment, steps, 8)
    const reopened = await environment.reopen()
    expect([expectAgreement(reopened), await shown(reopened)]).toEqual(before)
    await reopened.close()
  }
  await holdsForAll(anyHistory(80), 4, property, { isShrunk: false })
})
