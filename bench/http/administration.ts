/**
 * Measures the cost of sign-in, sessions and claimed actors. Several services share one core, and one client
 * on the other core sends the same requests to them alternately. Every decision is verified before the
 * measurement.
 *
 *     npm run bench -- administration [CHECKOUT to compare with [starts = 3]]
 *
 * The figures are ratios of the processor time of the service per request, which other load on the machine
 * hardly changes:
 * - Single checks and bulks of 1,000 with a key of level `decide`, in a service with sign-in and 10,000
 *   sessions. They are compared with a service without sign-in, and with the checkout if one is named.
 * - The same requests with `X-Actor`, compared with those without it. The decision log contains both.
 * - Reads and changes of users in a session, compared with those with a key.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { csrfTokenOf } from '#http/message/csrf-token.ts'
import { ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'
import { valueOfSession } from '#model/sign-in/session-cookies.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'
import { RowLoader } from '#testing/processes/row-loader.ts'
import {
  closedLoop,
  encode,
  inTurnsOfCallers,
  LoadClient,
  prepare,
  type WireRequest,
} from '../lib/load-generator.ts'
import { atLeast, type Figure, median, publish } from '../lib/measure.ts'
import { SESSION_COOKIE, sessionRows, sessionSecret, SIGN_IN } from '../lib/session-rows.ts'
import { bulkRequests, singleRequests } from './drive-questions.ts'
import { ServerProcess } from './server-process.ts'
import { Stage } from './stage.ts'

/** Number of times that all services are started: the speed of a process varies from start to start. */
const STARTS = Number(process.argv[3] ?? 3)
const ROUNDS = 8
const SECONDS = 0.6
const DECISIONS_MIN = 0.98
const CLAIMS_MIN = 0.95
const MANAGEMENT_MIN = 0.9
const API_KEY = 'bench-key-bench-key'
/** Has the same reach as the sessions, whose grants are on the organization. */
const ADMIN_KEY = 'organization-key-of-the-bench'
const USERS = '/v2/facts/default/default/users'
const CALLERS = 8

const checkout = process.argv[2]
/** The sources of each checkout, whether it is built or not. */
const SOURCES = { VERDICT_FORM: 'sources' }
const stage = new Stage(Number(process.env['BENCH_SCALE'] ?? 0.05))
const questions = stage.mixedQuestions
const singles = singleRequests(questions.slice(0, 2_000))
const bulks = bulkRequests(questions, 1_000, 40)
const LOADS = [
  { name: 'single checks', requests: singles, pipelining: 10, connections: 8 },
  { name: 'bulks of 1,000', requests: bulks, pipelining: 1, connections: 8 },
] as const

/** Processor time that the services need for two kinds of requests. */
class Comparison {
  /** For each start: time of the other requests, divided by the time of the first ones. */
  readonly ratios: number[] = []
  readonly microseconds: { readonly one: number; readonly other: number }[] = []

  add(one: Cost, other: Cost): void {
    const [first, second] = [one, other].map(({ seconds, requests }) => (1e6 * seconds) / requests)
    this.microseconds.push({ one: first!, other: second! })
    this.ratios.push(second! / first!)
  }

  figure(name: string, min: number): Figure {
    return atLeast(name, median(this.ratios), min, '')
  }
}

interface Cost {
  /** Processor time of all threads of the service. */
  seconds: number
  requests: number
}

interface Run {
  readonly server: ServerProcess
  /** Returns the number of requests. */
  readonly send: () => Promise<number>
}

/** Compares the first run with each of the others. The order differs in each round. */
async function compare(runs: readonly Run[], comparisons: readonly Comparison[]): Promise<void> {
  for (const { send } of runs) await send()
  const costs = runs.map((): Cost => ({ seconds: 0, requests: 0 }))
  for (let round = 0; round < ROUNDS; round += 1) {
    const order = runs.map((_, index) => (index + round) % runs.length)
    for (const index of round % 2 === 0 ? order : order.toReversed()) {
      const { server, send } = runs[index]!
      const before = server.cpuSeconds()
      costs[index]!.requests += await send()
      costs[index]!.seconds += server.cpuSeconds() - before
    }
  }
  for (const [index, comparison] of comparisons.entries()) comparison.add(costs[0]!, costs[index + 1]!)
}

async function decisionsOf(
  server: ServerProcess,
  { requests, pipelining, connections }: Omit<(typeof LOADS)[number], 'name'>,
): Promise<Run> {
  const bursts = await stage.bursts(server.address, requests, pipelining)
  const load = { connections, seconds: SECONDS }
  return { server, send: async () => (await closedLoop(server.address, bursts, load)).requests }
}

const withHeader = (requests: readonly WireRequest[], headers: Readonly<Record<string, string>>) =>
  requests.map(request => ({
    ...request,
    headers: { Authorization: `Bearer ${API_KEY}`, ...headers },
  }))

/** Decisions with sign-in, without it, and in the other checkout. */
async function measureDecisions(): Promise<readonly Figure[]> {
  const others = checkout === undefined ? ['without sign-in'] : ['without sign-in', 'of the checkout']
  const measured = LOADS.map(load => ({ load, comparisons: others.map(() => new Comparison()) }))
  for (let start = 0; start < STARTS; start += 1) {
    const services = [
      await stage.serviceWithSessions(SOURCES),
      await stage.service('plain', SOURCES),
      ...(checkout === undefined ? [] : [await stage.serviceIn(resolve(checkout), SOURCES)]),
    ]
    for (const { load, comparisons } of measured) {
      const runs = []
      for (const server of services) runs.push(await decisionsOf(server, load))
      await compare(runs, comparisons)
    }
    await stage.close()
  }
  raw['decisions'] = measured.map(({ comparisons }) => comparisons.map(({ microseconds }) => microseconds))
  return measured.flatMap(({ load, comparisons }) =>
    comparisons.map((comparison, index) =>
      comparison.figure(`${load.name} with 10,000 sessions, vs those ${others[index]}`, DECISIONS_MIN),
    ),
  )
}

