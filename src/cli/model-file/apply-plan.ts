/** Carries a plan out: its requests in order, those of one bulk call together. */
import { Check } from 'typebox/schema'
import { type Api, type ApiAnswer, Done, resultOf } from '#cli/api.ts'
import { ApiError } from '#cli/exit-codes.ts'
import { SetRulesCreated } from '#model/wire/set-rule.ts'
import type { PlannedRequest, Step } from './plan-step.ts'

/** Elements in one bulk call: far below the ceiling, so that each is a short commit. */
const BULK_ELEMENTS = 1_000

/** The service took a request and warned of it. */
export interface StepWarning {
  readonly what: string
  readonly warning: string
}

/** A request and the step that it is of. */
export interface StepRequest {
  readonly step: Step
  readonly request: PlannedRequest
}

/**
 * Returns what the service warned of. `place` is the environment as paths name it: `default/default`. Throws `ApiError`, which says how
 * much was done.
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
        `${error.message}\n${done} of ${total} changes are made, up to ${step.what}; applied again, the file makes the others`,
      )
    }
    done += batch.length
    onProgress(done)
  }
  return warnings
}

/** Warnings of a request. A bulk call that warns of some elements has their indexes in its answer. */
export function warningsOf({ warning, body }: ApiAnswer, batch: readonly StepRequest[]): StepWarning[] {
  if (warning === null) return []
  const indexes = Check(SetRulesCreated, body) ? body.in_every_tenant : [0]
  return indexes.flatMap(index => {
    const what = batch[index]?.step.what
    return what === undefined ? [] : [{ what, warning }]
  })
}

/** The body of a request, or of the bulk call that requests are the elements of. */
export function requestBody(calls: readonly PlannedRequest[]): unknown {
  const bodies = calls.map(({ body }) => body)
  const bulk = calls[0]?.bulk
  return bulk === undefined ? bodies[0] : bulk === 'array' ? bodies : { [bulk]: bodies }
}

/** Each warning once, over what it is about. */
export function warningsText(warnings: readonly StepWarning[]): string {
  return [...Map.groupBy(warnings, ({ warning }) => warning)]
    .map(([warning, alike]) => [`warning: ${warning}`, ...alike.map(({ what }) => `    ${what}`)].join('\n'))
    .join('\n')
}

/** In the order in which they are made: runs of requests that one call can make. */
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
