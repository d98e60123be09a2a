/**
 * Work that may take long, cut so that others get their turn: a generator that stops every few rows. Whoever drives it
 * decides whether to go on at once or to let the event loop run first; it may have met later commits when it goes on.
 */

export type Resumable<Answer> = Generator<void, Answer, void>

/** Rows read between two stops: some tenths of a millisecond. */
export const YIELD_ROWS = 32
/** How long a resumable may run before others get their turn. */
const SLICE_MS = 4

export function isResumable<Answer>(value: Answer | Resumable<Answer>): value is Resumable<Answer> {
  return typeof value === 'object' && value !== null && Symbol.iterator in value && 'next' in value
}

/** Runs it to its end, letting the event loop turn after every `SLICE_MS` of work. */
export async function drive<Answer>(work: Resumable<Answer>): Promise<Answer> {
  for (;;) {
    const until = performance.now() + SLICE_MS
    do {
      const step = work.next()
      if (step.done) return step.value
    } while (performance.now() < until)
    await new Promise(resolve => setImmediate(resolve))
  }
}

/** Runs it to its end at once: for what is bounded where it is called. */
export function runAtOnce<Answer>(work: Resumable<Answer>): Answer {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}

/** What an operation answers, whether at once or resumed. */
export type AnswerOf<Result> = Result extends Resumable<infer Answer> ? Answer : Result
