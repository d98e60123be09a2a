/** A person as the issuer has authenticated them (administration.md S10, S12). */

export interface Identity {
  /** Issuer and subject identify the person. They are compared by bytes. */
  readonly issuer: string
  readonly subject: string
  /** For display, and for the acceptance of an invitation. */
  readonly email: string | null
  readonly isEmailVerified: boolean
  readonly name: string | null
  readonly givenName: string | null
  readonly familyName: string | null
  /** Groups of the person at the issuer, at most 1,000. */
  readonly groups: readonly string[]
  /** Whether the issuer has more groups than are in `groups`. */
  readonly areGroupsCut: boolean
  /** Id of the session at the issuer (`sid`); null if the issuer named none. */
  readonly issuerSessionId: string | null
}

/** Whether two e-mail addresses are equal, apart from upper and lower case of ASCII letters. */
export function isSameEmail(left: string, right: string): boolean {
  return asciiLower(left) === asciiLower(right)
}

/** Other letters keep their case: some of them become ASCII letters in lower case. */
function asciiLower(text: string): string {
  return text.replace(/[A-Z]/g, letter => letter.toLowerCase())
}
