/**
 * Authenticates requests by the cookie of a session (administration.md C3 to C5, C10, C11). The cookie is
 * read only if sign-in is configured and the request has no `Authorization` header.
 *
 * A cookie alone proves nothing: a browser also attaches it to requests that pages of other origins cause.
 * It therefore counts only together with the token of the session, and never if the browser states another
 * origin.
 */
import { csrfTokenOf, isSameToken } from '#http/message/csrf-token.ts'
import { HeaderList } from '#http/message/header-list.ts'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { type GrantHolder, principalAnywhere, principalAt, principalIn } from '#model/members/member-reach.ts'
import type { NamedPlace, OrganizationPlaces } from '#model/members/organization-places.ts'
import type { Principal } from '#model/principal.ts'
import { formatRevision, type Revision } from '#model/revision.ts'
import { cookiesIn, type SessionCookie, SessionCookies, sessionIn } from '#model/sign-in/session-cookies.ts'
import { scopeInPath } from './path-scope.ts'
import { requireAdmission, type RouteAccess, type RouteNeeds, unauthenticated } from './route-access.ts'
import type { RouteMatch } from './router.ts'

/** The sessions of a thread. */
export interface SessionSource<Session extends GrantHolder = GrantHolder> {
  readonly places: OrganizationPlaces
  /** The session with this secret, unless it has ended or expired. */
  find(secret: string): Session | null
  /** The session with this id, unless it has ended or expired. */
  byId(sessionId: string): Session | null
  /** Records that the session was used. */
  noteUse(session: Session): void
}

/** Whether the sessions of the thread are those of this revision of the organization, or later ones. */
type HasReached = (revision: Revision) => boolean

export const ENVIRONMENT_HEADER = 'X-Verdict-Environment'
/** Header with the token of the session. */
const CSRF_TOKEN = 'x-csrf-token'
const ENVIRONMENT_NAME = ENVIRONMENT_HEADER.toLowerCase()

export class SessionAccess<Session extends GrantHolder = GrantHolder> {
  readonly cookies: SessionCookies
  readonly #source: SessionSource<Session>
  readonly #hasReached: HasReached
  readonly #origin: string
  readonly #tokens = new WeakMap<Session, string>()

  /** `publicUrl`: the address of the service for browsers (`PUBLIC_URL`). */
  constructor(source: SessionSource<Session>, publicUrl: string, hasReached: HasReached) {
    this.cookies = new SessionCookies(publicUrl)
    this.#source = source
    this.#hasReached = hasReached
    this.#origin = new URL(publicUrl).origin
  }

  /** Whether requests of this kind can come with a session, and this one has the cookie of one. */
  isSent(access: RouteAccess, headers: HeaderList): boolean {
    if (access === 'public' || access === 'optional-key' || headers.authorization !== undefined) return false
    return this.#valuesIn(headers).length > 0
  }

