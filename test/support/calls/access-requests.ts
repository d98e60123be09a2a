/** AuthZEN requests that return text, because the order of members is part of the contract. */
import { expect } from 'vitest'
import { API_KEY, type Client } from '#testing/processes/running-service.ts'

export const EVALUATION = '/access/v1/evaluation'
export const EVALUATIONS = '/access/v1/evaluations'
export const SUBJECTS = '/access/v1/search/subject'
export const RESOURCES_FOUND = '/access/v1/search/resource'
export const ACTIONS = '/access/v1/search/action'
export const ENDPOINTS = [EVALUATION, EVALUATIONS, SUBJECTS, RESOURCES_FOUND, ACTIONS] as const

export interface TextAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

interface Options {
  readonly method?: string
  /** A value that is sent as JSON. */
  readonly body?: unknown
  /** A text that is sent unchanged, instead of `body`. */
  readonly text?: string | Uint8Array<ArrayBuffer>
  /** The bearer token, or null for a request without a token. */
  readonly key?: string | null
  /** Additional headers. Null removes a default header. */
  readonly headers?: Readonly<Record<string, string | null>>
}

export async function ask(client: Client, path: string, options: Options = {}): Promise<TextAnswer> {
  const { method = 'POST', body, text = body === undefined ? undefined : JSON.stringify(body) } = options
  const { key = API_KEY } = options
  const headers = new Headers()
  if (key !== null) headers.set('authorization', `Bearer ${key}`)
  // The body is sent as bytes, because `fetch` would add a content type to a text.
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text
  if (bytes !== undefined) headers.set('content-type', 'application/json')
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (value === null) headers.delete(name)
    else headers.set(name, value)
  }
  const response = await fetch(client.address + path, {
    method,
    headers,
    ...(bytes !== undefined && { body: bytes }),
  })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Expects a JSON response with status 200 and returns its text. */
export async function textOf(client: Client, path: string, body: unknown): Promise<string> {
  const answer = await ask(client, path, { body })
  expect([answer.status, answer.headers.get('content-type')], answer.text).toEqual([200, 'application/json'])
  return answer.text
}

/** Expects an error with this status, in the format of these endpoints, and returns its message. */
export function messageOf(answer: TextAnswer, status: number): string {
  expect([answer.status, answer.headers.get('content-type')], answer.text).toEqual([
    status,
    'text/plain; charset=utf-8',
  ])
  expect(answer.text).toMatch(/\S/)
  expect(answer.headers.get('x-request-id')).toMatch(/./)
  return answer.text
}

export interface Entity {
  readonly type: string
  readonly id: string
}

/** The entity of a text `type:id`, which is split at the first colon. */
export function entity(reference: string): Entity {
  const colon = reference.indexOf(':')
  return { type: reference.slice(0, colon), id: reference.slice(colon + 1) }
}

export function evaluation(user: string, action: string, on: string) {
  return { subject: { type: 'user', id: user }, action: { name: action }, resource: entity(on) }
}

export const PERMIT = '{"decision":true}'
export const DENY = '{"decision":false}'

/** The text of the last page of a search. */
export function lastPage(results: readonly unknown[], total = results.length): string {
  return JSON.stringify({ page: { next_token: '', count: results.length, total }, results })
}

/** A valid body for each endpoint: alice, read, document:d1. */
export const GOOD: Readonly<Record<(typeof ENDPOINTS)[number], Readonly<Record<string, unknown>>>> = {
  [EVALUATION]: evaluation('alice', 'read', 'document:d1'),
  [EVALUATIONS]: { ...evaluation('alice', 'read', 'document:d1'), evaluations: [{}] },
  [SUBJECTS]: { ...evaluation('alice', 'read', 'document:d1'), subject: { type: 'user' } },
  [RESOURCES_FOUND]: { ...evaluation('alice', 'read', 'document:d1'), resource: { type: 'document' } },
  [ACTIONS]: { subject: { type: 'user', id: 'alice' }, resource: entity('document:d1') },
}

/** A copy of the body with another value at a path such as `subject.id`. */
export function changedAt<Body extends object>(body: Body, place: string, value: unknown): Body {
  const [name, ...rest] = place.split('.') as [keyof Body & string, ...string[]]
  const inner = rest.length === 0 ? value : changedAt(body[name] as object, rest.join('.'), value)
  return { ...body, [name]: inner }
}
