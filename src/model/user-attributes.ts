/** Attributes of a user for conditions, stored or sent (conditions.md 4.1; conditions.md 16, ruling 6). */
import type { Attributes } from './change.ts'

/**
 * The attributes including e-mail address and names; null values override nothing. Returns `null` if nothing
 * is known. O(attributes).
 */
export function attributesOfUser({
  attributes,
  email,
  firstName,
  lastName,
}: {
  readonly attributes: Attributes | null
  readonly email: string | null
  readonly firstName: string | null
  readonly lastName: string | null
}): Attributes | null {
  if (email === null && firstName === null && lastName === null) return attributes
  const known = Object.entries({ ...attributes })
  if (email !== null) known.push(['email', email])
  if (firstName !== null) known.push(['first_name', firstName])
  if (lastName !== null) known.push(['last_name', lastName])
  // `fromEntries`, because an assignment to `__proto__` would be lost. The last value of a name applies.
  return Object.fromEntries(known)
}
