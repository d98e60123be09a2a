/** How the console asks the service: the public HTTP interface, with the types of its description, and the key of the session. */
import createClient, { defaultPathSerializer } from 'openapi-fetch'
import { currentKey, signOut } from '../session/session.ts'
import type { components, operations, paths } from '../../types/interface.d.ts'
import { parsedJson } from './json.ts'
import { Problem } from './problem.ts'

export type Schemas = components['schemas']
export type Operations = operations

/** Where the service is: beside the page, behind a proxy that puts a path in front, too. */
export const SERVICE = new URL('.', document.baseURI.split('#', 1)[0]!).href.replace(/\/$/, '')

export const service = createClient<paths>({ baseUrl: SERVICE, fetch: exactly, pathSerializer: addressOf })

/** Browsers take them for steps of a path, escaped, too: the request would be about something else. */
const STEPS: readonly unknown[] = ['.', '..']

function addressOf(path: string, names: Record<string, unknown>): string {
  for (const name of Object.values(names)) if (STEPS.includes(name)) throw Problem.nameless(String(name))
  return defaultPathSerializer(path, names)
}

/** What a path names a user by: its key, or its id where no path can have the key. */
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

/** As `fetch`, with the key. A key that the service refuses ends the session. */
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

/** As `send`, with all digits of the numbers in the response. */
async function exactly(request: Request): Promise<Response> {
  const response = await send(request)
  const text = await response.text()
  const headers = new Headers(response.headers)
  // The client calls `json` only if there is a length, and a proxy that compresses leaves it out.
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

/** What was answered. Throws a `Problem` where it is an error. */
export async function answerOf<Data>(answered: Promise<Answered<Data>>): Promise<Data> {
  const { data, error, response } = await answered
  if (!response.ok) throw Problem.of(response, error)
  return data as Data
}

/** What was answered, and its `ETag`, to write back what nobody changed meanwhile. */
export async function taggedAnswerOf<Data>(
  answered: Promise<Answered<Data>>,
): Promise<{ readonly value: Data; readonly tag: string | null }> {
  const { response, ...rest } = await answered
  const value = await answerOf(Promise.resolve({ ...rest, response }) as Promise<Answered<Data>>)
  return { value, tag: response.headers.get('etag') }
}

/** The header of a change that is meant for what has that tag alone: where it is another by now, it is refused (412). Null: for anything. */
export function onlyAs(tag: string | null): { readonly 'If-Match'?: string } {
  return tag === null ? {} : { 'If-Match': tag }
}
