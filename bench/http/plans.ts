/**
 * Measures plans: their processor time relative to a single decision, to a page of a search and to a walk of
 * all pages, and the latency of single decisions during plans. Each response is verified before it is timed.
 */
import { ascending } from '#conditions/plan/formula.ts'
import type { AccessPlan } from '#filter/tree.ts'
import { type Burst, closedLoop, fixedRate, type WireRequest } from '../lib/load-generator.ts'
import { atMost, median } from '../lib/measure.ts'
import { API_KEY } from '../lib/prepared-store.ts'
import {
  ARTICLE_RULES,
  articleTest,
  PLANNERS,
  REPORTS_PER_PLANNER,
  reportKeys,
  sheetKeys,
} from '../data/planned-drive.ts'
import { singleRequests } from './drive-questions.ts'
import { percentilesOf } from './latency.ts'
import type { ServerProcess } from './server-process.ts'
import type { Stage } from './stage.ts'
import type { Result } from './throughput.ts'

const ROUNDS = 7
const SECONDS = 2
const WALKS = 5
/** Single decisions per second while another client requests plans. */
const SINGLES_PER_SECOND = 5_000
const CONNECTIONS = 64

const inDefault = (type: string) => ({ type, tenant: 'default' })
const asked = (user: string, type: string, parts: object = {}) =>
  JSON.stringify({ user: { key: user }, action: 'read', resource: inDefault(type), ...parts })

