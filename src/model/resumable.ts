/** Long work as a generator that stops regularly, so that other work can run. */

export type Resumable<Answer> = Generator<void, Answer, void>

/** Duration for which a thread works before it processes new events. */
export const SLICE_MS = 4

/** Runs the work to completion without a stop. For work that the caller knows to be bounded. */
export function runAtOnce<Answer>(work: Resumable<Answer>): Answer {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}

/** Runs the first slice immediately; an event-loop iteration precedes each further slice. */
export async function runInSlices<Answer>(work: Resumable<Answer>): Promise<Answer> {
  for (;;) {
    const until = performance.now() + SLICE_MS
    do {
      const step = work.next()
      if (step.done) return step.value
    } while (performance.now() < until)
    await new Promise(resolve => setImmediate(resolve))
  }
}
