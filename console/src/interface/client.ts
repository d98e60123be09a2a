/** Client of the public HTTP API, with types from its OpenAPI description and the key of the session. */
import createClient, { defaultPathSerializer } from 'openapi-fetch'
import { currentKey, signOut } from '../session/session.ts'
import type { components, operations, paths } from '../../types/interface.d.ts'
import { parsedJson } from './json.ts'
import { Problem } from './problem.ts'

export type Schemas = components['schemas']
export type Operations = operations

/** Base URL of the service, relative to the page. This also works behind a proxy that adds a path prefix. */
export const SERVICE = new URL('.', document.baseURI.split('#', 1)[0]!).href.replace(/\/$/, '')

export const service = createClient<paths>({ baseUrl: SERVICE, fetch: exactly, pathSerializer: addressOf })

/**
 * Browsers treat these as path segments to resolve, even if they are escaped, so the request would go to
 * another path.
 */
const STEPS: readonly unknown[] = ['.', '..']

function addressOf(path: string, names: Record<string, unknown>): string {
  for (const name of Object.values(names)) if (STEPS.includes(name)) throw Problem.nameless(String(name))
  return defaultPathSerializer(path, names)
}

/** Identifier of a user in a path: the key, or the id if the key cannot be part of a path. */
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

/** `fetch` with the key of the session. If the service rejects the key, the session ends. */
export async function send(request: Request): Promise<Response> {
  const key = currentKey()
  if (key !== null) request.headers.set('authorization', `Bearer ${key}`)
  const response = await fetch(request).catch((error: unknown) => {
    if (request.signal.aborted) throw error
    throw Problem.unreachable()
  })
  if (response.status === 401 && key !== null && key === currentKey()) signOut('refused')
  return response
}

/** Like `send`, but keeps all digits of the numbers in the response. */
async function exactly(request: Request): Promise<Response> {
  const response = await send(request)
  const text = await response.text()
  const headers = new Headers(response.headers)
  // The client calls `json` only if there is a length, which a compressing proxy omits.
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

/** Returns the response data. Throws a `Problem` for an error response. */
export async function answerOf<Data>(answered: Promise<Answered<Data>>): Promise<Data> {
  const { data, error, response } = await answered
  if (!response.ok) throw Problem.of(response, error)
  return data as Data
}

/** Returns the response data and its `ETag`, for a conditional write. */
export async function taggedAnswerOf<Data>(
  answered: Promise<Answered<Data>>,
): Promise<{ readonly value: Data; readonly tag: string | null }> {
  const { response, ...rest } = await answered
  const value = await answerOf(Promise.resolve({ ...rest, response }) as Promise<Answered<Data>>)
  return { value, tag: response.headers.get('etag') }
}

/**
 * Header for a conditional change: the service responds with 412 if the entity has another `ETag`. A null tag
 * makes the change unconditional.
 */
export function onlyAs(tag: string | null): { readonly 'If-Match'?: string } {
  return tag === null ? {} : { 'If-Match': tag }
}
