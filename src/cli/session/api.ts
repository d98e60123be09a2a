/**
 * Interface through which commands call the service. The service can run in another process or in the process
 * of the command.
 */
import { type Static, type TSchema, Type } from 'typebox'
import { Check } from 'typebox/schema'
import { parsedJson } from '#model/text/json-numbers.ts'
import { ApiError, RefusedError } from './exit-codes.ts'

export interface ApiAnswer {
  readonly status: number
  /** Parsed JSON of the response. If the body is not JSON, its text. Undefined if there is no body. */
  readonly body: unknown
  /** Text of the `Warning` header; null if there is none. */
  readonly warning: string | null
  /** Value of the `ETag` header; null if there is none. */
  readonly tag: string | null
}

export interface Api {
  send(method: string, path: string, body?: unknown): Promise<ApiAnswer>
}

/** Schema of the response to a change. The commands do not use its content. */
export const Done = Type.Union([Type.Object({}), Type.Array(Type.Unknown()), Type.Undefined()])

/**
 * Sends a change. Returns the warning of the service, if any. Throws `ApiError` with the message of the
 * service if it rejects the change.
 */
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

/**
 * Sends a request whose response must match the schema. Otherwise throws `ApiError` with the message of the
 * service.
 */
export async function ask<Schema extends TSchema>(
  api: Api,
  schema: Schema,
  method: string,
  path: string,
  body?: unknown,
): Promise<Static<Schema>> {
  return resultOf(schema, await api.send(method, path, body), `${method} ${path}`)
}

/**
 * Returns the body of a successful response. Throws `ApiError` for any other response. `asked` names the
 * request in the message.
 */
export function resultOf<Schema extends TSchema>(
  schema: Schema,
  answer: ApiAnswer,
  asked: string,
): Static<Schema> {
  if (answer.status === 401) throw keyRefused(answer)
  if (answer.status >= 400 && answer.status < 500)
    throw new RefusedError(`${asked}: ${messageOf(answer)}`, reasonOf(answer))
  if (answer.status >= 300) throw new ApiError(`${asked}: ${messageOf(answer)}`)
  // The response might come from a proxy, a login page or another program. It must not count as a decision of
  // the service.
  if (!Check(schema, answer.body)) throw foreignAnswer(asked)
  return answer.body
}

/** Creates the error for a key that the service does not accept. */
export function keyRefused(answer: ApiAnswer): ApiError {
  return new ApiError(`${messageOf(answer)}; check the API key in --key, VERDICT_KEY or VERDICT_KEY_FILE`)
}

export function foreignAnswer(asked: string): ApiError {
  return new ApiError(
    `${asked}: the response is not from a Verdict service; check the address in --url or VERDICT_URL`,
  )
}

/** Recognizes an error message that is sent as text: a single line that is not HTML. */
const SENTENCE = /^(?!\s*<)[^\n]{1,500}\n?$/

/** Returns the message of an error response, in any of the formats of the service. */
export function messageOf({ status, body }: ApiAnswer): string {
  if (typeof body === 'string' && SENTENCE.test(body)) return body.trim()
  if (typeof body === 'object' && body !== null && 'message' in body) return String(body.message)
  return typeof body === 'string' && body.trim() !== ''
    ? `status ${status} with a page that is not from a Verdict service; check the address in --url or VERDICT_URL`
    : `status ${status}`
}

/** Returns the message of an error response, without the title of the error. */
function reasonOf(answer: ApiAnswer): string {
  const message = messageOf(answer)
  const { body } = answer
  const title = typeof body === 'object' && body !== null && 'title' in body ? `${String(body.title)}: ` : ''
  return message.startsWith(title) ? message.slice(title.length) : message
}

/** Returns the body as JSON if it is valid JSON, otherwise as text. */
export function bodyOf(text: string): unknown {
  if (text === '') return undefined
  try {
    return parsedJson(text)
  } catch {
    return text
  }
}

/**
 * Returns the text of a `Warning` header. The header consists of a code, an agent and a quoted text. Returns
 * null if there is no such header.
 */
export function warningOf(header: string | null | undefined): string | null {
  const text = bodyOf(/^\d+ \S+ (".*")$/.exec(header ?? '')?.[1] ?? '')
  return typeof text === 'string' ? text : null
}
