/** Wrappers with which an operation adds metadata to its response: a created status or a warning. */

/** Response about a new entity. It determines the HTTP status (native.md B.7). */
export class Created<Body> {
  readonly body: Body

  constructor(body: Body) {
    this.body = body
  }
}

/** Response of an operation that succeeded, but possibly not as the caller intended. */
export class Warned<Body> {
  readonly body: Body
  readonly warning: string

  constructor(body: Body, warning: string) {
    this.body = body
    this.warning = warning
  }
}

export interface UnmarkedAnswer {
  /** Undefined for a response without a body. */
  readonly body: unknown
  readonly isCreated: boolean
  readonly warning: string | null
}

/** Unwraps a response and returns its metadata separately. */
export function unmarked(answer: unknown): UnmarkedAnswer {
  if (answer instanceof Created) return { body: answer.body, isCreated: true, warning: null }
  if (answer instanceof Warned) return { body: answer.body, isCreated: false, warning: answer.warning }
  return { body: answer, isCreated: false, warning: null }
}
