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
  /** Good tokens that were sent, so that each is hashed once; never more than there are credentials. */
  #sent = new Map<string, Known>()

  /** `now` gives milliseconds since 1970. */
  constructor(now: () => number) {
    this.#now = now
  }

  replaceAll(credentials: readonly Credential[]): void {
    this.#sent = new Map()
    this.#known = new Map(
      credentials.map(credential => [
        credential.secretHash,
        { ...credential, hash: Buffer.from(credential.secretHash, 'hex') },
      ]),
    )
  }

  /**
   * Whom the token stands for, or null. What a caller can time is a look-up by SHA-256 of what it sent, which tells
   * nothing about the secret; the full comparison takes the same time wherever two hashes differ. Good tokens are looked
   * up by the engine's own hash, seeded at random, before any of their characters is compared.
   */
  readonly authenticate = (token: string): Principal | null => {
    const known = this.#sent.get(token) ?? this.#find(token)
    if (known === null) return null
    // A secret that was rotated ends by itself, wherever nobody is there to say so.
    return known.validUntil === null || this.#now() < known.validUntil ? known.principal : null
  }

  #find(token: string): Known | null {
    const secretHash = hash('sha256', token, 'hex')
    const known = this.#known.get(secretHash)
    if (!known || !timingSafeEqual(known.hash, Buffer.from(secretHash, 'hex'))) return null
    this.#sent.set(token, known)
    return known
  }
}
