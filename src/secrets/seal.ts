/**
 * Encrypts stored secrets with the organization's key (native.md D-35):
 *
 *     sealed = format u8 │ nonce 12 │ tag 16 │ ciphertext      AES-256-GCM, key = HKDF-SHA256(ADMIN_API_KEY)
 *
 * The ID of the owner is also authenticated. A sealed secret can therefore be opened only with the ID of its
 * owner.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const FORMAT = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + NONCE_BYTES + TAG_BYTES

/**
 * Purposes of sealed secrets. Each purpose has its own derived key. Do not change these texts, because
 * existing sealed secrets could then not be opened.
 */
export const PURPOSE = {
  apiKeys: 'verdict sealed API keys 1',
  proxyConfigs: 'verdict sealed proxy configs 1',
  signIns: 'verdict sealed sign-ins 1',
} as const

export class Seal {
  readonly #key: Buffer | null

  /** If `adminApiKey` is null, the organization has no key. Nothing can then be sealed or unsealed. */
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
      // The secret was sealed with another key, or it was modified. The cipher does not distinguish these
      // cases.
      return null
    }
  }
}
