/** Work that may take long, cut so that others get their turn: a generator that stops every so often. */

export type Resumable<Answer> = Generator<void, Answer, void>

/** Runs it to its end at once: for what is bounded where it is called. */
export function runAtOnce<Answer>(work: Resumable<Answer>): Answer {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}
