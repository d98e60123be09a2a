/**
 * The one assertion. A failure is a broken invariant, i.e. a defect of ours: it ends the thread loudly
 * and is never answered as a decision. Bad input and operating trouble are `AuthzError`s instead.
 */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}

export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}
