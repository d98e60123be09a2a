/** Modes of the load test. A mode creates requests whose correct responses are known. */
import type { LoadModel, Question } from './load-model.ts'

/** A request, and a function that checks its response. */
export interface CheckedRequest {
  readonly method: 'POST' | 'PATCH'
  readonly path: string
  readonly body: string
  /** Whether the parsed JSON is the correct response. False if the body has another form. */
  isRight(answer: unknown): boolean
}

export interface Mode {
  readonly name: ModeName
  readonly title: string
  /** Number of checks in one request. */
  readonly checks: number
  /** Requests that a connection sends repeatedly. Each connection starts at another position. */
  requests(model: LoadModel, connection: number): CheckedRequest[]
}

export type ModeName = 'single' | 'bulk' | 'evaluations' | 'mixed'

const CHECKS = 100
/** Number of different requests per connection. */
const ROUND = 64
/** One request in this number of requests is a change. */
const WRITE_EVERY = 16

function native({ user, action, type, key, tenant }: Question) {
  return { user: { key: user }, action, resource: { type, key, tenant } }
}

function evaluation({ user, action, type, key, tenant }: Question) {
  return {
    subject: { type: 'user', id: user },
    action: { name: action },
    resource: { type, id: key, properties: { tenant } },
  }
}

/** Returns a field of a value whose type is unknown. */
function field(of: unknown, name: string): unknown {
  return (of as Readonly<Record<string, unknown>> | null)?.[name]
}

function single(question: Question): CheckedRequest {
  return {
    method: 'POST',
    path: '/allowed',
    body: JSON.stringify(native(question)),
    isRight: answer => field(answer, 'allow') === question.isAllowed,
  }
}

/** Whether a list contains the correct decision for each check. */
function areRight(list: unknown, name: string, questions: readonly Question[]): boolean {
  return (
    Array.isArray(list) &&
    list.length === questions.length &&
    questions.every(({ isAllowed }, at) => field(list[at], name) === isAllowed)
  )
}

function bulk(questions: readonly Question[]): CheckedRequest {
  return {
    method: 'POST',
    path: '/allowed/bulk',
    body: JSON.stringify(questions.map(native)),
    isRight: answer => areRight(field(answer, 'allow'), 'allow', questions),
  }
}

function evaluations(questions: readonly Question[]): CheckedRequest {
  return {
    method: 'POST',
    path: '/access/v1/evaluations',
    body: JSON.stringify({ evaluations: questions.map(evaluation) }),
    isRight: answer => areRight(field(answer, 'evaluations'), 'decision', questions),
  }
}

function write(model: LoadModel, connection: number, at: number): CheckedRequest {
  const path = model.writerPath(connection)
  return {
    method: 'PATCH',
    path,
    body: JSON.stringify({ attributes: { seen: at } }),
    isRight: answer => path.endsWith(`/${String(field(answer, 'key'))}`),
  }
}

/** Rotates a list. Connections then do not all send the same request at the same time. */
function turned<Item>(items: readonly Item[], by: number): Item[] {
  const at = by % items.length
  return [...items.slice(at), ...items.slice(0, at)]
}

function pages(questions: readonly Question[], size: number): Question[][] {
  return Array.from({ length: questions.length / size }, (_, at) =>
    questions.slice(at * size, (at + 1) * size),
  )
}

export const MODES: readonly Mode[] = [
  {
    name: 'single',
    title: 'single decisions',
    checks: 1,
    requests: (model, connection) => turned(model.questions(ROUND), connection).map(single),
  },
  {
    name: 'bulk',
    title: `bulks of ${CHECKS}`,
    checks: CHECKS,
    requests: (model, connection) => turned(pages(model.questions(8 * CHECKS), CHECKS), connection).map(bulk),
  },
  {
    name: 'evaluations',
    title: `AuthZEN evaluations of ${CHECKS}`,
    checks: CHECKS,
    requests: (model, connection) =>
      turned(pages(model.questions(8 * CHECKS), CHECKS), connection).map(evaluations),
  },
  {
    name: 'mixed',
    title: `single decisions, and one change in ${WRITE_EVERY} requests`,
    checks: 1,
    requests: (model, connection) => {
      const requests = model
        .questions(ROUND)
        .map((question, at) => (at % WRITE_EVERY === 0 ? write(model, connection, at) : single(question)))
      return turned(requests, connection)
    },
  },
]
