/**
 * Authenticates callers by API key: checks bearer tokens against the known keys, of which only hashes are
 * stored (native.md D-35).
 *
 * The expiration time of a secret is wall-clock time. The remaining time is computed once, when this thread
 * first receives the secret. From then on the monotonic clock counts, so that setting the wall clock neither
 * ends a secret early nor keeps it valid.
 */
import { timingSafeEqual } from 'node:crypto'
import { bearerToken } from '#model/bearer-token.ts'
import type { Principal } from '#model/principal.ts'
import { hashOfSecret } from '#secrets/secret-hash.ts'
import { interned } from '#threads/interned.ts'
import type { Credential } from './messages.ts'

interface KnownKey extends Credential {
  readonly hash: Buffer
  /** Time of the monotonic clock. */
  readonly expiresAtMs: number
  /** Whether its use has been reported since `forgetUses` was called. */
  isNoted: boolean
}

const USUAL_SCHEME = 'Bearer '

/** The two clocks of `RuntimeServices`. */
interface KeyClocks {
  now(): number
  elapsedMs(): number
}

export class ApiKeyAuthentication {
  readonly #clocks: KeyClocks
  readonly #onUse: (keyId: string) => void
  #known = new Map<string, KnownKey>()
  /**
   * `Authorization` headers with a valid token, so that each header is parsed and hashed only once. The map
   * never has more entries than there are credentials.
   */
  #sent = new Map<string, KnownKey>()

  /**
   * `onUse` is called for the first use of each secret, and for its first use after each call of
   * `forgetUses`.
   */
  constructor(clocks: KeyClocks, onUse: (keyId: string) => void = () => {}) {
    this.#clocks = clocks
    this.#onUse = onUse
  }

  replaceAll(credentials: readonly Credential[]): void {
    this.#sent = new Map()
    this.#known = new Map(
      credentials.map(credential => [
        credential.secretHash,
        {
          ...credential,
          principal: withInternedTexts(credential.principal),
          hash: Buffer.from(credential.secretHash, 'hex'),
          expiresAtMs: this.#expiresAtMsOf(credential),
          isNoted: this.#known.get(credential.secretHash)?.isNoted ?? false,
        },
      ]),
    )
  }

  /**
   * Returns a caller that can make decisions in an environment, without a key id (administration.md K13).
   * `project` and `environment` are the keys that name them. Null if there is no API key for that
   * environment, of whatever level.
   * O(credentials).
   */
  callerOf(project: string, environment: string): Principal | null {
    for (const { principal } of this.#known.values()) {
      if (principal.kind !== 'environment') continue
      if (principal.projectKey === project && principal.environmentKey === environment) {
        const { delegations: _limits, ...place } = principal
        return { ...place, keyId: null, level: 'decide' }
      }
    }
    return null
  }

  /**
   * Returns the principal of the token of an `Authorization` header, or null. An attacker can time only a
   * lookup by the SHA-256 of the sent token, which reveals nothing about the secret. The full comparison
   * takes the same time wherever two hashes differ. Headers with valid tokens are looked up by the randomly
   * seeded hash of the JavaScript engine before any of their characters is compared.
   */
  readonly authenticate = (authorization: string): Principal | null => {
    const known = this.#sent.get(authorization) ?? this.#find(authorization)
    if (known === null) return null
    // A rotated secret expires by itself, even if no revocation follows. The clock is read only for rotated
    // secrets, because few secrets are rotated and reading it takes time.
    const isInForce = known.validUntil === null || this.#clocks.elapsedMs() < known.expiresAtMs
    if (!isInForce) return null
    if (!known.isNoted) this.#note(known)
    return known.principal
  }

  /** Makes the next use of each secret be reported again. O(credentials). */
  forgetUses(): void {
    for (const known of this.#known.values()) known.isNoted = false
  }

  #note(known: KnownKey): void {
    known.isNoted = true
    const { keyId } = known.principal
    if (keyId !== null) this.#onUse(keyId)
  }

  /** Expiration time of the secret by the monotonic clock; unchanged if it was computed before. */
  #expiresAtMsOf({ secretHash, validUntil }: Credential): number {
    if (validUntil === null) return Infinity
    const before = this.#known.get(secretHash)
    if (before?.validUntil === validUntil) return before.expiresAtMs
    return this.#clocks.elapsedMs() + validUntil - this.#clocks.now()
  }

  #find(authorization: string): KnownKey | null {
    const token = bearerToken(authorization)
    if (token === null) return null
    const secretHash = hashOfSecret(token)
    const known = this.#known.get(secretHash)
    if (!known || !timingSafeEqual(known.hash, Buffer.from(secretHash, 'hex'))) return null
    // Only the usual spelling is cached. A header has many valid spellings, and each would take an entry.
    if (authorization === USUAL_SCHEME + token) this.#sent.set(authorization, known)
    return known
  }
}

/**
 * Returns the principal with interned strings where each decision compares them: the kind and the level of
 * its key, and the id of the environment. Keys of other kinds cannot make decisions.
 */
function withInternedTexts(principal: Principal): Principal {
  if (principal.kind !== 'environment') return principal
  const { kind, level, environmentId } = principal
  return {
    ...principal,
    kind: interned(kind),
    level: interned(level),
    environmentId: interned(environmentId),
  }
}
