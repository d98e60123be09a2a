/**
 * The cryptography of API keys: fresh secrets, the hashes they are looked up by, and the seal under the organization's
 * key (contract D-35).
 *
 *     sealed = format u8 │ nonce 12 │ tag 16 │ ciphertext      AES-256-GCM, key = HKDF-SHA256(ADMIN_API_KEY)
 *
 * The id of the API key is authenticated along, so that a sealed secret opens under its own id only.
 */
import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto'
import type { KeySecrets } from '#management/organization/key-secrets.ts'

const CIPHER = 'aes-256-gcm'
const FORMAT = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES
/** Names what the derived key is for, so that no other use of the organization's key shares it. */
const PURPOSE = 'verdict sealed API keys 1'

export class ApiKeySecrets implements KeySecrets {
  readonly #sealingKey: Buffer | null

  /** Null: there is no organization's key, and nothing is sealed or unsealed. */
  constructor(adminApiKey: string | null) {
    this.#sealingKey =
      adminApiKey === null ? null : Buffer.from(hkdfSync('sha256', adminApiKey, '', PURPOSE, 32))
  }

  newSecret(): string {
    return `verdict_${randomBytes(24).toString('base64url')}`
  }

  hash(secret: string): string {
    return hash('sha256', secret, 'hex')
  }

  seal(apiKeyId: string, secret: string): Uint8Array | null {
    if (this.#sealingKey === null) return null
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, this.#sealingKey, nonce).setAAD(Buffer.from(apiKeyId))
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return Buffer.concat([Buffer.of(FORMAT), nonce, cipher.getAuthTag(), text])
  }

  unseal(apiKeyId: string, sealed: Uint8Array): string | null {
    if (this.#sealingKey === null || sealed.length <= HEAD_BYTES || sealed[0] !== FORMAT) return null
    const nonce = sealed.subarray(1, 1 + NONCE_BYTES)
    const decipher = createDecipheriv(CIPHER, this.#sealingKey, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(apiKeyId)).setAuthTag(sealed.subarray(1 + NONCE_BYTES, HEAD_BYTES))
    try {
      return decipher.update(sealed.subarray(HEAD_BYTES), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      // Sealed under another key, or tampered with: the cipher does not tell the two apart.
      return null
    }
  }
}
