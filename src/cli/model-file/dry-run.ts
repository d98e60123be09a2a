/**
 * Performs a dry run of a plan in memory, with the real engine. If the service would reject a change, this
 * change is reported with its location in the file. Otherwise the tests of the file run on the resulting
 * environment.
 *
 * The environment in memory contains the whole current model, but only those current facts that the file
 * mentions. The tests are therefore about the facts in the file, and the cost of the dry run does not
 * depend on the number of other facts.
 */
import { Check } from 'typebox/schema'
import { InProcessApi } from '#cli/session/in-process-api.ts'
import { type Api, type ApiAnswer, messageOf } from '#cli/session/api.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'
import type { ModelTest } from '#entities/model-file.ts'
import { ManagementError } from '#model/wire/problem.ts'
import { batchesOf, requestBody, type StepRequest, type StepWarning, warningsOf } from './apply-plan.ts'
import { EnvironmentState } from './environment-state.ts'
import { runTest, type TestOutcome } from './expectations.ts'
import type { Finding } from './findings.ts'
import { planOf } from './plan.ts'
import type { PlannedRequest, PruneOptions, Step } from './plan-step.ts'

const PLACE = 'default/default'

export interface DryRun {
  /** Changes that the service would reject. If the list is not empty, the tests did not run. */
  readonly refusals: readonly Finding[]
  readonly warnings: readonly StepWarning[]
  readonly tests: readonly TestOutcome[]
}

/**
 * Settings of the service in memory. They have the maximum limit, because the real service enforces its own
 * limit.
 */
const SERVICE_CEILINGS = { MAX_ATTRIBUTES_BYTES: '16777216' }

/** `current`: current state of the objects that the file mentions. Null if the file is self-contained. */
export async function performDryRun(
  desired: EnvironmentState,
  tests: readonly ModelTest[],
  current: EnvironmentState | null,
  prune: PruneOptions,
): Promise<DryRun> {
  const api = await InProcessApi.open(current === null ? {} : SERVICE_CEILINGS)
  try {
    const empty = new EnvironmentState()
    // Every environment initially contains this tenant.
    empty.tenants.set(DEFAULT_TENANT, { name: 'Default tenant' })
    const before = current === null ? empty : mentionedOf(current, desired, prune)
    before.tenants.set(DEFAULT_TENANT, before.tenants.get(DEFAULT_TENANT) ?? { name: 'Default tenant' })
    const none = { model: false, facts: false }
    // Rejections of the current state are ignored: it already exists in the service and was possibly created
    // under other limits.
    const { refusals: ignored } = await tryPlan(api, planOf(empty, before, none))
    const { refusals, warnings } = await tryPlan(
      api,
      planOf(before, desired, { ...none, model: prune.model }),
    )
    if (refusals.length > 0 && ignored.length === 0) return { refusals, warnings, tests: [] }
    const outcomes: TestOutcome[] = []
    for (const test of tests) outcomes.push(await runTest(api, test))
    return { refusals: [], warnings, tests: outcomes }
  } finally {
    await api.close()
  }
}

/**
 * Returns the current model, and the current facts that the file mentions and that depend on no other facts.
 * Facts that connect other facts, such as role assignments, are omitted. If the tests need such a fact, the
 * file contains it.
 */
function mentionedOf(
  current: EnvironmentState,
  desired: EnvironmentState,
  prune: PruneOptions,
): EnvironmentState {
  const state = new EnvironmentState()
  const copy = <Value>(from: ReadonlyMap<string, Value>, to: Map<string, Value>) => {
    for (const [key, value] of from) to.set(key, value)
  }
  copy(current.userAttributes, state.userAttributes)
  copy(current.tenantAttributes, state.tenantAttributes)
  copy(current.resources, state.resources)
  copy(current.roles, state.roles)
  copy(current.conditionSets, state.conditionSets)
  copy(current.rules, state.rules)
  // There can be many facts that the file does not mention. If the plan removes them, they are not copied.
  const staying = <Value>(from: ReadonlyMap<string, Value>, named: ReadonlyMap<string, unknown>) =>
    prune.facts ? new Map([...from].filter(([name]) => named.has(name))) : from
  copy(staying(current.tenants, desired.tenants), state.tenants)
  copy(staying(current.users, desired.users), state.users)
  copy(staying(current.instances, desired.instances), state.instances)
  const named = new Set<string>([
    ...desired.groups.keys(),
    ...[...desired.groups.values()].flatMap(({ groups }) => [...groups.keys()]),
  ])
  for (const [name, { tenant }] of current.groups) {
    if (named.has(name)) {
      state.groups.set(name, { tenant, members: new Map(), groups: new Map(), roles: new Map() })
    }
  }
  return state
}

/**
 * Executes the requests of a plan. If a request is rejected, later phases are skipped, because their requests
 * might depend on it.
 */
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
    // The batch was rejected. Its requests are sent one by one to find out which of them is invalid.
    if (batch.length > 1) for (const each of batch) await send([each])
  }
  return { refusals, warnings }
}

function findingsOf(answer: ApiAnswer, { location = [], what }: Step, request: PlannedRequest): Finding[] {
  const { body } = answer
  const details = Check(ManagementError, body) ? (body.detail ?? []) : []
  if (details.length === 0 || request.bulk !== undefined)
    return [{ location, message: `${what}: ${messageOf(answer)}`, isAboutKey: true }]
  // The path in the body is also valid in the file, because both have the same structure.
  return details.map(({ loc, msg }) => ({
    location: [...location, ...loc.slice(1)],
    message: msg,
    isAboutKey: true,
  }))
}