  /**
   * Returns the principal of a request with the cookie. Throws `UNAUTHENTICATED` if the cookie does not count
   * or opens no session, `INVALID_INPUT` if the request does not name an environment that it needs, and
   * `FORBIDDEN` if the grants are not sufficient.
   */
  identify(match: RouteMatch, headers: HeaderList): Principal {
    const secret = this.#cookieIn(headers)?.secret ?? null
    const session = secret === null ? null : this.#source.find(secret)
    if (secret === null || session === null) throw unauthenticated()
    const needsToken = match.route.access !== 'cookie'
    if (needsToken && !this.#hasToken(headers, session, secret)) throw unauthenticated()
    if (headers.get('x-background') !== '1') this.#source.noteUse(session)
    return this.#principalOf(session, match, headers)
  }

  /** Like `identify`, for a request that was identified before, after some time. */
  identifyAgain(sessionId: string, match: RouteMatch, headers: HeaderList): Principal {
    const session = this.#source.byId(sessionId)
    if (session === null) throw unauthenticated()
    return this.#principalOf(session, match, headers)
  }

  /** Whether a session could still call a route at this place, whose response has begun. */
  isStillAdmitted(sessionId: string, needs: RouteNeeds, place: NamedPlace): boolean {
    const session = this.#source.byId(sessionId)
    if (session === null) return false
    try {
      const needed = { level: needs.level ?? 'no_access', reach: 'any' } as const
      requireAdmission(needs, principalAt(session, this.#source.places, place, needed))
      return true
    } catch (error) {
      if (error instanceof AuthzError) return false
      throw error
    }
  }

  /**
   * Whether the cookie counts, and opens no session on any node. The browser then need not keep it. A request
   * that another page caused never has this result, because it must not sign a member out. Neither has a
   * cookie of a session that this node might not have received yet.
   */
  isStale(headers: HeaderList): boolean {
    const values = this.#valuesIn(headers)
    if (values.length !== 1 || !this.#isOwn(headers)) return false
    const cookie = sessionIn(values[0]!)
    return cookie === null || (this.#source.find(cookie.secret) === null && this.#hasReached(cookie.begun))
  }

  /**
   * Revision with which the session in the cookie began, if the cookie counts. Null if it does not, or if the
   * request cannot come with a session.
   */
  begunIn(access: RouteAccess, headers: HeaderList): string | null {
    const cookie = this.isSent(access, headers) ? this.#cookieIn(headers) : null
    return cookie && formatRevision(cookie.begun)
  }

  /** Id of the session in a cookie with this value; null if there is none. */
  idIn(value: string): string | null {
    const cookie = sessionIn(value)
    return cookie && (this.#source.find(cookie.secret)?.caller.sessionId ?? null)
  }

  /** The secret in the cookie of a request that was identified by it. */
  secretOf(headers: ReadonlyMap<string, string>): string {
    const cookie = headers instanceof HeaderList ? this.#cookieIn(headers) : null
    assert(cookie, 'a request in a session has its cookie')
    return cookie.secret
  }

  /** The content of the cookie, if the cookie counts. */
  #cookieIn(headers: HeaderList): SessionCookie | null {
    const [value, ...others] = this.#valuesIn(headers)
    const isSingle = value !== undefined && others.length === 0
    return isSingle && this.#isOwn(headers) ? sessionIn(value) : null
  }

  /** The values of the cookie of a session. */
  #valuesIn(headers: HeaderList): string[] {
    const { sessionName } = this.cookies
    const values: string[] = []
    for (const header of headers.valuesOf('cookie')) {
      if (!header.includes(sessionName)) continue
      for (const [name, value] of cookiesIn(header)) if (name === sessionName) values.push(value)
    }
    return values
  }

  /** Whether the browser does not state that a page of another origin caused the request. */
  #isOwn(headers: HeaderList): boolean {
    return (
      headers.valuesOf('origin').every(origin => origin === this.#origin) &&
      headers.valuesOf('sec-fetch-site').every(site => site === 'same-origin')
    )
  }

  /** Whether the request has the token of the session, which is computed once. */
  #hasToken(headers: HeaderList, session: Session, secret: string): boolean {
    let token = this.#tokens.get(session)
    if (token === undefined) {
      token = csrfTokenOf(secret)
      this.#tokens.set(session, token)
    }
    return !headers.isRepeated(CSRF_TOKEN) && isSameToken(headers.get(CSRF_TOKEN), token)
  }

  #principalOf(session: Session, match: RouteMatch, headers: HeaderList): Principal {
    const { route } = match
    const principal = principalFor(session, this.#source.places, match, headers)
    requireAdmission(route, principal)
    return principal
  }
}

function principalFor(
  session: GrantHolder,
  places: OrganizationPlaces,
  match: RouteMatch,
  headers: HeaderList,
): Principal {
  const { access } = match.route
  const level = match.route.level ?? 'no_access'
  if (access === 'environment') return principalIn(session, places, environmentIn(headers), level)
  if (access === 'organization') return principalAnywhere(session, places, { level, reach: 'organization' })
  const reach = access === 'project' ? 'project' : 'any'
  const { project, environment } = scopeInPath(match)
  if (project === null) return principalAnywhere(session, places, { level, reach })
  // A name that cannot be decoded is that of no project. The request is rejected for it later.
  const named = { project: project ?? '', environment: environment === undefined ? '' : environment }
  return principalAt(session, places, named, { level, reach })
}

/** The environment that a request names in a header, because its path names none. */
function environmentIn(headers: HeaderList): NamedPlace {
  const [value = '', ...others] = headers.valuesOf(ENVIRONMENT_NAME)
  const parts = value.split('/').map(decoded)
  const [project, environment] = parts
  if (parts.length === 2 && project && environment && others.length === 0) return { project, environment }
  throw new AuthzError(
    'INVALID_INPUT',
    `with a session, this request needs one header ${ENVIRONMENT_HEADER}: {project}/{environment}, both percent-encoded`,
  )
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
