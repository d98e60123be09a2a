/** Hash of the secret of an API key, which is stored instead of the secret (native.md D-35). */
import { hash } from 'node:crypto'

/** Returns the SHA-256 of a secret in lower-case hex. */
export function hashOfSecret(secret: string): string {
  return hash('sha256', secret, 'hex')
}
