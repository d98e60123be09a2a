/** The service as the commands see it: requests in its own words, wherever it runs. */
import { type Static, type TSchema, Type } from 'typebox'
import { Check } from 'typebox/schema'
import { parsedJson } from '#model/json-numbers.ts'
import { ApiError, RefusedError } from './exit-codes.ts'

export interface ApiAnswer {
  readonly status: number
  /** The JSON that came; the text where it was none; undefined without a body. */
  readonly body: unknown
  /** What was done may mean more than the caller thinks, in words. */
  readonly warning: string | null
}

export interface Api {
  send(method: string, path: string, body?: unknown): Promise<ApiAnswer>
}

/** The answer to a change. No caller here needs its content. */
export const Done = Type.Union([Type.Object({}), Type.Array(Type.Unknown()), Type.Undefined()])

/** Makes a change. Returns the service's warning, if any. Throws `ApiError` with the service's message when it is refused. */
export async function request(
  api: Api,
  method: string,
  path: string,
  body?: unknown,
): Promise<string | null> {
  const answer = await api.send(method, path, body)
  resultOf(Done, answer, `${method} ${path}`)
  return answer.warning
}

/** Asks for an answer of this form. Throws `ApiError` with the service's message when there is none. */
export async function ask<Schema extends TSchema>(
  api: Api,
  schema: Schema,
  method: string,
  path: string,
  body?: unknown,
): Promise<Static<Schema>> {
  return resultOf(schema, await api.send(method, path, body), `${method} ${path}`)
}

/** The value of a successful answer. Throws `ApiError` for another answer; `asked` names the request in messages. */
export function resultOf<Schema extends TSchema>(
  schema: Schema,
  answer: ApiAnswer,
  asked: string,
): Static<Schema> {
  if (answer.status === 401) throw keyRefused(answer)
  if (answer.status >= 400 && answer.status < 500) throw new RefusedError(`${asked}: ${messageOf(answer)}`)
  if (answer.status >= 300) throw new ApiError(`${asked}: ${messageOf(answer)}`)
  // A proxy, a login page or another program at that address must not be taken for a service that says yes or no.
  if (!Check(schema, answer.body)) throw foreignAnswer(asked)
  return answer.body
}

/** The service knows no such key. */
export function keyRefused(answer: ApiAnswer): ApiError {
  return new ApiError(
    `${messageOf(answer)}; the key is that of --key, else of VERDICT_KEY or VERDICT_KEY_FILE`,
  )
}

export function foreignAnswer(asked: string): ApiError {
  return new ApiError(
    `${asked}: what came is no answer of a Verdict service; is one at the address of --url, else of VERDICT_URL?`,
  )
}

/** What a service says as text: one line, and no page for people. */
const SENTENCE = /^(?!\s*<)[^\n]{1,500}\n?$/

/** The message of an error answer, whichever of the service's forms it has. */
export function messageOf({ status, body }: ApiAnswer): string {
  if (typeof body === 'string' && SENTENCE.test(body)) return body.trim()
  if (typeof body === 'object' && body !== null && 'message' in body) return String(body.message)
  return typeof body === 'string' && body.trim() !== ''
    ? `status ${status} and a page that is none of a Verdict service; is one at the address of --url, else of VERDICT_URL?`
    : `status ${status}`
}

/** The body as JSON if it is JSON, else as text. */
export function bodyOf(text: string): unknown {
  if (text === '') return undefined
  try {
    return parsedJson(text)
  } catch {
    return text
  }
}

/** The text of a header `Warning`: a code, who warns, and the text in quotes. */
export function warningOf(header: string | null | undefined): string | null {
  const text = bodyOf(/^\d+ \S+ (".*")$/.exec(header ?? '')?.[1] ?? '')
  return typeof text === 'string' ? text : null
}
