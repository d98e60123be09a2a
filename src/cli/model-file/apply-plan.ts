/**
 * Executes a plan. Sends its requests in order, and combines consecutive requests that a bulk operation can
 * perform.
 */
import { Check } from 'typebox/schema'
import { type Api, type ApiAnswer, Done, resultOf } from '#cli/session/api.ts'
import { ApiError } from '#cli/session/exit-codes.ts'
import { SetRulesCreated } from '#entities/set-rule.ts'
import type { PlannedRequest, Step } from './plan-step.ts'

/**
 * Number of elements per bulk operation. It is far below the limit of the service, so that each commit is
 * short.
 */
const BULK_ELEMENTS = 1_000

/** A warning of the service about a request. */
export interface StepWarning {
  readonly what: string
  readonly warning: string
}

/** A request, and the step to which it belongs. */
export interface StepRequest {
  readonly step: Step
  readonly request: PlannedRequest
}

/**
 * Executes the plan and returns the warnings of the service. `place`: the environment as in paths, for
 * example `default/default`. If a request fails, throws `ApiError` with the number of completed requests.
 */
export async function applyPlan(
  api: Api,
  place: string,
  steps: readonly Step[],
  onProgress: (done: number) => void,
): Promise<StepWarning[]> {
  const total = steps.flatMap(step => step.requests).length
  const warnings: StepWarning[] = []
  let done = 0
  for (const batch of batchesOf(steps)) {
    const [{ step, request: first }] = batch as [StepRequest]
    const body = requestBody(batch.map(each => each.request))
    try {
      const path = `/v2/${first.base}/${place}/${first.path}`
      const answer = await api.send(first.method, path, body)
      resultOf(Done, answer, `${first.method} ${path}`)
      warnings.push(...warningsOf(answer, batch))
    } catch (error) {
      if (!(error instanceof ApiError) || done === 0) throw error
      throw new ApiError(
        `${error.message}\n${done} of ${total} changes were made, up to ${step.what}; apply the file again to make the others`,
      )
    }
    done += batch.length
    onProgress(done)
  }
  return warnings
}

/**
 * Returns the warnings in a response. If only some elements of a bulk operation caused the warning, the
 * response contains their indexes.
 */
export function warningsOf({ warning, body }: ApiAnswer, batch: readonly StepRequest[]): StepWarning[] {
  if (warning === null) return []
  const indexes = Check(SetRulesCreated, body) ? body.in_every_tenant : [0]
  return indexes.flatMap(index => {
    const what = batch[index]?.step.what
    return what === undefined ? [] : [{ what, warning }]
  })
}

/** Returns the body for one request, or for the bulk operation that performs several requests. */
export function requestBody(calls: readonly PlannedRequest[]): unknown {
  const bodies = calls.map(({ body }) => body)
  const bulk = calls[0]?.bulk
  return bulk === undefined ? bodies[0] : bulk === 'array' ? bodies : { [bulk]: bodies }
}

/** Formats warnings: each text once, followed by the steps that caused it. */
export function warningsText(warnings: readonly StepWarning[]): string {
  return [...Map.groupBy(warnings, ({ warning }) => warning)]
    .map(([warning, alike]) => [`warning: ${warning}`, ...alike.map(({ what }) => `    ${what}`)].join('\n'))
    .join('\n')
}

/** Yields groups of requests that one call can perform, in the order of execution. */
export function* batchesOf(steps: readonly Step[]): Iterable<readonly StepRequest[]> {
  const requests = steps
    .flatMap(step => step.requests.map(each => ({ step, request: each })))
    .toSorted((one, other) => one.request.phase - other.request.phase)
  let batch: StepRequest[] = []
  for (const next of requests) {
    const first = batch[0]?.request
    const isTogether =
      first?.bulk !== undefined &&
      next.request.bulk === first.bulk &&
      next.request.path === first.path &&
      next.request.method === first.method &&
      batch.length < BULK_ELEMENTS
    if (!isTogether && batch.length > 0) {
      yield batch
      batch = []
    }
    batch.push(next)
  }
  if (batch.length > 0) yield batch
}
