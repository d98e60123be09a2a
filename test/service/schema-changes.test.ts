/**
 * The schema under change, mixed with facts: what the engine has heard is what a reload would say and what the textbook
 * makes of it, at every moment; and nothing stored ever names something that is not there (contract C.7).
 */
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AuthzError } from '#model/errors.ts'
import { type Coverage, howToRepeat, seedsUntilMet } from '../properties/seeded.ts'
import { RunningEnvironment } from '../support/running-environment.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { allQuestions, FOUNDATION, type Step } from './random-operations.ts'
import { anySchemaStep, FACTS, RULES } from './random-schema.ts'
import { strayMentions } from './stray-mentions.ts'

const questions = allQuestions()

/** What the random histories came to, so that they cannot become trivial unnoticed. */
const tally = { checks: 0, allowed: 0 }
/** How often each operation was done. */
const done: Record<string, number> = {}

async function run(environment: RunningEnvironment, step: Step): Promise<void> {
  try {
    await environment.execute(step.operation, step.input)
    done[step.operation] = (done[step.operation] ?? 0) + 1
  } catch (error) {
    if (!(error instanceof AuthzError) || error.code === 'INTERNAL') throw error
  }
}

function expectAgreement(environment: RunningEnvironment): void {
  const live = questions.map(query => environment.decide(query))
  const fresh = environment.freshEngine()
  expect(questions.map(query => fresh.evaluate(query))).toEqual(live)
  const oracle = environment.oracle()
  expect(questions.map(query => oracle.evaluate(query))).toEqual(live)
  tally.checks += live.length
  tally.allowed += live.filter(Boolean).length
}

async function holds(
  runs: number,
  length: number,
  property: (steps: Step[]) => Promise<void>,
  parameters: fc.Parameters<[Step[]]> = {},
  coverage: Coverage = { met: {}, least: {} },
): Promise<void> {
  const steps = fc.array(anySchemaStep, { minLength: length, maxLength: length, size: 'max' })
  for (const seed of seedsUntilMet(coverage)) {
    try {
      await fc.assert(fc.asyncProperty(steps, property), { seed, numRuns: runs, ...parameters })
    } catch (error) {
      throw new Error(howToRepeat, { cause: error })
    }
  }
}

/** Runs the steps, so many at once, and looks in between, without waiting for the purge. */
async function check(steps: readonly Step[], width: number, looks: number, url?: string): Promise<void> {
  const environment = await RunningEnvironment.open(url)
  for (const step of [...FOUNDATION, ...FACTS, ...RULES])
    await environment.execute(step.operation, step.input)
  const lookEvery = Math.ceil(steps.length / looks)
  for (let start = 0; start < steps.length; start += width) {
    await Promise.all(steps.slice(start, start + width).map(step => run(environment, step)))
    expect(await strayMentions(environment)).toEqual([])
    if (start % lookEvery < width) expectAgreement(environment)
  }
  await environment.purged()
  expectAgreement(environment)
  expect(environment.orphanCount()).toBe(0)
  await environment.close()
}

test('whatever changes, the live engine, a reload and the textbook agree, and nothing names what is gone', async () => {
  const wanted = ['replaceResource', 'updateResource', 'deleteResource', 'deleteAction', 'deleteRelation']
  const others = ['deleteResourceRole', 'deleteTenantRole', 'addImplicitGrant', 'putRolesInBulk']
  const ofRules = [
    'createConditionSet',
    'updateConditionSet',
    'deleteConditionSet',
    'createSetRule',
    'deleteSetRule',
  ]
  const least = Object.fromEntries([...wanted, ...others, ...ofRules].map(operation => [operation, 4]))
  await holds(60, 70, steps => check(steps, 1, 4), {}, { met: done, least })
  expect(tally.checks, howToRepeat).toBeGreaterThan(5_000)
  expect(tally.allowed / tally.checks, howToRepeat).toBeGreaterThan(0.02)
})

test('they agree as well when the operations run several at once', async () => {
  // On lmdb, for a store in memory commits at once. Which comes first differs from run to run: nothing to shrink.
  const url = () => `lmdb:${storeDirectory()}`
  await holds(12, 80, steps => check(steps, 8, 2, url()), { endOnFailure: true })
})
