/**
 * Deletes entities on which very many others depend, in a service that runs as in production. Measures when
 * the response arrives and when decisions reflect the deletion, how long the purge of the dependents blocks
 * the writer thread, and how it affects concurrent writes. Also kills the service during the purge, and
 * verifies that nothing is lost and that the next start completes the purge.
 *
 *     node bench/management/deletions.ts \
 *       tenant|type|role|relation|user|ruled-type|ruled-set [dependants, default 200000]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listRule } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'
import { RowLoader } from '#testing/processes/row-loader.ts'
import { StoreLook } from '#testing/processes/store-look.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'
import { atLeast, atMost, percentile, publish, round, timeMs } from '../lib/measure.ts'
import { TARGETS } from './deletion-targets.ts'
import type { Watched } from './main-thread-watch.ts'

const kind = process.argv[2] ?? 'tenant'
const dependants = Number(process.argv[3] ?? 200_000)
const target = TARGETS[kind]
if (!target) throw new Error(`expected one of ${Object.keys(TARGETS).join(', ')}, not ${kind}`)
const API_KEY = 'a-key-for-the-bench-alone'
const PIECE_MS_MAX = 5
const HELD_MS_MAX = 50
const PURE_PIECE_MS = 1.5
const START = fileURLToPath(new URL('../../src/start.js', import.meta.url))
const WATCH = new URL('main-thread-watch.ts', import.meta.url).href
const directory = mkdtempSync(join(tmpdir(), 'verdict-bench-'))
const storeUrl = `lmdb:${directory}/data`
/** Pause in milliseconds between two writes. */
const PAUSE_MS = 20

async function startService(): Promise<ServiceProcess> {
  // The service runs from its sources, because `main-thread-watch.ts` instruments single modules. In the
  // built form, they are bundled.
  const watchedForm = { VERDICT_FORM: 'sources', NODE_OPTIONS: `--import=${WATCH}` }
  const env = { API_KEY, STORE_URL: storeUrl, HTTP_THREADS: '1', ...watchedForm }
  const command = [process.execPath, '--disable-warning=ExperimentalWarning', START] as const
  const service = new ServiceProcess({ cwd: directory, env, command })
  await service.address()
  return service
}

async function isAllowed(service: ServiceProcess): Promise<boolean> {
  const { user, resource, tenant } = target!.question
  const body = { user: { key: user }, action: 'read', resource: { type: 'doc', key: resource, tenant } }
  return (await service.call<{ readonly allow: boolean }>('POST', '/allowed', body)).allow
}

/**
 * Requests decisions on data that the deletion does not affect, one after the other, until `isOver` returns
 * true. Returns the duration of each request.
 */
async function decideMeanwhile(service: ServiceProcess, isOver: () => boolean): Promise<number[]> {
  const body = { user: { key: 'bystander' }, action: 'read', resource: { type: 'folder', tenant: 'home' } }
  const taken: number[] = []
  while (!isOver()) {
    const from = performance.now()
    const { allow } = await service.call<{ readonly allow: boolean }>('POST', '/allowed', body)
    taken.push(performance.now() - from)
    claim(allow, 'another is allowed what he was')
    await new Promise(resolve => setTimeout(resolve, 1))
  }
  return taken
}

/** Returns the report about the main thread since the last call. */
async function watched(service: ServiceProcess): Promise<Watched> {
  service.stdout = ''
  process.kill(service.pid, 'SIGUSR2')
  return JSON.parse((await service.stdoutMatch(/watched (.*)\n/))[1]!)
}

/** Makes small writes, one after the other, until `isOver` returns true. Returns their durations. */
async function writeMeanwhile(
  service: ServiceProcess,
  name: string,
  isOver: () => boolean,
): Promise<number[]> {
  const taken: number[] = []
  while (!isOver()) {
    const from = performance.now()
    await service.call('POST', facts('users'), { key: `${name}${taken.length}` })
    taken.push(performance.now() - from)
    await new Promise(resolve => setTimeout(resolve, PAUSE_MS))
  }
  return taken
}

/**
 * Measures chunks of pure computation. Each takes as long as a chunk of a purge should take. The results show
 * which delays the machine itself adds.
 */
function piecesOfPureWork(): number[] {
  const count = (rounds: number) =>
    timeMs(() => {
      for (let sum = 0, n = 0; n < rounds; n++) sum += Math.sqrt(sum + n)
    })
  count(1_000_000)
  const rounds = Math.round(
    (1_000_000 * PURE_PIECE_MS) / Math.min(...Array.from({ length: 20 }, () => count(1_000_000))),
  )
  return Array.from({ length: 2_000 }, () => count(rounds))
}

function facts(rest: string): string {
  return `/v2/facts/default/default/${rest}`
}

