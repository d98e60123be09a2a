/** Carries a plan out: its requests in order, those of one bulk call together. */
import { type Api, request } from '#cli/api.ts'
import type { PlannedRequest, Step } from './plan-step.ts'

/** Elements in one bulk call: far below the ceiling, so that each is a short commit. */
const BULK_ELEMENTS = 1_000

/** The service took a request and warned of it. */
export interface StepWarning {
  readonly what: string
  readonly warning: string
}

/** Returns what the service warned of. `place` is the environment as paths name it: `default/default`. */
export async function applyPlan(
  api: Api,
  place: string,
  steps: readonly Step[],
  onProgress: (done: number) => void,
): Promise<StepWarning[]> {
  const requests = steps.flatMap(step => step.requests).toSorted((one, other) => one.phase - other.phase)
  const stepOf = new Map(steps.flatMap(step => step.requests.map(each => [each, step])))
  const warnings: StepWarning[] = []
  let done = 0
  for (const calls of batches(requests)) {
    const [first] = calls as [PlannedRequest]
    const { base, method, path, bulk } = first
    const bodies = calls.map(({ body }) => body)
    const body = bulk === undefined ? bodies[0] : bulk === 'array' ? bodies : { operations: bodies }
    const warning = await request(api, method, `/v2/${base}/${place}/${path}`, body)
    if (warning !== null) warnings.push({ what: stepOf.get(first)!.what, warning })
    done += calls.length
    onProgress(done)
  }
  return warnings
}

/** Each warning once, over what it is about. */
export function warningsText(warnings: readonly StepWarning[]): string {
  return [...Map.groupBy(warnings, ({ warning }) => warning)]
    .map(([warning, alike]) => [`warning: ${warning}`, ...alike.map(({ what }) => `    ${what}`)].join('\n'))
    .join('\n')
}

/** Runs of requests that one call can make. */
function* batches(requests: readonly PlannedRequest[]): Iterable<readonly PlannedRequest[]> {
  let batch: PlannedRequest[] = []
  for (const next of requests) {
    const [first] = batch
    const isTogether =
      first?.bulk !== undefined &&
      next.bulk === first.bulk &&
      next.path === first.path &&
      next.method === first.method &&
      batch.length < BULK_ELEMENTS
    if (!isTogether && batch.length > 0) {
      yield batch
      batch = []
    }
    batch.push(next)
  }
  if (batch.length > 0) yield batch
}
