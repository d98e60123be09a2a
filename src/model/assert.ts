/**
 * The one assertion. A failure is a broken invariant, i.e. a defect of ours: it ends the thread loudly
 * and is never answered as a decision. Bad input and operating trouble are `AuthzError`s instead.
 */
export function assert(condition: unknown, message: string | (() => string)): asserts condition {
  // A message that says what came is made only when it is needed: some assertions are met thousands of times a commit.
  if (!condition) throw new InvariantError(typeof message === 'string' ? message : message())
}

export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}
