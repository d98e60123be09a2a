/**
 * Sign-in of people at an OpenID Connect issuer, for the console (administration.md 3). The main thread
 * executes the steps; this file reads the requests of browsers and of the issuer.
 */
import { Type } from 'typebox'
import { CACHE_CONTROL, LOCATION, SET_COOKIE } from '#http/message/header-fields.ts'
import type { Call, Reply } from '#http/message/request-reply.ts'
import { defineRoute, type Route } from '#http/routing/route.ts'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { ManagementError } from '#model/wire/problem.ts'
import { cookiesIn, SessionCookies } from '#model/sign-in/session-cookies.ts'
import type { SignInCall, SignInCookies, SignInStep } from '#model/sign-in/sign-in-request.ts'
import { type ManagementGateway, plainNames } from './managed.ts'

export interface SignInRouteSettings {
  readonly oidcIssuer: string | null
  readonly oidcName: string | null
  readonly publicUrl: string | null
  readonly isKeySignInOffered: boolean
}

const SIGN_IN = '/v2/sign-in'
const ONLY_MOUNTED = 'the route is mounted only if an issuer is configured'
const NOT_STORED = { 'cache-control': 'no-store' }
/** Maximum length of the code of an invitation. */
const INVITE_LENGTH_MAX = 128

const Ways = Type.Object({
  oidc: Type.Union([Type.Object({ name: Type.String() }), Type.Null()], {
    description: 'The issuer at which people sign in; null if there is none.',
  }),
  key: Type.Boolean({ description: 'Whether the console offers sign-in with an API key.' }),
})

const Begin = Type.Object({
  invite: Type.Optional(
    Type.String({ maxLength: INVITE_LENGTH_MAX, description: 'Code of an invitation, from its link.' }),
  ),
})

const Begun = Type.Object({
  location: Type.String({ description: 'Address of the issuer, to which the browser goes.' }),
})

/** A parameter that must occur once. The list shows whether it does. */
const parameter = (description: string) => Type.Optional(Type.Array(Type.String(), { description }))

const AuthorizationResponse = Type.Object({
  state: parameter('Identifies the sign-in.'),
  code: parameter('Authorization code.'),
  error: parameter('Error code, instead of an authorization code.'),
  iss: parameter('The issuer (RFC 9207).'),
})

const LogoutForm = Type.Object({ logout_token: Type.Optional(Type.String({ description: 'A signed JWT.' })) })

const LogoutError = Type.Object({ error: Type.Literal('invalid_request'), error_description: Type.String() })

export function signInWaysRoute({
  oidcIssuer,
  oidcName,
  isKeySignInOffered: key,
}: SignInRouteSettings): Route {
  const oidc = oidcIssuer === null ? null : { name: oidcName ?? new URL(oidcIssuer).host }
  return defineRoute({
    method: 'GET',
    path: SIGN_IN,
    operationId: 'getSignIn',
    summary: 'Read the ways to sign in to the console',
    family: 'management',
    access: 'public',
    responses: { 200: { description: 'The ways to sign in.', schema: Ways, headers: [CACHE_CONTROL] } },
    handle: () => ({ status: 200, headers: NOT_STORED, body: { oidc, key } }),
  })
}

/**
 * The routes of a sign-in, which must be mounted only if an issuer is configured. `sessionIdIn` returns the
 * id of the session in a cookie with this value, or null.
 */
