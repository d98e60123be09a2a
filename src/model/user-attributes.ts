/**
 * Attributes of a user for conditions, stored or from a request (conditions.md 4.1; conditions.md 16, ruling
 * 6).
 */
import type { Attributes } from './change.ts'

/**
 * Returns the attributes together with the e-mail address and names. If one of these is null, it does not
 * override an attribute. Returns `null` if nothing is known. O(attributes).
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
  // Uses `fromEntries`, because an assignment to a member named `__proto__` would be lost. If a name occurs
  // several times, the last value applies.
  return Object.fromEntries(known)
}
