/**
 * Carries a plan out in memory, on the real engine, before it is carried out for good: what the service would refuse is told with its
 * place in the file, and the file's tests are tried on what the environment would be.
 *
 * The environment in memory has the whole model that is there, and of its facts those that the file mentions. So the tests are about
 * the file's own facts, however many others there are.
 */
import { InProcessApi } from '#cli/in-process-api.ts'
import { type Api, type ApiAnswer, messageOf } from '#cli/api.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'
import type { ModelTest } from '#model/model-file.ts'
import { Check } from 'typebox/schema'
import { ManagementError } from '#model/wire/problem.ts'
import { batchesOf, requestBody, type StepRequest, type StepWarning, warningsOf } from './apply-plan.ts'
import { EnvironmentState } from './environment-state.ts'
import { runTest, type TestOutcome } from './expectations.ts'
import type { Finding } from './findings.ts'
import { planOf } from './plan.ts'
import type { PlannedRequest, PruneOptions, Step } from './plan-step.ts'

const PLACE = 'default/default'

export interface Rehearsal {
  /** What would be refused. If there is any, the tests were not tried. */
  readonly refusals: readonly Finding[]
  readonly warnings: readonly StepWarning[]
  readonly tests: readonly TestOutcome[]
}

/** What a service may have been set to take: its ceiling is its own to hold. */
const SERVICE_CEILINGS = { MAX_ATTRIBUTES_BYTES: '16777216' }

/** `present`: what the environment has of what the file mentions; `null` for a file that stands alone. */
export async function rehearse(
  wanted: EnvironmentState,
  tests: readonly ModelTest[],
  present: EnvironmentState | null,
  prune: PruneOptions,
): Promise<Rehearsal> {
  const api = await InProcessApi.open(present === null ? {} : SERVICE_CEILINGS)
  try {
    const empty = new EnvironmentState()
    // What every environment starts with.
    empty.tenants.set(DEFAULT_TENANT, { name: 'Default tenant' })
    const before = present === null ? empty : mentionedOf(present, wanted, prune)
    before.tenants.set(DEFAULT_TENANT, before.tenants.get(DEFAULT_TENANT) ?? { name: 'Default tenant' })
    const none = { model: false, facts: false }
    // What is there was taken once, perhaps under other ceilings; whether it could be made again is not the question.
    const { refusals: ignored } = await tryPlan(api, planOf(empty, before, none))
    const { refusals, warnings } = await tryPlan(api, planOf(before, wanted, { ...none, model: prune.model }))
    if (refusals.length > 0 && ignored.length === 0) return { refusals, warnings, tests: [] }
    const outcomes: TestOutcome[] = []
    for (const test of tests) outcomes.push(await runTest(api, test))
    return { refusals: [], warnings, tests: outcomes }
  } finally {
    await api.close()
  }
}

/** The model that is there, with the facts that stand alone. What ties them together is in the file, or is none of its concern. */
function mentionedOf(
  present: EnvironmentState,
  wanted: EnvironmentState,
  prune: PruneOptions,
): EnvironmentState {
  const state = new EnvironmentState()
  const copy = <Value>(from: ReadonlyMap<string, Value>, to: Map<string, Value>) => {
    for (const [key, value] of from) to.set(key, value)
  }
  copy(present.userAttributes, state.userAttributes)
  copy(present.tenantAttributes, state.tenantAttributes)
  copy(present.resources, state.resources)
  copy(present.roles, state.roles)
  copy(present.conditionSets, state.conditionSets)
  copy(present.rules, state.rules)
  // Of facts that go there may be any number.
  const staying = <Value>(from: ReadonlyMap<string, Value>, named: ReadonlyMap<string, unknown>) =>
    prune.facts ? new Map([...from].filter(([name]) => named.has(name))) : from
  copy(staying(present.tenants, wanted.tenants), state.tenants)
  copy(staying(present.users, wanted.users), state.users)
  copy(staying(present.instances, wanted.instances), state.instances)
  const named = new Set<string>([
    ...wanted.groups.keys(),
    ...[...wanted.groups.values()].flatMap(({ groups }) => [...groups.keys()]),
  ])
  for (const [name, { tenant }] of present.groups) {
    if (named.has(name)) {
      state.groups.set(name, { tenant, members: new Map(), groups: new Map(), roles: new Map() })
    }
  }
  return state
}

/** Makes the requests of a plan. Where some are refused, those after them in order are not made: they may need what is missing. */
async function tryPlan(
  api: Api,
  steps: readonly Step[],
): Promise<{ readonly refusals: Finding[]; readonly warnings: StepWarning[] }> {
  const refusals: Finding[] = []
  const warnings: StepWarning[] = []
  let refusedIn: number | null = null
  const send = async (batch: readonly StepRequest[]): Promise<boolean> => {
    const calls = batch.map(({ request }) => request)
    const [{ base, method, path }] = calls as [PlannedRequest]
    const answer = await api.send(method, `/v2/${base}/${PLACE}/${path}`, requestBody(calls))
    warnings.push(...warningsOf(answer, batch))
    if (answer.status < 300) return true
    if (calls.length === 1) refusals.push(...findingsOf(answer, batch[0]!.step, calls[0]!))
    return false
  }
  for (const batch of batchesOf(steps)) {
    const { phase } = batch[0]!.request
    if (refusedIn !== null && phase > refusedIn) break
    if (await send(batch)) continue
    refusedIn = phase
    // Which of them it was: one by one.
    if (batch.length > 1) for (const each of batch) await send([each])
  }
  return { refusals, warnings }
}

function findingsOf(answer: ApiAnswer, { way = [], what }: Step, request: PlannedRequest): Finding[] {
  const { body } = answer
  const details = Check(ManagementError, body) ? (body.detail ?? []) : []
  if (details.length === 0 || request.bulk !== undefined)
    return [{ way, message: `${what}: ${messageOf(answer)}`, isAboutKey: true }]
  // A body is formed as the file is.
  return details.map(({ loc, msg }) => ({ way: [...way, ...loc.slice(1)], message: msg, isAboutKey: true }))
}
