/**
 * The assertion function of the service. A failure is a broken invariant, that is, a defect: it ends the
 * thread with an error and never becomes a decision. Invalid input and operational failures are `AuthzError`s
 * instead.
 */
export function assert(condition: unknown, message: string | (() => string)): asserts condition {
  // A function creates the message only if it is needed, because some assertions run thousands of times per
  // commit.
  if (!condition) throw new InvariantError(typeof message === 'string' ? message : message())
}

export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}