/** Decisions with and without `X-Actor`, with a decision log. */
async function measureClaims(): Promise<readonly Figure[]> {
  const measured = LOADS.map(load => ({ load, comparison: new Comparison() }))
  for (let start = 0; start < STARTS; start += 1) {
    const server = await stage.service('log', { DECISION_LOG: '/dev/null', ...SOURCES })
    for (const { load, comparison } of measured) {
      const claims = { ...load, requests: withHeader(load.requests, { 'X-Actor': 'agent-7' }) }
      await compare([await decisionsOf(server, claims), await decisionsOf(server, load)], [comparison])
    }
    await stage.close()
  }
  raw['claims'] = measured.map(({ comparison }) => comparison.microseconds)
  return measured.map(({ load, comparison }) =>
    comparison.figure(`${load.name} with X-Actor and DECISION_LOG, vs those without X-Actor`, CLAIMS_MIN),
  )
}

/** A service with a store on disk that has the members and sessions, and 1,000 users. */
async function managedService(directory: string): Promise<ServerProcess> {
  const storeUrl = `lmdb:${directory}`
  const env = {
    API_KEY,
    ADMIN_API_KEY: ADMIN_KEY,
    PORT: '0',
    LOG_LEVEL: 'warn',
    HTTP_THREADS: '1',
    STORE_URL: storeUrl,
    ...SIGN_IN,
  }
  const start = () => ServerProcess.start(new URL('../../src/start.js', import.meta.url), { env })
  await (await start()).stop()
  const store = await openStore(storeUrl, listRule)
  const loader = new RowLoader((await store.environment(ORGANIZATION_STORE_ID)).ledger)
  const { members, sessions } = sessionRows()
  for (const row of [...members, ...sessions]) await loader.add(row)
  await loader.flush()
  await store.close()
  const server = await start()
  const caller = await LoadClient.open(server.address)
  for (let user = 0; user < 1_000; user += 1) {
    await caller.done(encode({ path: USERS, body: JSON.stringify({ key: `user-${user}` }) }, API_KEY))
  }
  caller.close()
  return server
}

/** Headers of a session. The requests use 1,000 sessions alternately. */
function ofSession(index: number): Record<string, string> {
  const secret = sessionSecret(index % 1_000)
  const cookie = valueOfSession({ secret, begun: { epoch: 'bench', sequence: 1 } })
  return { Cookie: `${SESSION_COOKIE}=${cookie}`, 'X-CSRF-Token': csrfTokenOf(secret) }
}

async function measureManagement(): Promise<readonly Figure[]> {
  const [reads, changes] = [new Comparison(), new Comparison()]
  const byKey = (index: number): WireRequest => ({
    method: 'GET',
    path: `${USERS}/user-${index}`,
    body: '',
    isRight: answer => (answer as { key?: unknown }).key === `user-${index}`,
  })
  const inSession = (index: number): WireRequest => ({ ...byKey(index), headers: ofSession(index) })
  const each = Array.from({ length: 1_000 }, (_, index) => index)
  for (let start = 0; start < STARTS; start += 1) {
    const directory = mkdtempSync(join(tmpdir(), 'verdict-bench-'))
    const server = await managedService(directory)
    const { address } = server
    const reading = async (requests: readonly WireRequest[]): Promise<Run> => {
      const bursts = await prepare(address, requests, { apiKey: ADMIN_KEY, pipelining: 1 })
      const load = { connections: CALLERS, seconds: SECONDS }
      return { server, send: async () => (await closedLoop(address, bursts, load)).requests }
    }
    await compare([await reading(each.map(inSession)), await reading(each.map(byKey))], [reads])
    let count = 0
    const changing = (headersOf: (index: number) => Readonly<Record<string, string>> | null): Run => {
      const next = () => {
        count += 1
        const headers = headersOf(count)
        const body = JSON.stringify({ first_name: `name ${count}` })
        const path = `${USERS}/user-${count % 1_000}`
        return encode({ method: 'PATCH', path, body, ...(headers && { headers }) }, ADMIN_KEY)
      }
      const load = { callers: CALLERS, seconds: SECONDS }
      return { server, send: async () => (await inTurnsOfCallers(address, next, load)).ms.length }
    }
    await compare([changing(ofSession), changing(() => null)], [changes])
    await server.stop()
    rmSync(directory, { recursive: true, force: true })
  }
  raw['management'] = { reads: reads.microseconds, changes: changes.microseconds }
  return [
    reads.figure('reads of a user in a session, vs those with a key', MANAGEMENT_MIN),
    changes.figure('changes of a user in a session, vs those with a key', MANAGEMENT_MIN),
  ]
}

const raw: Record<string, unknown> = { dataset: stage.dataset }
const figures: Figure[] = []
try {
  for (const measure of [measureDecisions, measureClaims, measureManagement])
    figures.push(...(await measure()))
} finally {
  await stage.close()
}
publish('administration', figures, raw)