export function signInRoutes(
  gateway: ManagementGateway,
  settings: SignInRouteSettings,
  sessionIdIn: (cookie: string) => string | null,
): Route[] {
  const { oidcIssuer, publicUrl } = settings
  const cookies = oidcIssuer === null ? null : new SessionCookies(publicUrl!)
  const origin = cookies && new URL(publicUrl!).origin

  const execute = async (call: SignInCall, { names, caller }: Call): Promise<SignInStep | null> => {
    const { operation } = call
    const request = { about: 'sign-in', operation, ...plainNames(names), call } as const
    const { json } = await gateway.execute(request, { caller, isRead: false })
    return json === null ? null : (JSON.parse(String(json)) as SignInStep)
  }
  const step = async (call: SignInCall, of: Call): Promise<SignInStep> => {
    const next = await execute(call, of)
    assert(next, 'a sign-in has a next step')
    return next
  }
  const cookiesOf = ({ headers }: Call): SignInCookies =>
    cookiesIn(headers.get('cookie')).filter(([name]) => name.startsWith(cookies!.signInPrefix))

  return [
    defineRoute({
      method: 'POST',
      path: SIGN_IN,
      operationId: 'beginSignIn',
      summary: 'Begin a sign-in at the issuer',
      family: 'management',
      access: 'public',
      optionalBody: Begin,
      refusals: [403, 404, 422, 503],
      responses: {
        200: { description: 'The sign-in began.', schema: Begun, headers: [CACHE_CONTROL, SET_COOKIE] },
      },
      handle: async call => {
        assert(cookies, ONLY_MOUNTED)
        requireOwnPage(call.headers, origin!, publicUrl!)
        const [session, ...others] = cookiesIn(call.headers.get('cookie')).filter(
          ([name]) => name === cookies.sessionName,
        )
        const next = await step(
          {
            operation: 'beginSignIn',
            invite: call.body?.invite ?? null,
            sessionId: session && others.length === 0 ? sessionIdIn(session[1]) : null,
            cookies: cookiesOf(call),
          },
          call,
        )
        const body = { location: next.location }
        return { status: 200, headers: NOT_STORED, cookies: next.cookies, body }
      },
    }),
    defineRoute({
      method: 'GET',
      path: `${SIGN_IN}/callback`,
      operationId: 'finishSignIn',
      summary: 'Finish a sign-in; the issuer sends the browser here',
      family: 'management',
      access: 'public',
      isRead: false,
      query: AuthorizationResponse,
      refusals: [404, 422, 503],
      responses: {
        303: {
          description: 'Redirect to the console, which shows the result.',
          headers: [LOCATION, CACHE_CONTROL, SET_COOKIE],
        },
      },
      handle: async call => {
        assert(cookies, ONLY_MOUNTED)
        const next = await step(
          {
            operation: 'finishSignIn',
            parameters: call.query,
            cookies: cookiesOf(call),
            userAgent: call.headers.get('user-agent') ?? null,
          },
          call,
        )
        const headers = { ...NOT_STORED, location: next.location, 'referrer-policy': 'no-referrer' }
        return { status: 303, headers, cookies: next.cookies, body: undefined }
      },
    }),
    defineRoute({
      method: 'POST',
      path: `${SIGN_IN}/back-channel-logout`,
      operationId: 'receiveLogout',
      summary: 'End the sessions of a person who signed out at the issuer; the issuer calls this',
      family: 'management',
      access: 'public',
      body: LogoutForm,
      isForm: true,
      refusals: [404, 503],
      responses: {
        200: { description: 'The sessions ended.', headers: [CACHE_CONTROL] },
        400: {
          description:
            'The token is not valid: the response has `error` and `Cache-Control: no-store`. Or the request is malformed.',
          schema: Type.Union([LogoutError, ManagementError]),
        },
      },
      handle: async call => {
        assert(cookies, ONLY_MOUNTED)
        try {
          await execute({ operation: 'receiveLogout', logoutToken: call.body.logout_token ?? null }, call)
          return { status: 200, headers: NOT_STORED, body: undefined }
        } catch (error) {
          return refusedLogout(error)
        }
      },
    }),
  ]
}

/**
 * A route that needs `OIDC_ISSUER`, on a service without this setting. It does not exist there, whatever the
 * request contains. Only the size limit for all bodies is checked first.
 */
export function withoutIssuer(route: Route): Route {
  return {
    ...route,
    paramNames: [],
    access: 'public',
    level: null,
    query: null,
    body: null,
    bodyBytesMax: Number.POSITIVE_INFINITY,
    readsClaim: false,
    isRead: true,
    handle: () => {
      throw new AuthzError('NOT_FOUND', 'sign-in is not configured: set OIDC_ISSUER')
    },
  }
}

/** Throws `FORBIDDEN` if another page than the console caused the request (administration.md S4). */
function requireOwnPage(headers: ReadonlyMap<string, string>, origin: string, publicUrl: string): void {
  const site = headers.get('sec-fetch-site')
  const isOwn = (headers.get('origin') ?? origin) === origin && (site ?? 'same-origin') === 'same-origin'
  if (isOwn) return
  throw new AuthzError('FORBIDDEN', `a sign-in must begin in the console at ${publicUrl} (PUBLIC_URL)`)
}

function refusedLogout(error: unknown): Reply {
  if (!(error instanceof AuthzError) || error.code !== 'INVALID_INPUT') throw error
  const body = { error: 'invalid_request', error_description: error.message }
  return { status: 400, headers: NOT_STORED, body }
}
