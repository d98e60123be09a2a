/** Checks bearer tokens against the known keys, which are known by hash alone (contract D-35). */
import { hash, timingSafeEqual } from 'node:crypto'
import type { Principal } from '#model/principal.ts'
import type { Credential } from './messages.ts'

export class CredentialCheck {
  #principals = new Map<string, { readonly hash: Buffer; readonly principal: Principal }>()

  replaceAll(credentials: readonly Credential[]): void {
    this.#principals = new Map(
      credentials.map(({ secretHash, principal }) => [
        secretHash,
        { hash: Buffer.from(secretHash, 'hex'), principal },
      ]),
    )
  }

  /**
   * Whom the token stands for, or null. What a caller can time is a look-up by SHA-256 of what it sent, which tells
   * nothing about the secret; the full comparison takes the same time wherever two hashes differ.
   */
  readonly authenticate = (token: string): Principal | null => {
    const secretHash = hash('sha256', token, 'hex')
    const known = this.#principals.get(secretHash)
    if (!known || !timingSafeEqual(known.hash, Buffer.from(secretHash, 'hex'))) return null
    return known.principal
  }
}

/** The hash a key is kept as. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}
