/** The cryptography that the management of API keys needs. It is implemented in `src/secrets`. */
export interface KeySecrets {
  /** A fresh secret. */
  newSecret(): string
  /** The hash a secret is looked up by: SHA-256 in lower-case hex (native.md D-35). */
  hash(secret: string): string
  /** The secret sealed under the organization's key, for that API key alone; null without an organization's key. */
  seal(apiKeyId: string, secret: string): Uint8Array | null
  /** What `seal` was given; null when that was under another organization's key. */
  unseal(apiKeyId: string, sealed: Uint8Array): string | null
}
