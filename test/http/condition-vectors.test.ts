/**
 * The worked vectors of the contract (conditions, section 5.8) at each place that decides, wherever the attribute comes from: what is
 * stored of the user or the instance, what is sent of either, the context.
 *
 * A set matches only where its conditions are true. So a condition that is false is seen by its negation, which allows; one that is
 * unknown allows neither itself nor negated.
 */
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { EVALUATION, EVALUATIONS } from '../support/access-requests.ts'
import { freePort } from '#testing/processes/free-port.ts'
import { API_KEY, FACTS, SCHEMA, sharedService } from '#testing/processes/running-service.ts'

type Json = Readonly<Record<string, unknown>>

interface Case {
  readonly name: string
  readonly attributes: Json
  readonly context: Json
  readonly value: string
  readonly conditions: (root: string) => Json
}

const { vectors, connectives } = JSON.parse(
  readFileSync(new URL('../vectors/conditions.json', import.meta.url), 'utf8'),
) as {
  readonly vectors: readonly {
    readonly n: number
    readonly attribute: unknown
    readonly missing: boolean
    readonly test: Json
    readonly value: string
    readonly context?: Json
  }[]
  readonly connectives: readonly (Readonly<Record<string, readonly string[]>> & { readonly value: string })[]
}

const LEAVES: Readonly<Record<string, Json>> = {
  true: { there: { equals: 1 } },
  false: { there: { equals: 2 } },
  unknown: { missing: { equals: 1 } },
}

const CASES: readonly Case[] = [
  ...vectors.map(({ n, attribute, missing, context, value, ...vector }) => ({
    name: `v${n}`,
    attributes: missing ? {} : { a: attribute },
    context: context ?? {},
    value,
    conditions: (root: string) => ({ [`${root}.a`]: vector.test }),
  })),
  ...connectives.map(({ value, ...connective }, index) => {
    const [[operator, items]] = Object.entries(connective) as [[string, readonly string[]]]
    const leafAt = (root: string, leaf: string): Json =>
      Object.fromEntries(
        Object.entries(LEAVES[leaf]!).map(([name, leafTest]) => [`${root}.${name}`, leafTest]),
      )
    return {
      name: `c${index}`,
      attributes: { there: 1 },
      context: {},
      value,
      conditions: (root: string) => ({ [operator]: items.map(leaf => leafAt(root, leaf)) }),
    }
  }),
]

interface Question {
  readonly user: string
  readonly action: string
  readonly key?: string
  readonly ofUser?: Json
  readonly ofResource?: Json
  readonly context?: Json
}

interface Source {
  readonly name: string
  /** Under which the conditions read it. */
  readonly root: 'user' | 'resource' | 'context'
  readonly ask: (one: Case, action: string) => Question
}

const withContext = ({ context }: Case) => (Object.keys(context).length === 0 ? {} : { context })

const SOURCES: readonly Source[] = [
  {
    name: 'stored on the user',
    root: 'user',
    ask: (one, action) => ({ user: `stored-${one.name}`, action, ...withContext(one) }),
  },
  {
    name: 'stored on the resource',
    root: 'resource',
    ask: (one, action) => ({ user: 'nobody', action, key: `stored-${one.name}`, ...withContext(one) }),
  },
  {
    name: 'sent of the user',
    root: 'user',
    ask: (one, action) => ({ user: 'nobody', action, ofUser: one.attributes, ...withContext(one) }),
  },
  {
    name: 'sent of the resource',
    root: 'resource',
    ask: (one, action) => ({ user: 'nobody', action, ofResource: one.attributes, ...withContext(one) }),
  },
  {
    name: 'in the context',
    root: 'context',
    ask: (one, action) => ({ user: 'nobody', action, context: { ...one.context, ...one.attributes } }),
  },
]

type Side = 'is' | 'not'

/** Of each case what is asked, and whether it is allowed. */
const ASKED = CASES.flatMap(one => sidesOf(one.value).map(side => ({ one, side })))
const EXPECTED = ASKED.map(({ one, side }) => [one.name, side, one.value !== 'unknown'])

function sidesOf(value: string): readonly Side[] {
  if (value === 'unknown') return ['is', 'not']
  return value === 'true' ? ['is'] : ['not']
}

const ROOTS = ['user', 'resource', 'context'] as const
const actionOf = (root: string, one: Case, side: Side) => `${root}-${one.name}-${side}`

const opaPort = await freePort()
const verdict = await sharedService({ opaPort })

beforeAll(async () => {
  const actions = ROOTS.flatMap(root => ASKED.map(({ one, side }) => [actionOf(root, one, side), {}]))
  await verdict.resource({ key: 'document', actions: Object.fromEntries(actions) })
  await made(`${SCHEMA}/condition_sets`, { key: 'anybody', name: 'Anybody' })
  await Promise.all(
    CASES.map(async one => {
      const { attributes } = one
      const key = `stored-${one.name}`
      await made(`${FACTS}/users`, { key, attributes })
      await made(`${FACTS}/resource_instances`, { resource: 'document', key, tenant: 'default', attributes })
    }),
  )
  // One after the other: each rests on the schema as it stands.
  for (const root of ROOTS) for (const { one, side } of ASKED) await newRule(root, one, side)
})

