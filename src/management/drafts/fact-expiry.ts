/** Expiration times of facts, in the forms of request bodies, of responses and of changes for the engine. */
import { type OperationContext, presentInstant } from './context.ts'
import type { Expiration } from '#model/change.ts'
import { AuthzError } from '#model/errors.ts'
import type { Instant } from '#entities/instant.ts'

/** The expiration time in a request body. */
interface Granting {
  readonly expires_at?: string | null
}

/** A grant with its expiration time; null if it does not expire. */
export interface Expiring {
  readonly expiresAt: Instant | null
}

/**
 * Result of a grant: the fact was added, an existing fact got another expiration time, or it was left
 * unchanged.
 */
export interface Granted<Record extends Expiring> {
  readonly record: Record
  readonly outcome: 'added' | 'moved' | 'unchanged'
}

/** The expiration time in a request body; null if the grant does not expire. */
export function expiresAtIn({ expires_at }: Granting): Instant | null {
  return typeof expires_at === 'string' ? Date.parse(expires_at) : null
}

/**
 * Checks that an expiration time is in the future, which schemas cannot express. `place` is the location in
 * the request.
 */
export function checkExpiry(
  { now }: OperationContext,
  granting: Granting,
  place: readonly (string | number)[],
): void {
  const expiresAt = expiresAtIn(granting)
  if (expiresAt === null || expiresAt > now) return
  const times = `${presentInstant(expiresAt)} is in the past, the current time is ${presentInstant(now)}`
  const msg = `must be in the future: ${times}; use a later time, or null for no expiration`
  throw new AuthzError('INVALID_SHAPE', `expires_at: ${msg}`, {
    detail: [{ loc: [...place, 'expires_at'], msg, type: 'value_error' }],
  })
}

export function presentExpiry({ expiresAt }: Expiring) {
  return expiresAt === null ? {} : { expires_at: presentInstant(expiresAt) }
}

export function expirationOf({ expiresAt }: Expiring): Expiration {
  return expiresAt === null ? {} : { expiresAt }
}
