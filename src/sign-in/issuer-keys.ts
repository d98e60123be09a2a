/**
 * Public keys of the issuer. They are fetched again after five minutes. A token with an unknown key also
 * causes a fetch, so that a key that the issuer has just begun to use works immediately (administration.md
 * S7).
 */
import { IssuerError } from './issuer-error.ts'

/** A key as the issuer publishes it (RFC 7517). */
export interface PublishedKey {
  readonly kid?: unknown
  readonly [member: string]: unknown
}

export interface KeySet {
  readonly keys: readonly PublishedKey[]
}

const FRESH_MS = 300_000
/** Minimum time between two fetches because of unknown keys: tokens with such keys can come from anyone. */
const UNKNOWN_KEY_MS = 10_000

export class IssuerKeys {
  readonly #elapsedMs: () => number
  #keys: { readonly set: KeySet; readonly fetchedAt: number } | null = null
  #fetching: Promise<KeySet> | null = null
  #unknownAt = Number.NEGATIVE_INFINITY

  constructor(elapsedMs: () => number) {
    this.#elapsedMs = elapsedMs
  }

  /** The keys, with the key `keyId` if the issuer has it. A token without key id can use any key. */
  async withKey(keyId: unknown, fetchKeys: () => Promise<Response>): Promise<KeySet> {
    const now = this.#elapsedMs()
    const known = this.#keys
    if (known === null || now - known.fetchedAt >= FRESH_MS) return this.#fetch(fetchKeys)
    if (keyId !== undefined && known.set.keys.some(({ kid }) => kid === keyId)) return known.set
    // A fetch that is in progress can deliver the key.
    if (this.#fetching !== null) return this.#fetching
    if (now - this.#unknownAt < UNKNOWN_KEY_MS) return known.set
    this.#unknownAt = now
    return this.#fetch(fetchKeys)
  }

  #fetch(fetchKeys: () => Promise<Response>): Promise<KeySet> {
    this.#fetching ??= this.#fetchNow(fetchKeys).finally(() => {
      this.#fetching = null
    })
    return this.#fetching
  }

  async #fetchNow(fetchKeys: () => Promise<Response>): Promise<KeySet> {
    const response = await fetchKeys()
    const set = response.status === 200 ? keySetIn(await response.text()) : null
    if (set === null) throw new IssuerError('unavailable', 'the issuer publishes no keys')
    this.#keys = { set, fetchedAt: this.#elapsedMs() }
    return set
  }
}

function keySetIn(text: string): KeySet | null {
  try {
    const { keys } = JSON.parse(text) as { readonly keys?: unknown }
    const isKey = (key: unknown): boolean => typeof key === 'object' && key !== null && !Array.isArray(key)
    return Array.isArray(keys) && keys.every(isKey) ? { keys: keys as PublishedKey[] } : null
  } catch {
    return null
  }
}