async function prepare(): Promise<string> {
  const first = await startService()
  const scope = await first.call<{ readonly environment_id: string }>('GET', '/v2/api-key/scope')
  await first.end('SIGTERM')
  const store = await openStore(storeUrl, listRule)
  const { ledger } = await store.environment(scope.environment_id)
  await target!.load(new RowLoader(ledger), dependants)
  await store.close()
  return scope.environment_id
}

function claim(holds: boolean, what: string): void {
  if (!holds) throw new Error(`${kind}: ${what}`)
}

const environmentId = await prepare()
const look = new StoreLook(`${directory}/data`, environmentId)
const countFacts = () => look.count('instance', 'assignment', 'tuple', 'rule')
const before = countFacts()
const service = await startService()
claim(await isAllowed(service), 'allowed before')
let calls = 0
const idle = await writeMeanwhile(service, 'idle', () => ++calls > 50)
await watched(service)

const floor = piecesOfPureWork()
let isPurging = true
const others = decideMeanwhile(service, () => !isPurging)
const { area, rest } = target.path
const from = performance.now()
await service.call('DELETE', area === 'facts' ? facts(rest) : `/v2/schema/default/default/${rest}`)
const answeredMs = performance.now() - from
claim(!(await isAllowed(service)), 'denied with the answer')
claim(look.count('purge') === 1, 'something is left to purge')

// While the first third is purged, there are no other writes. While the second third is purged, a writer is
// active. Then the process is killed.
const [deletedAt, factsAtFirst] = [performance.now(), countFacts()]
await look.until(() => countFacts() <= before - dependants / 3)
const alone = await watched(service)
isPurging = false
const decided = await others
const rowsPerSecond = ((factsAtFirst - countFacts()) / (performance.now() - deletedAt)) * 1_000
const busy = await writeMeanwhile(service, 'busy', () => countFacts() <= before - (2 * dependants) / 3)
const accompanied = await watched(service)
await service.end('SIGKILL')
await look.replay()
const left = countFacts() - (before - dependants)
claim(look.count('purge') === 1 && left > 0, `killed in the middle, with ${left} rows left`)

const next = await startService()
claim(!(await isAllowed(next)), 'denied after the kill')
await look.until(() => look.count('purge') === 0)
claim(!(await isAllowed(next)), 'denied when all is purged')
const kept = await next.call<{ readonly total_count: number }>('GET', facts('users?search=busy'))
claim(kept.total_count === busy.length, `${kept.total_count} of ${busy.length} users were kept`)
const remaining = countFacts()
claim(remaining <= before - dependants, `${remaining} of ${before} facts remain`)
await look.close()
await next.end('SIGTERM')
rmSync(directory, { recursive: true })

publish(
  `management-deletion-${kind}`,
  [
    {
      figure: 'the machine alone: pieces of counting, p99.9 and max',
      bar: '',
      reached: `${round(percentile(floor, 0.999))} and ${round(Math.max(...floor))} ms`,
      isMet: true,
    },
    atMost(`${kind}: answered after`, answeredMs, 50, 'ms'),
    atMost('the main thread on the processor between two turns, max', alone.loop.ranMax, HELD_MS_MAX, 'ms'),
    atMost('with waiting for a core, max', alone.loop.max, HELD_MS_MAX, 'ms'),
    atMost('decisions of others meanwhile, p99', percentile(decided, 0.99), HELD_MS_MAX, 'ms'),
    atMost('decisions of others meanwhile, the slowest', Math.max(...decided), HELD_MS_MAX, 'ms'),
    atMost('a piece on the processor while nobody writes, p99.9', alone.writes!.ran.p999, PIECE_MS_MAX, 'ms'),
    atMost('a piece on the processor while nobody writes, max', alone.writes!.ran.max, PIECE_MS_MAX, 'ms'),
    atMost(
      'a piece on the processor while somebody writes, p99.9',
      accompanied.writes!.ran.p999,
      PIECE_MS_MAX,
      'ms',
    ),
    atMost(
      'a piece on the processor while somebody writes, max',
      accompanied.writes!.ran.max,
      PIECE_MS_MAX,
      'ms',
    ),
    atMost('with waiting for a core, nobody writes, p99', alone.pieces!.p99, PIECE_MS_MAX, 'ms'),
    atMost('with waiting for a core, somebody writes, p99', accompanied.pieces!.p99, PIECE_MS_MAX, 'ms'),
    atLeast('purged while nobody writes', rowsPerSecond, 10_000, 'rows/s'),
    atMost('a write during the purge, p50', percentile(busy, 0.5), percentile(idle, 0.5) + 10, 'ms'),
    atMost('a write during the purge, p99', percentile(busy, 0.99), percentile(idle, 0.99) + 20, 'ms'),
  ],
  {
    dataset: `${dependants} dependants of a ${kind}; see deletion-targets.ts`,
    pureWork: { p50: percentile(floor, 0.5), p99: percentile(floor, 0.99), max: Math.max(...floor) },
    alone,
    accompanied,
    decided,
    killedWithRowsLeft: left,
    idle,
    busy,
  },
)