async function newRule(root: string, one: Case, side: Side): Promise<void> {
  const key = actionOf(root, one, side)
  const is = one.conditions(root)
  const isOfResource = root === 'resource'
  await made(`${SCHEMA}/condition_sets`, {
    key,
    name: key,
    type: isOfResource ? 'resourceset' : 'userset',
    conditions: side === 'is' ? is : { not: is },
  })
  await made(`${FACTS}/set_rules`, {
    user_set: isOfResource ? 'anybody' : key,
    permission: `document:${key}`,
    resource_set: isOfResource ? key : 'document',
  })
}

async function made(path: string, body: Json): Promise<void> {
  const answer = await verdict.post(path, body)
  expect(answer.status, `${path} ${JSON.stringify(body)}: ${JSON.stringify(answer.body)}`).toBe(200)
}

function native({ user, action, key, ofUser, ofResource, context }: Question): Json {
  return {
    user: { key: user, ...(ofUser && { attributes: ofUser }) },
    action,
    resource: { type: 'document', ...(key && { key }), ...(ofResource && { attributes: ofResource }) },
    ...(context && { context }),
  }
}

function authzen({ user, action, key, ofUser, ofResource, context }: Question): Json {
  return {
    subject: { type: 'user', id: user, ...(ofUser && { properties: ofUser }) },
    action: { name: action },
    resource: { type: 'document', ...(key && { id: key }), ...(ofResource && { properties: ofResource }) },
    ...(context && { context }),
  }
}

async function post<Body>(path: string, text: string, address = verdict.address): Promise<Body> {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const answer = await fetch(address + path, { method: 'POST', headers, body: text })
  const body = (await answer.json()) as Body
  expect(answer.status, JSON.stringify(body)).toBe(200)
  return body
}

/** Several at a time. */
async function oneByOne(
  questions: readonly Question[],
  ask: (one: Question) => Promise<boolean>,
): Promise<boolean[]> {
  const answers: boolean[] = []
  const AT_ONCE = 16
  for (let from = 0; from < questions.length; from += AT_ONCE) {
    answers.push(...(await Promise.all(questions.slice(from, from + AT_ONCE).map(ask))))
  }
  return answers
}

interface Allowed {
  readonly allow: boolean
}

async function bulkAnswers(text: string): Promise<boolean[]> {
  const body = await post<{ readonly allow: readonly Allowed[] }>('/allowed/bulk', text)
  return body.allow.map(({ allow }) => allow)
}

const PLACES: readonly {
  readonly place: string
  readonly answersTo: (questions: readonly Question[]) => Promise<boolean[]>
}[] = [
  ...['/allowed', '/allowed/explain'].map(place => ({
    place,
    answersTo: (questions: readonly Question[]) =>
      oneByOne(questions, async one => (await post<Allowed>(place, JSON.stringify(native(one)))).allow),
  })),
  {
    place: '/allowed/bulk, read from bytes',
    answersTo: questions => bulkAnswers(JSON.stringify(questions.map(native))),
  },
  {
    place: '/allowed/bulk, parsed',
    // No reader of bytes knows a field by a name with an escape.
    answersTo: questions =>
      bulkAnswers(JSON.stringify(questions.map(native)).replace('"user"', String.raw`"us\u0065r"`)),
  },
  {
    place: EVALUATION,
    answersTo: questions =>
      oneByOne(questions, async one => {
        const { decision } = await post<{ decision: boolean }>(EVALUATION, JSON.stringify(authzen(one)))
        return decision
      }),
  },
  {
    place: EVALUATIONS,
    answersTo: async questions => {
      const text = JSON.stringify({ evaluations: questions.map(authzen) })
      const body = await post<{ evaluations: { decision: boolean }[] }>(EVALUATIONS, text)
      return body.evaluations.map(({ decision }) => decision)
    },
  },
  {
    place: 'the listener of an Open Policy Agent',
    answersTo: questions =>
      oneByOne(questions, async one => {
        const text = JSON.stringify({ input: native(one) })
        const address = `http://127.0.0.1:${opaPort}`
        return (await post<{ result: Allowed }>('/v1/data/permit/root', text, address)).result.allow
      }),
  },
]

describe.each(PLACES)('$place', ({ answersTo }) => {
  test.each(SOURCES)('decides every vector with the attribute $name', async ({ root, ask }) => {
    const answers = await answersTo(ASKED.map(({ one, side }) => ask(one, actionOf(root, one, side))))
    expect(ASKED.map(({ one, side }, index) => [one.name, side, answers[index]])).toEqual(EXPECTED)
  })
})
