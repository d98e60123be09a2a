/** Carries a plan out: its requests in order, those of one bulk call together. */
import { type Api, request } from '#cli/api.ts'
import type { PlannedRequest, Step } from './plan-step.ts'

/** Elements in one bulk call: far below the ceiling, so that each is a short commit. */
const BULK_ELEMENTS = 1_000

/** `place` is the environment as paths name it: `default/default`. */
export async function applyPlan(
  api: Api,
  place: string,
  steps: readonly Step[],
  onProgress: (done: number) => void,
): Promise<void> {
  const requests = steps.flatMap(step => step.requests).toSorted((one, other) => one.phase - other.phase)
  let done = 0
  for (const calls of batches(requests)) {
    const [{ base, method, path, bulk }] = calls as [PlannedRequest]
    const bodies = calls.map(({ body }) => body)
    const body = bulk === undefined ? bodies[0] : bulk === 'array' ? bodies : { operations: bodies }
    await request(api, method, `/v2/${base}/${place}/${path}`, body)
    done += calls.length
    onProgress(done)
  }
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
