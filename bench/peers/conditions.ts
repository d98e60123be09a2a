/**
 * Compares the rules of W6 with Cerbos, which evaluates the same conditions in its policy language. The
 * checks and decisions are the same. Each server runs on one core, and the load generator on the other.
 * Cerbos does not store attributes, so each check to Cerbos includes them. This service is measured in two
 * ways: with stored attributes, and with attributes in the request.
 *
 * All checks are denied by roles, so that both products must evaluate conditions.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Attributes } from '../../src/model/change.ts'
import type { Query } from '../../src/model/decision.ts'
import { driveSchema } from '../../testing/data/dataset.ts'
import { RESOURCE_SETS, RuledDrive, RULES, USER_SETS } from '../data/ruled-drive.ts'
import { Oracle } from '../../testing/oracle/oracle.ts'
import { SERVER_CORE } from '../http/server-process.ts'
import type { Question } from '../http/drive-questions.ts'
import type { Stage } from '../http/stage.ts'
import type { Result } from '../http/throughput.ts'
import { closedLoop, prepare, type WireRequest } from '../lib/load-generator.ts'
import { atLeast, median } from '../lib/measure.ts'
import { PlainMaps } from '../lib/plain-maps.ts'
import { API_KEY } from '../lib/prepared-store.ts'
import { requireWrk, runWrk } from '../lib/wrk.ts'
import { startCerbos } from './cerbos.ts'
import { installPackages } from './packages.ts'

const SCALE = 0.01
/** Number of allowed checks. The number of denied checks is the same. */
const QUESTIONS = 500
/**
 * Number of resources of one principal in a batch. Cerbos accepts 50, but then sends chunked responses, which
 * the load generator cannot read.
 */
const BATCH = 20
const ROUNDS = 5
const SECONDS = 1
const CONNECTIONS = 64
const FACTOR_MIN = 20

export async function measureConditionPeers(stage: Stage): Promise<Result> {
  requireWrk()
  installPackages()
  const dataset = new RuledDrive('W6', SCALE)
  const judge = new Judge(dataset)
  const questions = questionsOf(dataset, judge)
  const batches = batchesOf(questions, judge)
  const directory = mkdtempSync(join(tmpdir(), 'verdict-cerbos-'))
  writeFileSync(join(directory, 'document.yaml'), policy())
  const cerbos = await startCerbos(directory, SERVER_CORE)
  const ours = await stage.ruledService(SCALE)
  const sides: readonly Side[] = [
    {
      name: 'Cerbos',
      address: cerbos.client.address,
      single: questions.map(question => cerbosRequest(dataset, [question])),
      batches: batches.map(batch => cerbosRequest(dataset, batch)),
    },
    {
      name: 'by keys',
      address: ours.address,
      single: questions.map(question => singleRequest(nativeCheck(question), question)),
      batches: batches.map(batch => bulkRequest(batch.map(nativeCheck), batch)),
    },
    {
      name: 'with attributes',
      address: ours.address,
      single: questions.map(question => singleRequest(withAttributes(dataset, question), question)),
      batches: batches.map(batch =>
        bulkRequest(
          batch.map(question => withAttributes(dataset, question)),
          batch,
        ),
      ),
    },
  ]
  try {
    const rounds = await ratesOf(sides)
    const ratio = (name: string, of: keyof Rates) =>
      median(rounds.map(round => round[name]![of] / round['Cerbos']![of]))
    const figures = ['by keys', 'with attributes'].flatMap(name => [
      atLeast(`single decisions by rules ${name}, against Cerbos`, ratio(name, 'single'), FACTOR_MIN, '×'),
      atLeast(`${BATCH} of one user ${name}, against Cerbos`, ratio(name, 'batches'), FACTOR_MIN, '×'),
    ])
    return { figures, raw: { rules: RULES.length, batch: BATCH, rounds } }
  } finally {
    await cerbos.stop()
    rmSync(directory, { recursive: true })
  }
}

interface Side {
  readonly name: string
  readonly address: string
  readonly single: readonly WireRequest[]
  readonly batches: readonly WireRequest[]
}

