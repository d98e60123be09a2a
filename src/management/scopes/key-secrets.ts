/**
 * Cryptography that the management of API keys, sessions and invitations needs. It is implemented in
 * `src/secrets`.
 */
export interface KeySecrets {
  /** Creates the secret of an API key. */
  newSecret(): string
  /** Creates the secret of a session or the code of an invitation: 256 random bits in base64url. */
  newToken(): string
  /** Hash by which a secret is looked up: SHA-256 in lower-case hex (native.md D-35). */
  hash(secret: string): string
  /**
   * Encrypts the secret with the key of the organization, for that API key only. Returns null if the
   * organization has no encryption key.
   */
  seal(apiKeyId: string, secret: string): Uint8Array | null
  /** Decrypts a secret; null if it was encrypted with another organization's key. */
  unseal(apiKeyId: string, sealed: Uint8Array): string | null
}
