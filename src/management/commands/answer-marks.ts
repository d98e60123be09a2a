/** What goes with an answer beside its body: marks that an operation puts around it. */

/** The answer about a thing that did not exist before. Its status tells callers so (native.md B.7). */
export class Created<Body> {
  readonly body: Body

  constructor(body: Body) {
    this.body = body
  }
}

/** The answer about something that was done, and that the caller may not have meant so. */
export class Warned<Body> {
  readonly body: Body
  readonly warning: string

  constructor(body: Body, warning: string) {
    this.body = body
    this.warning = warning
  }
}

export interface UnmarkedAnswer {
  /** Undefined: there is none. */
  readonly body: unknown
  readonly isCreated: boolean
  readonly warning: string | null
}

/** The answer without its mark. */
export function unmarked(answer: unknown): UnmarkedAnswer {
  if (answer instanceof Created) return { body: answer.body, isCreated: true, warning: null }
  if (answer instanceof Warned) return { body: answer.body, isCreated: false, warning: answer.warning }
  return { body: answer, isCreated: false, warning: null }
}
