/** AuthZEN over real HTTP, with the text of the answer as it came: member order and spelling are part of the promise. */
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
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent as it is, in place of `body`. */
  readonly text?: string | Uint8Array<ArrayBuffer>
  /** The bearer token; null sends none. */
  readonly key?: string | null
  /** Headers over the usual ones; null leaves a usual one out. */
  readonly headers?: Readonly<Record<string, string | null>>
}

export async function ask(client: Client, path: string, options: Options = {}): Promise<TextAnswer> {
  const { method = 'POST', body, text = body === undefined ? undefined : JSON.stringify(body) } = options
  const { key = API_KEY } = options
  const headers = new Headers()
  if (key !== null) headers.set('authorization', `Bearer ${key}`)
  // A body of bytes: for a text, `fetch` would name a content type by itself.
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

/** The text of an answer that must be 200 and JSON. */
export async function textOf(client: Client, path: string, body: unknown): Promise<string> {
  const answer = await ask(client, path, { body })
  expect([answer.status, answer.headers.get('content-type')], answer.text).toEqual([200, 'application/json'])
  return answer.text
}

/** The message of an answer that must be an error with this status, in the form of these endpoints. */
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

/** `type:id`, split at the first colon. */
export function entity(reference: string): Entity {
  const colon = reference.indexOf(':')
  return { type: reference.slice(0, colon), id: reference.slice(colon + 1) }
}

export function evaluation(user: string, action: string, on: string) {
  return { subject: { type: 'user', id: user }, action: { name: action }, resource: entity(on) }
}

export const PERMIT = '{"decision":true}'
export const DENY = '{"decision":false}'

/** The text of a search page that is the last one. */
export function lastPage(results: readonly unknown[], total = results.length): string {
  return JSON.stringify({ page: { next_token: '', count: results.length, total }, results })
}

/** A good body for each endpoint: alice, read, document:d1. */
export const GOOD: Readonly<Record<(typeof ENDPOINTS)[number], Readonly<Record<string, unknown>>>> = {
  [EVALUATION]: evaluation('alice', 'read', 'document:d1'),
  [EVALUATIONS]: { ...evaluation('alice', 'read', 'document:d1'), evaluations: [{}] },
  [SUBJECTS]: { ...evaluation('alice', 'read', 'document:d1'), subject: { type: 'user' } },
  [RESOURCES_FOUND]: { ...evaluation('alice', 'read', 'document:d1'), resource: { type: 'document' } },
  [ACTIONS]: { subject: { type: 'user', id: 'alice' }, resource: entity('document:d1') },
}

/** A copy of the body with another value at the place, which is named as messages name it (`subject.id`). */
export function changedAt<Body extends object>(body: Body, place: string, value: unknown): Body {
  const [name, ...rest] = place.split('.') as [keyof Body & string, ...string[]]
  const inner = rest.length === 0 ? value : changedAt(body[name] as object, rest.join('.'), value)
  return { ...body, [name]: inner }
}
