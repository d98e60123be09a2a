/** What the exit code of a command says, so that scripts can branch on it. */
import { inspect } from 'node:util'

export const EXIT = {
  /** Done; or the answer is yes. */
  yes: 0,
  /** The answer is no: denied, a test failed, a plan was not carried out, not ready. */
  no: 1,
  /** The command or a file it was given is wrong. */
  usage: 2,
  /** The service could not be reached, refused, or what came is no whole answer of one. */
  service: 3,
  /** A defect of Verdict itself. Not the 1 that a runtime ends with then: that is an answer here. */
  defect: 4,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** What is told of a defect: where it is. */
export function defectMessage(error: unknown): string {
  return `verdict: a defect of Verdict itself: ${inspect(error)}\n`
}

/** The command was called in a way that means nothing; the message says how it is called. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