function equal(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** A plan whose filter must be this one. */
function planRequest(body: string, filter: unknown): WireRequest {
  return { path: '/allowed/plan', body, isRight: answer => equal((answer as AccessPlan).filter, filter) }
}

const byKeys = (keys: readonly (string | number)[]) => ({
  type: 'field',
  operator: 'in',
  field: 'key',
  value: ascending(keys),
})

/** Rules on 20 columns, and no list. The user has no roles. */
function columnPlan(): WireRequest {
  const tests = Array.from({ length: ARTICLE_RULES }, (_, index) => articleTest(index))
  const columns = { attributes: Object.fromEntries(tests.map(({ column }) => [column, { type: 'string' }])) }
  const value = tests.map(({ column, value: allowed }) => ({
    type: 'field',
    operator: 'eq',
    field: `attributes.${column}`,
    value: allowed,
  }))
  return planRequest(asked('planner-c', 'article', { columns, tenants_agree: true }), {
    type: 'compound',
    operator: 'or',
    value,
  })
}

/** The users alternate, because the service keeps the result of the last search. */
const rolePlans = () =>
  PLANNERS.map((planner, index) => planRequest(asked(planner, 'report'), byKeys(reportKeys(index))))

interface Found {
  readonly results: readonly { readonly id: string }[]
  readonly page: { readonly next_token: string }
}

const searchBody = (user: string, type: string, page: object) =>
  JSON.stringify({
    subject: { type: 'user', id: user },
    action: { name: 'read' },
    resource: { type, properties: { tenant: 'default' } },
    page,
  })

const roleSearches = (): WireRequest[] =>
  PLANNERS.map((planner, index) => ({
    path: '/access/v1/search/resource',
    body: searchBody(planner, 'report', { limit: REPORTS_PER_PLANNER }),
    isRight: answer => {
      const { results, page } = answer as Found
      return (
        page.next_token === '' && equal(ascending(results.map(({ id }) => id)), ascending(reportKeys(index)))
      )
    },
  }))

/** Processor seconds of the service per request. */
async function cpuPerRequest(service: ServerProcess, bursts: readonly Burst[]): Promise<number> {
  const before = service.cpuSeconds()
  const startedAt = performance.now()
  const { requestsPerSecond } = await closedLoop(service.address, bursts, {
    connections: 1,
    seconds: SECONDS,
  })
  const seconds = (performance.now() - startedAt) / 1_000
  return (service.cpuSeconds() - before) / (requestsPerSecond * seconds)
}

/** Ratios of the processor times of two kinds of requests, which alternate. */
async function cpuRatios(
  service: ServerProcess,
  one: readonly Burst[],
  other: readonly Burst[],
): Promise<{ readonly one: number[]; readonly other: number[]; readonly ratio: number }> {
  const times = { one: [] as number[], other: [] as number[] }
  for (let round = -1; round < ROUNDS; round++) {
    const cpu = { one: await cpuPerRequest(service, one), other: await cpuPerRequest(service, other) }
    if (round < 0) continue
    times.one.push(cpu.one)
    times.other.push(cpu.other)
  }
  return { ...times, ratio: median(times.one.map((cpu, round) => cpu / times.other[round]!)) }
}

async function post<Body>(address: string, path: string, body: string): Promise<Body> {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const response = await fetch(address + path, { method: 'POST', headers, body })
  if (response.status !== 200) throw new Error(`${path}: ${await response.text()}`)
  return (await response.json()) as Body
}

/** Processor time of a plan that scans all sheets, and of a walk of all pages of a search over them. */
async function scanRatio(service: ServerProcess): Promise<{ plan: number[]; walk: number[]; ratio: number }> {
  const expected = ascending(sheetKeys())
  const times = { plan: [] as number[], walk: [] as number[] }
  for (let round = -1; round < WALKS; round++) {
    let before = service.cpuSeconds()
    const plan = await post<AccessPlan>(service.address, '/allowed/plan', asked(PLANNERS[0], 'sheet'))
    if (!equal(plan.filter, byKeys(expected))) throw new Error('the plan of the sheets is wrong')
    const planned = service.cpuSeconds() - before
    before = service.cpuSeconds()
    const found: string[] = []
    for (let token: string | undefined; token !== '';) {
      const body = searchBody(PLANNERS[0], 'sheet', token === undefined ? { limit: 10_000 } : { token })
      const { results, page }: Found = await post<Found>(service.address, '/access/v1/search/resource', body)
      found.push(...results.map(({ id }) => id))
      token = page.next_token
    }
    if (!equal(ascending(found), expected)) throw new Error('the walk of the sheets is wrong')
    const walked = service.cpuSeconds() - before
    if (round < 0) continue
    times.plan.push(planned)
    times.walk.push(walked)
  }
  return { ...times, ratio: median(times.plan) / median(times.walk) }
}

/** p99 of single decisions, with and without a client that requests plans without a pause. */
async function latencies(
  { address }: ServerProcess,
  singles: readonly Burst[],
  plans: readonly Burst[],
): Promise<{ alone: number[]; during: number[]; ratio: number }> {
  const p99 = { alone: [] as number[], during: [] as number[] }
  const measured = async () => {
    const load = { connections: CONNECTIONS, seconds: SECONDS, burstsPerSecond: SINGLES_PER_SECOND }
    return percentilesOf(await fixedRate(address, singles, { ...load, isPolite: true })).p99
  }
  for (let round = 0; round < ROUNDS; round++) {
    p99.alone.push(await measured())
    const [during] = await Promise.all([
      measured(),
      closedLoop(address, plans, { connections: 1, seconds: SECONDS }),
    ])
    p99.during.push(during)
  }
  return { ...p99, ratio: median(p99.during) / median(p99.alone) }
}

export async function measurePlans(stage: Stage): Promise<Result> {
  const service = await stage.plannedService()
  service.pin('0,1')
  const bursts = (requests: readonly WireRequest[]) => stage.bursts(service.address, requests, 1)
  const singles = await bursts(singleRequests(stage.mixedQuestions.slice(0, 5_000)))
  const plans = await bursts(rolePlans())
  const columns = await cpuRatios(service, await bursts([columnPlan()]), singles)
  const roles = await cpuRatios(service, plans, await bursts(roleSearches()))
  const beside = await latencies(service, singles, plans)
  const scan = await scanRatio(service)
  return {
    figures: [
      atMost('plan with 20 rules on columns vs a single /allowed, processor time', columns.ratio, 25, '×'),
      atMost('plan with 10,000 ids by roles vs a search page of them, processor time', roles.ratio, 1.5, '×'),
      atMost('single /allowed beside these plans, p99 vs alone', beside.ratio, 1.5, '×'),
      atMost('scan of 100,000 instances vs all pages of a search, processor time', scan.ratio, 1.2, '×'),
    ],
    raw: { plans: { columns, roles, beside, scan } },
  }
}
