/**
 * Unfinished sign-ins. All state of a sign-in is in an encrypted cookie and nowhere in the service, so that
 * any node can finish it (administration.md S3).
 */
import { hash, randomBytes } from 'node:crypto'
import { SIGN_IN_MS, SIGN_INS_PER_BROWSER_MAX } from '#model/limits.ts'
import type { SessionCookies } from '#model/sign-in/session-cookies.ts'
import type { SignInCookies } from '#model/sign-in/sign-in-request.ts'
import { PURPOSE, Seal } from '#secrets/seal.ts'

export interface Transaction {
  /** Identifies the sign-in in the authorization response. */
  readonly state: string
  /** Identifies the sign-in in the ID token. */
  readonly nonce: string
  /** Secret of PKCE. */
  readonly verifier: string
  /** Milliseconds since 1970. */
  readonly startedAt: number
  /** Code of the invitation; null if there is none. */
  readonly invite: string | null
  /** Id of the session that the browser had; null if it had none. */
  readonly sessionId: string | null
}

export class Transactions {
  readonly #cookies: SessionCookies
  readonly #seal: Seal

  constructor(cookies: SessionCookies, tokenSecret: string) {
    this.#cookies = cookies
    this.#seal = new Seal(tokenSecret, PURPOSE.signIns)
  }

  create(now: number, of: Pick<Transaction, 'invite' | 'sessionId'>): Transaction {
    return { state: random(), nonce: random(), verifier: random(), startedAt: now, ...of }
  }

  /** Name of the cookie of the sign-in with this state. */
  nameOf(state: string): string {
    return this.#cookies.signInPrefix + hash('sha256', state).slice(0, 8)
  }

  cookieOf(transaction: Transaction): string {
    const name = this.nameOf(transaction.state)
    const sealed = this.#seal.seal(name, JSON.stringify(transaction))!
    return this.#cookies.signIn(name, Buffer.from(sealed).toString('base64url'), SIGN_IN_MS / 1_000)
  }

  /**
   * Returns the sign-in in the cookie with this name. Null if there is no such cookie, if there are
   * several, if the cookie cannot be decrypted, or if the sign-in is too old.
   */
  open(cookies: SignInCookies, name: string, now: number): Transaction | null {
    const [value, ...others] = cookies.filter(([of]) => of === name)
    if (value === undefined || others.length > 0) return null
    const text = this.#seal.unseal(name, Buffer.from(value[1], 'base64url'))
    const transaction = text === null ? null : (JSON.parse(text) as Transaction)
    return transaction !== null && now - transaction.startedAt <= SIGN_IN_MS ? transaction : null
  }

  /** Names of the cookies to remove when another sign-in begins: all except the newest. */
  surplus(cookies: SignInCookies, now: number): string[] {
    const names = [...new Set(cookies.map(([name]) => name))]
    const ages = new Map(names.map(name => [name, this.open(cookies, name, now)?.startedAt ?? 0]))
    const kept = names.filter(name => ages.get(name) !== 0).toSorted((a, b) => ages.get(b)! - ages.get(a)!)
    return names.filter(name => !kept.slice(0, SIGN_INS_PER_BROWSER_MAX - 1).includes(name))
  }
}

/** 256 random bits. */
function random(): string {
  return randomBytes(32).toString('base64url')
}
