/** Work that may take long, cut so that others get their turn: a generator that stops every so often. */

export type Resumable<Answer> = Generator<void, Answer, void>

/** How long a thread works before it looks at what has come meanwhile. */
export const SLICE_MS = 4

/** Runs it to its end at once: for what is bounded where it is called. */
export function runAtOnce<Answer>(work: Resumable<Answer>): Answer {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}

/** Runs it at once as far as a slice goes; the event loop turns before each further slice. */
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
