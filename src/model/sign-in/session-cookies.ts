/**
 * Names, attributes and values of the cookies of the console (administration.md C1). One cookie has the
 * secret of a session. While a person signs in, another cookie has the state of the sign-in.
 */
import { formatRevision, parseRevision, type Revision } from '#model/revision.ts'

const SESSION = 'verdict-session'
const SIGN_IN = 'verdict-sign-in-'
/** Browsers accept a cookie with this prefix only from its own host, for all paths, and over TLS. */
const HOST_PREFIX = '__Host-'

export class SessionCookies {
  readonly sessionName: string
  /** Name of the cookie of a sign-in, without its last part. */
  readonly signInPrefix: string
  readonly #attributes: string

  /** `publicUrl` is the address of the console. Only an `http` address has cookies without `Secure`. */
  constructor(publicUrl: string) {
    const isSecure = new URL(publicUrl).protocol === 'https:'
    this.sessionName = isSecure ? HOST_PREFIX + SESSION : SESSION
    this.signInPrefix = isSecure ? HOST_PREFIX + SIGN_IN : SIGN_IN
    this.#attributes = `Path=/;${isSecure ? ' Secure;' : ''} HttpOnly; SameSite=`
  }

  session(session: SessionCookie): string {
    return this.#session(valueOfSession(session))
  }

  withoutSession(): string {
    return `${this.#session('')}; Max-Age=0`
  }

  #session(value: string): string {
    return `${this.sessionName}=${value}; ${this.#attributes}Strict`
  }

  /**
   * The browser sends this cookie when the issuer redirects to the service. It would not send a cookie with
   * `SameSite=Strict`.
   */
  signIn(name: string, value: string, seconds: number): string {
    return `${name}=${value}; ${this.#attributes}Lax; Max-Age=${seconds}`
  }

  withoutSignIn(name: string): string {
    return this.signIn(name, '', 0)
  }
}

/** Content of the cookie of a session. */
export interface SessionCookie {
  /** 256 random bits in base64url. */
  readonly secret: string
  /**
   * Revision of the organization with which the session began. A node with this revision knows the session.
   */
  readonly begun: Revision
}

const SECRET = /^[\w-]{43}$/
const SECRET_LENGTH = 43

export function valueOfSession({ secret, begun }: SessionCookie): string {
  return `${secret}.${formatRevision(begun)}`
}

/** Reads the value of the cookie of a session. Null if no session has such a value. */
export function sessionIn(value: string): SessionCookie | null {
  const secret = value.slice(0, SECRET_LENGTH)
  const begun = value[SECRET_LENGTH] === '.' ? parseRevision(value.slice(SECRET_LENGTH + 1)) : null
  return begun !== null && SECRET.test(secret) ? { secret, begun } : null
}

/** Names and values in a `Cookie` header, in order. A name can occur several times. */
export function cookiesIn(header: string | undefined): (readonly [name: string, value: string])[] {
  return (header ?? '').split(';').flatMap(part => {
    const at = part.indexOf('=')
    return at < 0 ? [] : [[part.slice(0, at).trim(), part.slice(at + 1).trim()] as const]
  })
}
