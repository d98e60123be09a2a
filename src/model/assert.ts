/**
 * The assertion function of the service. A failed assertion is a broken invariant, that is, a defect. It ends
 * the thread with an error, so it never becomes a decision. Invalid input and operational failures throw an
 * `AuthzError` instead.
 */
export function assert(condition: unknown, invariant: string | (() => string)): asserts condition {
  // `invariant` can be a function, which is called only if the assertion fails. Some assertions run thousands
  // of times per commit.
  if (condition) return
  throw new InvariantError(`broken invariant: ${typeof invariant === 'string' ? invariant : invariant()}`)
}

export class InvariantError extends Error {
  override readonly name = 'InvariantError'
}
