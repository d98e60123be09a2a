/**
 * Encrypts secrets at rest with the organization's key (native.md D-35):
 *
 *     sealed = format u8 │ nonce 12 │ tag 16 │ ciphertext      AES-256-GCM, key = HKDF-SHA256(ADMIN_API_KEY)
 *
 * The id of the owner is authenticated as well, so that a sealed secret can be opened only under its own id.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const FORMAT = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES

/**
 * Purposes of sealed secrets; each has its own derived key. Never change them: existing sealed secrets could
 * not be opened.
 */
export const PURPOSE = {
  apiKeys: 'verdict sealed API keys 1',
  proxyConfigs: 'verdict sealed proxy configs 1',
} as const

export class Seal {
  readonly #key: Buffer | null

  /** If `adminApiKey` is null, there is no organization's key, and nothing is sealed or unsealed. */
  constructor(adminApiKey: string | null, purpose: (typeof PURPOSE)[keyof typeof PURPOSE]) {
    this.#key = adminApiKey === null ? null : Buffer.from(hkdfSync('sha256', adminApiKey, '', purpose, 32))
  }

  seal(ownerId: string, secret: string): Uint8Array | null {
    if (this.#key === null) return null
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, this.#key, nonce).setAAD(Buffer.from(ownerId))
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()])
    return Buffer.concat([Buffer.of(FORMAT), nonce, cipher.getAuthTag(), text])
  }

  unseal(ownerId: string, sealed: Uint8Array): string | null {
    if (this.#key === null || sealed.length <= HEAD_BYTES || sealed[0] !== FORMAT) return null
    const nonce = sealed.subarray(1, 1 + NONCE_BYTES)
    const decipher = createDecipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(ownerId)).setAuthTag(sealed.subarray(1 + NONCE_BYTES, HEAD_BYTES))
    try {
      return decipher.update(sealed.subarray(HEAD_BYTES), undefined, 'utf8') + decipher.final('utf8')
    } catch {
      // Sealed under another key, or tampered with: the cipher does not distinguish the two.
      return null
    }
  }
}
