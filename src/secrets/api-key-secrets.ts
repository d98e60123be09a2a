/**
 * Cryptography of API keys: creates secrets, computes the hashes under which they are stored, and encrypts
 * them with the organization's key.
 */
import { randomBytes } from 'node:crypto'
import type { KeySecrets } from '#management/scopes/key-secrets.ts'
import { PURPOSE, Seal } from './seal.ts'
import { hashOfSecret } from './secret-hash.ts'

export class ApiKeySecrets implements KeySecrets {
  readonly #seal: Seal

  /** If `adminApiKey` is null, the organization has no key. Nothing can then be sealed or unsealed. */
  constructor(adminApiKey: string | null) {
    this.#seal = new Seal(adminApiKey, PURPOSE.apiKeys)
  }

  newSecret(): string {
    return `verdict_${randomBytes(24).toString('base64url')}`
  }

  newToken(): string {
    return randomBytes(32).toString('base64url')
  }

  hash(secret: string): string {
    return hashOfSecret(secret)
  }

  seal(apiKeyId: string, secret: string): Uint8Array | null {
    return this.#seal.seal(apiKeyId, secret)
  }

  unseal(apiKeyId: string, sealed: Uint8Array): string | null {
    return this.#seal.unseal(apiKeyId, sealed)
  }
}
