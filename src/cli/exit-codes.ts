/** What the exit code of a command says, so that scripts can branch on it. */
export const EXIT = {
  /** Done; or the answer is yes. */
  yes: 0,
  /** The answer is no: denied, a test failed, a plan was not carried out. */
  no: 1,
  /** The command or a file it was given is wrong. */
  usage: 2,
  /** The service could not be reached, or refused. */
  service: 3,
} as const

export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

/** The command was called in a way that means nothing; the message says how it is called. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}
