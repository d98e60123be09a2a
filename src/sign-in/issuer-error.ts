/** Errors of a sign-in that the issuer causes. */
import type { SignInOutcome } from '#model/sign-in/sign-in-request.ts'

/** `reason` is logged. It must not contain text of the issuer or of the browser. */
export class IssuerError extends Error {
  override readonly name = 'IssuerError'
  readonly result: SignInOutcome
  readonly reason: string

  constructor(result: SignInOutcome, reason: string) {
    super(reason)
    this.result = result
    this.reason = reason
  }
}

/**
 * Converts an error of a library to the result of the sign-in. A library wraps the errors of the requests
 * that it makes. Its own messages are constant, but other causes can contain parts of tokens.
 */
export function issuerErrorOf(error: unknown): IssuerError {
  const causes: unknown[] = []
  for (let cause = error; cause instanceof Error && causes.length < 5; cause = cause.cause) {
    if (cause instanceof IssuerError) return cause
    causes.push(cause)
  }
  return new IssuerError('failed', reasonOf(error))
}

/** Codes of OAuth 2.0 errors have this form. */
const CODE = /^\w{1,60}$/

function reasonOf(error: unknown): string {
  const { code, error: ofBody, claim } = error as Readonly<Partial<Record<string, unknown>>>
  const parts = [code, ofBody, claim].filter(part => typeof part === 'string' && CODE.test(part))
  const cause = error instanceof Error ? error.cause : null
  const isFixed = cause instanceof Error && cause.name === 'OperationProcessingError'
  return [...parts, ...(isFixed ? [cause.message] : [])].join(' ') || 'unexpected error'
}
