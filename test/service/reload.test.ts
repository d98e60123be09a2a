/**
 * What is decided follows from what is stored: after any history of operations the live engine, one loaded afresh, a
 * restarted service and the textbook answer alike, and nothing that is stored cannot be shown.
 */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AuthzError } from '#model/errors.ts'
import { howToRepeat, seed } from '../properties/seeded.ts'
import { RunningEnvironment } from '../support/running-environment.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { allQuestions, anyStep, FOUNDATION, type Step } from './random-operations.ts'

const questions = allQuestions()

/** What the random histories came to, so that they cannot become trivial unnoticed. */
const tally = { steps: 0, done: 0, checks: 0, allowed: 0 }

async function run(environment: RunningEnvironment, step: Step): Promise<boolean> {
  try {
    await environment.execute(step.operation, step.input)
    return true
  } catch (error) {
    if (!(error instanceof AuthzError) || error.code === 'INTERNAL') throw error
    return false
  }
}

/** Everything lists show; throws when something stored cannot be shown. */
async function shown(environment: RunningEnvironment): Promise<unknown> {
  const query = { per_page: 100 }
  const resources = await environment.execute('listResources', { query })
  const groups = await environment.execute('listGroups', { query })
  const links = []
  for (const { group_instance_key, group_resource_type_key } of groups) {
    const params = { group_instance_key: `${group_resource_type_key}:${group_instance_key}` }
    for (const list of [
      'listGroupChildren',
      'listGroupParents',
      'listGroupRoles',
      'listGroupUsers',
    ] as const) {
      links.push(await environment.execute(list, { params, query }))
    }
  }
  return { resources, groups, links }
}

/** Runs the steps, so many of them at once. */
async function runAll(environment: RunningEnvironment, steps: readonly Step[], width = 1): Promise<void> {
  for (const step of FOUNDATION) expect(await run(environment, step)).toBe(true)
  for (let start = 0; start < steps.length; start += width) {
    const done = await Promise.all(steps.slice(start, start + width).map(step => run(environment, step)))
    tally.steps += done.length
    tally.done += done.filter(Boolean).length
  }
  await environment.purged()
}

function answers(environment: RunningEnvironment): boolean[] {
  return questions.map(query => environment.decide(query))
}

function compare(environment: RunningEnvironment): boolean[] {
  expect(environment.orphanCount()).toBe(0)
  const live = answers(environment)
  const fresh = environment.freshEngine()
  expect(questions.map(query => fresh.evaluate(query))).toEqual(live)
  const oracle = environment.oracle()
  expect(questions.map(query => oracle.evaluate(query))).toEqual(live)
  tally.checks += live.length
  tally.allowed += live.filter(Boolean).length
  return live
}

async function holds(
  runs: number,
  length: number,
  property: (steps: Step[]) => Promise<void>,
  parameters: fc.Parameters<[Step[]]> = {},
): Promise<void> {
  const steps = fc.array(anyStep, { minLength: length, maxLength: length, size: 'max' })
  try {
    await fc.assert(fc.asyncProperty(steps, property), { seed, numRuns: runs, ...parameters })
  } catch (error) {
    throw new Error(howToRepeat, { cause: error })
  }
}

test('the live engine, a freshly loaded one and the textbook agree after any history', async () => {
  await holds(150, 80, async steps => {
    const environment = await RunningEnvironment.open()
    await runAll(environment, steps)
    await shown(environment)
    compare(environment)
    await environment.close()
  })
  expect(tally.checks, howToRepeat).toBeGreaterThan(5_000)
  expect(tally.done / tally.steps, howToRepeat).toBeGreaterThan(0.15)
  expect(tally.allowed / tally.checks, howToRepeat).toBeGreaterThan(0.03)
})

test('they agree as well when the operations run several at once', async () => {
  const check = async (steps: Step[]) => {
    const environment = await RunningEnvironment.open()
    await runAll(environment, steps, 8)
    await shown(environment)
    compare(environment)
    await environment.close()
  }
  // Which of them comes first differs from run to run, so there is nothing to shrink.
  await holds(100, 120, check, { endOnFailure: true })
})

test('a restart changes neither decisions nor what is shown', async () => {
  const check = async (steps: Step[]) => {
    const environment = await RunningEnvironment.open(`lmdb:${storeDirectory()}`)
    await runAll(environment, steps)
    const before = [compare(environment), await shown(environment)]
    const reopened = await environment.reopen()
    expect([compare(reopened), await shown(reopened)]).toEqual(before)
    await reopened.close()
  }
  await holds(4, 80, check, { endOnFailure: true })
})
