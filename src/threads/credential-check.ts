/** Checks bearer tokens against the known keys, which are known by hash alone (contract D-35). */
import { hash, timingSafeEqual } from 'node:crypto'
import type { Principal } from '#model/principal.ts'
import type { Credential } from './messages.ts'

interface Known extends Credential {
  readonly hash: Buffer
}

export class CredentialCheck {
  readonly #now: () => number
  #known = new Map<string, Known>()

  /** `now` gives milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now
  }

  replaceAll(credentials: readonly Credential[]): void {
    this.#known = new Map(
      credentials.map(credential => [
        credential.secretHash,
        { ...credential, hash: Buffer.from(credential.secretHash, 'hex') },
      ]),
    )
  }

  /**
   * Whom the token stands for, or null. What a caller can time is a look-up by SHA-256 of what it sent, which tells
   * nothing about the secret; the full comparison takes the same time wherever two hashes differ.
   */
  readonly authenticate = (token: string): Principal | null => {
    const secretHash = hash('sha256', token, 'hex')
    const known = this.#known.get(secretHash)
    if (!known || !timingSafeEqual(known.hash, Buffer.from(secretHash, 'hex'))) return null
    // A secret that was rotated ends by itself, wherever nobody is there to say so.
    return known.validUntil === null || this.#now() < known.validUntil ? known.principal : null
  }
}