/** Decisions per second. */
interface Rates {
  readonly single: number
  readonly batches: number
}

/** Measures the sides in alternating rounds. Every response is verified before the first round. */
async function ratesOf(sides: readonly Side[]): Promise<Record<string, Rates>[]> {
  const asked = []
  for (const { name, address, single, batches } of sides) {
    const prepared = (requests: readonly WireRequest[]) =>
      prepare(address, requests, { apiKey: API_KEY, pipelining: 1 })
    asked.push({ name, address, single: await prepared(single), batches: await prepared(batches) })
  }
  const rounds: Record<string, Rates>[] = []
  for (let round = -1; round < ROUNDS; round++) {
    const rates: Record<string, Rates> = {}
    for (const { name, address, single, batches } of asked) {
      const load = { connections: CONNECTIONS, seconds: SECONDS }
      const { requestsPerSecond } = runWrk(address, single, load)
      const inBatches = await closedLoop(address, batches, { connections: 8, seconds: SECONDS })
      rates[name] = { single: requestsPerSecond, batches: inBatches.requestsPerSecond * BATCH }
    }
    // The result of the first round is dropped, because its purpose is to warm up the servers.
    if (round >= 0) rounds.push(rates)
  }
  return rounds
}

/**
 * Finds checks that roles deny, with the decisions that rules make about them. For each check, an oracle
 * contains the schema and the user and document of the check.
 */
class Judge {
  readonly #bare = new PlainMaps()
  readonly #ruled = new Oracle()
  readonly #dataset: RuledDrive

  constructor(dataset: RuledDrive) {
    this.#dataset = dataset
    this.#bare.apply(dataset.drive.things())
    this.#bare.apply(dataset.facts())
    this.#ruled.apply(driveSchema())
    this.#ruled.apply(dataset.rules())
  }

  /** Returns at most `max` of the checks that roles deny. */
  leftToRules(queries: readonly Query[], max = queries.length): Question[] {
    return queries
      .filter(query => !this.#bare.evaluate(query))
      .slice(0, max)
      .map(query => ({ query: { ...query, tenant: 'default' }, isAllowed: this.#isRuled(query) }))
  }

  #isRuled(query: Query): boolean {
    const { user } = query
    const instance = { type: query.type, key: query.key! }
    const attributes = this.#dataset.ofDocument(instance.key)
    this.#ruled.apply([
      { kind: 'user-put', user, attributes: this.#dataset.ofUser(user) },
      { kind: 'instance-put', instance, tenant: 'default', attributes },
    ])
    const isAllowed = this.#ruled.evaluate(query)
    this.#ruled.apply([
      { kind: 'user-removed', user },
      { kind: 'instance-removed', instance },
    ])
    return isAllowed
  }
}

/** Returns checks whose decisions depend on rules. A rule allows half of them. */
function questionsOf(dataset: RuledDrive, judge: Judge): Question[] {
  const judged = judge.leftToRules(dataset.candidates(QUESTIONS * 40, 'denied'))
  const [allowed, denied] = [true, false].map(kind =>
    judged.filter(({ isAllowed }) => isAllowed === kind).slice(0, QUESTIONS),
  )
  if (allowed!.length < QUESTIONS || denied!.length < QUESTIONS) throw new Error('too few questions')
  return allowed!.flatMap((question, index) => [question, denied![index]!])
}

/**
 * Returns one batch per `BATCH` checks. A batch contains consecutive checks, all with the user of the first
 * check.
 */
function batchesOf(questions: readonly Question[], judge: Judge): Question[][] {
  return Array.from({ length: questions.length / BATCH }, (_, index) => {
    const turned = [...questions.slice(index * BATCH), ...questions.slice(0, index * BATCH)]
    const { user } = turned[0]!.query
    return judge.leftToRules(
      turned.map(({ query }) => ({ ...query, user })),
      BATCH,
    )
  })
}

function nativeCheck({ query: { user, action, type, key, tenant } }: Question): object {
  return { user: { key: user }, action, resource: { type, key, tenant } }
}

