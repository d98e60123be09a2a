/**
 * Client of the public HTTP API. Its types come from the OpenAPI document, and its requests contain the key
 * of the session, or the token of the member who is signed in.
 */
import createClient, { defaultPathSerializer } from 'openapi-fetch'
import { causeHeaders } from '../session/activity.ts'
import { refreshAccount, renewedAfter } from '../session/member-session.ts'
import { currentSession, forgetSession, type Session } from '../session/session.ts'
import type { components, operations, paths } from '../../types/interface.d.ts'
import { SERVICE } from './base-url.ts'
import { parsedJson } from './json.ts'
import { Problem } from './problem.ts'

export type Schemas = components['schemas']
export type Operations = operations

export const service = createClient<paths>({ baseUrl: SERVICE, fetch: exactly, pathSerializer: addressOf })

/**
 * Browsers resolve these path segments, even if they are escaped. A request with such a key would be sent to
 * another path.
 */
const STEPS: readonly unknown[] = ['.', '..']

function addressOf(path: string, names: Record<string, unknown>): string {
  for (const name of Object.values(names)) if (STEPS.includes(name)) throw Problem.nameless(String(name))
  return defaultPathSerializer(path, names)
}

/** Identifier of a user in a path. It is the key. If the key cannot be part of a path, it is the ID. */
export async function userInPath(
  path: { readonly proj_id: string; readonly env_id: string },
  user: string,
): Promise<string> {
  if (!STEPS.includes(user)) return user
  const query = { kind: 'user', prefix: user, limit: 1 } as const
  const { data } = await answerOf(
    service.GET('/v2/facts/{proj_id}/{env_id}/key_completions', { params: { path, query } }),
  )
  return data.find(({ key }) => key === user)?.id ?? user
}

/**
 * Sends a request with the credentials of the session. If the service rejects them, the session ends. If
 * another tab has signed in again as the same member, the request is repeated with the new token.
 */
export async function send(request: Request): Promise<Response> {
  const caller = currentSession()
  const again = caller.kind === 'member' ? request.clone() : null
  const response = await sendAs(caller, request)
  if (caller.kind === 'member') {
    // The level might have changed since the account was read.
    if (response.status === 403) void refreshAccount().catch(() => null)
    const account = response.status === 401 ? await renewedAfter(caller.account) : null
    return account === null ? response : sendAs({ kind: 'member', account }, again!)
  }
  if (response.status === 401 && caller.kind === 'key' && caller === currentSession())
    forgetSession('refused')
  return response
}

async function sendAs(caller: Session, request: Request): Promise<Response> {
  const headers: Readonly<Record<string, string>> =
    caller.kind === 'key'
      ? { authorization: `Bearer ${caller.key}` }
      : caller.kind === 'member'
        ? { 'X-CSRF-Token': caller.account.csrf_token, ...causeHeaders() }
        : {}
  for (const [name, value] of Object.entries(headers)) request.headers.set(name, value)
  return fetch(request).catch((error: unknown) => {
    if (request.signal.aborted) throw error
    throw Problem.unreachable()
  })
}

/** Like `send`, but keeps all digits of the numbers in the response. */
async function exactly(request: Request): Promise<Response> {
  const response = await send(request)
  const text = await response.text()
  const headers = new Headers(response.headers)
  // `Content-Length` is set because the client parses a body only if its length is known. Proxies that
  // compress responses remove this header.
  headers.set('Content-Length', String(text.length))
  const { status, statusText } = response
  const copy = new Response(text === '' ? null : text, { status, statusText, headers })
  return Object.assign(copy, { json: async () => parsedJson(text) })
}

interface Answered<Data> {
  readonly data?: Data | undefined
  readonly error?: unknown
  readonly response: Response
}

/** Returns the data of a successful response. For an error response, throws a `Problem`. */
export async function answerOf<Data>(answered: Promise<Answered<Data>>): Promise<Data> {
  const { data, error, response } = await answered
  if (!response.ok) throw Problem.of(response, error)
  return data as Data
}

/** Returns the data of the response and its `ETag`. A later conditional write needs this tag. */
export async function taggedAnswerOf<Data>(
  answered: Promise<Answered<Data>>,
): Promise<{ readonly value: Data; readonly tag: string | null }> {
  const { response, ...rest } = await answered
  const value = await answerOf(Promise.resolve({ ...rest, response }) as Promise<Answered<Data>>)
  return { value, tag: response.headers.get('etag') }
}

/**
 * Header for a conditional change. If the entity has another `ETag`, the service responds with 412. If `tag`
 * is null, the change is unconditional.
 */
export function onlyAs(tag: string | null): { readonly 'If-Match'?: string } {
  return tag === null ? {} : { 'If-Match': tag }
}
