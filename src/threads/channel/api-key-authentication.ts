/**
 * From an API key to a caller: checks bearer tokens against the known keys, which are known by hash alone
 * (native.md D-35).
 *
 * The end of a secret is a time of the wall clock. How far off it is, is computed once, when the secret is first heard of. From then
 * on the monotonic clock counts, so that setting the wall clock neither ends a secret early nor keeps it alive.
 */
import { hash, timingSafeEqual } from 'node:crypto'
import { bearerToken } from '#model/bearer-token.ts'
import type { Principal } from '#model/principal.ts'
import { interned } from '#threads/interned.ts'
import type { Credential } from './messages.ts'

interface Known extends Credential {
  readonly hash: Buffer
  /** By the monotonic clock. */
  readonly endsAtMs: number
  /** Whether its use was told since uses were forgotten. */
  isNoted: boolean
}

const USUAL_SCHEME = 'Bearer '

/** The two clocks of `Surroundings`. */
interface Clocks {
  now(): number
  elapsedMs(): number
}

export class ApiKeyAuthentication {
  readonly #clocks: Clocks
  readonly #onUse: (keyId: string) => void
  #known = new Map<string, Known>()
  /** Headers that carried a valid token, so that each is read and hashed once. Never more than there are credentials. */
  #sent = new Map<string, Known>()

  /** `onUse`: told of the first use of each secret, and of the first one behind each `forgetUses`. */
  constructor(clocks: Clocks, onUse: (keyId: string) => void = () => {}) {
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
          endsAtMs: this.#endOf(credential),
          isNoted: this.#known.get(credential.secretHash)?.isNoted ?? false,
        },
      ]),
    )
  }

  /** A caller of an environment that has keys, by the keys of its project and its own; null where none is known. O(credentials). */
  callerOf(project: string, environment: string): Principal | null {
    for (const { principal } of this.#known.values()) {
      if (principal.kind !== 'environment') continue
      if (principal.projectKey === project && principal.environmentKey === environment) {
        return { ...principal, keyId: null }
      }
    }
    return null
  }

  /**
   * Whom the token of an `Authorization` header stands for, or null. What a caller can time is a look-up by SHA-256 of what it
   * sent, which tells nothing about the secret; the full comparison takes the same time wherever two hashes differ. Headers
   * with good tokens are looked up by the engine's own hash, seeded at random, before any of their characters is compared.
   */
  readonly authenticate = (authorization: string): Principal | null => {
    const known = this.#sent.get(authorization) ?? this.#find(authorization)
    if (known === null) return null
    // A rotated secret ends by itself, also when nobody is there to revoke it. The clock is read only for rotated secrets:
    // few are, and reading it takes time.
    const isInForce = known.validUntil === null || this.#clocks.elapsedMs() < known.endsAtMs
    if (!isInForce) return null
    if (!known.isNoted) this.#note(known)
    return known.principal
  }

  /** Has uses told anew. O(credentials). */
  forgetUses(): void {
    for (const known of this.#known.values()) known.isNoted = false
  }

  #note(known: Known): void {
    known.isNoted = true
    const { keyId } = known.principal
    if (keyId !== null) this.#onUse(keyId)
  }

  /** The end of the secret by the monotonic clock; unchanged if it was computed before. */
  #endOf({ secretHash, validUntil }: Credential): number {
    if (validUntil === null) return Infinity
    const before = this.#known.get(secretHash)
    if (before?.validUntil === validUntil) return before.endsAtMs
    return this.#clocks.elapsedMs() + validUntil - this.#clocks.now()
  }

  #find(authorization: string): Known | null {
    const token = bearerToken(authorization)
    if (token === null) return null
    const secretHash = hash('sha256', token, 'hex')
    const known = this.#known.get(secretHash)
    if (!known || !timingSafeEqual(known.hash, Buffer.from(secretHash, 'hex'))) return null
    // Only the usual spelling is remembered. A header can be spelled in many ways, and each would take a place.
    if (authorization === USUAL_SCHEME + token) this.#sent.set(authorization, known)
    return known
  }
}

/**
 * The principal with interned texts where each decision compares them: the kind of its key and the environment's id. Keys
 * of other kinds do not decide.
 */
function withInternedTexts(principal: Principal): Principal {
  if (principal.kind !== 'environment') return principal
  const { kind, environmentId } = principal
  return { ...principal, kind: interned(kind), environmentId: interned(environmentId) }
}