/**
 * Adds attributes to a check. The document is not stored, so the attributes in the request determine the
 * decision.
 */
function withAttributes(
  dataset: RuledDrive,
  { query: { user, action, type, key, tenant } }: Question,
): object {
  return {
    user: { key: user, attributes: dataset.ofUser(user) },
    action,
    resource: { type, key: `new-${key}`, tenant, attributes: dataset.ofDocument(key!) },
  }
}

function singleRequest(body: object, { isAllowed }: Question): WireRequest {
  return {
    path: '/allowed',
    body: JSON.stringify(body),
    isRight: answer => (answer as { allow?: unknown }).allow === isAllowed,
  }
}

function bulkRequest(body: readonly object[], questions: readonly Question[]): WireRequest {
  return {
    path: '/allowed/bulk',
    body: JSON.stringify(body),
    isRight: answer =>
      (answer as { allow: { allow: boolean }[] }).allow.every(
        ({ allow }, index) => allow === questions[index]!.isAllowed,
      ),
  }
}

/** Creates a request for Cerbos. All checks must be about the same user. */
function cerbosRequest(dataset: RuledDrive, questions: readonly Question[]): WireRequest {
  const { user } = questions[0]!.query
  return {
    path: '/api/check/resources',
    body: JSON.stringify({
      principal: { id: user, roles: ['user'], attr: dataset.ofUser(user) },
      resources: questions.map(({ query: { action, type, key } }) => ({
        actions: [action],
        resource: { kind: type, id: key, attr: dataset.ofDocument(key!) },
      })),
    }),
    isRight: answer =>
      (answer as { results: { actions: Record<string, string> }[] }).results.every(({ actions }, index) => {
        const { query, isAllowed } = questions[index]!
        return (actions[query.action] === 'EFFECT_ALLOW') === isAllowed
      }),
  }
}

function policy(): string {
  const rules = RULES.map(({ userSet, action, resourceSet }) => {
    const exprs = [USER_SETS.get(userSet)!, RESOURCE_SETS.get(resourceSet)!].map(celOf)
    return {
      actions: [action],
      effect: 'EFFECT_ALLOW',
      roles: ['user'],
      condition: { match: { all: { of: exprs.map(expr => ({ expr })) } } },
    }
  })
  // Every JSON text is valid YAML, so the policies are written as JSON.
  return JSON.stringify({
    apiVersion: 'api.cerbos.dev/v1',
    resourcePolicy: { resource: 'document', version: 'default', rules },
  })
}

const COMPARISONS: Readonly<Record<string, string>> = {
  equals: '==',
  'less-than': '<',
  'less-than-equals': '<=',
  'greater-than-equals': '>=',
  in: 'in',
}

/** Converts the conditions of the sets of W6 to a CEL expression. */
function celOf(conditions: Readonly<Record<string, unknown>>): string {
  const members = Object.entries(conditions).map(([name, value]) => {
    if (name === 'allOf') return (value as Record<string, unknown>[]).map(celOf).join(' && ')
    const [operator, operand] = Object.entries(value as Attributes)[0]!
    const path = celPath(name)
    if (operator === 'array_contains') return `${JSON.stringify(operand)} in ${path}`
    if (operator === 'between') {
      const [low, high] = operand as [number, number]
      return `${path} >= ${low}.0 && ${path} <= ${high}.0`
    }
    const comparison = COMPARISONS[operator]
    if (comparison === undefined) throw new Error(`no CEL for ${operator}`)
    return `${path} ${comparison} ${celOperand(operand)}`
  })
  return members.join(' && ')
}

function celOperand(operand: unknown): string {
  if (typeof operand === 'number') return `${operand}.0`
  if (operand !== null && typeof operand === 'object' && 'ref' in operand) return celPath(String(operand.ref))
  return JSON.stringify(operand)
}

function celPath(path: string): string {
  if (path === 'user.key') return 'P.id'
  return path.replace(/^user\./, 'P.attr.').replace(/^resource\./, 'R.attr.')
}
