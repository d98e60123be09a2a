/**
 * Measures single decisions during 2,000 changes per second to the same service. The complete service runs on
 * an embedded store. For comparison, single requests to the baseline server are measured while the service
 * receives the same changes.
 */
import { encode, fixedRate, paced, prepare } from '../lib/load-generator.ts'
import { atMost } from '../lib/measure.ts'
import { API_KEY, preparedStore } from '../lib/prepared-store.ts'
import { Drive } from '../data/drive.ts'
import { driveQuestions, mixed, type Question, singleRequests } from './drive-questions.ts'
import { type Percentiles, percentilesOf } from './latency.ts'
import { ServerProcess } from './server-process.ts'
import type { Stage } from './stage.ts'
import type { Result } from './throughput.ts'

/**
 * A tenth of W1, because filling a store on disk with all of W1 takes longer than all other benches together.
 */
const SCALE = 0.1
const SINGLES_PER_SECOND = 5_000
const CHANGES_PER_SECOND = 2_000
const SECONDS = 4
const ROUNDS = 3

interface Round extends Percentiles {
  readonly changesPerSecond: number
  /** Utilization of both cores by the service, the baseline server and the load generator together. */
  readonly load: number
}

export async function measureWithWrites(stage: Stage): Promise<Result> {
  const drive = new Drive('W1 tenth', SCALE)
  const url = await preparedStore(drive)
  const service = await ServerProcess.start(new URL('../../src/start.js', import.meta.url), {
    env: { PORT: '0', STORE_URL: url, API_KEY, HTTP_THREADS: '1', POOL_THREADS: '1', LOG_LEVEL: 'warn' },
    cores: '0,1',
  })
  try {
    const floor = await stage.floor()
    const questions = mixed(driveQuestions(drive, 2_000))
    const singles = singleRequests(questions)
    const options = { apiKey: API_KEY, pipelining: 1 }
    const unjudged = singles.map(request => ({ ...request, isRight: () => true }))
    const bursts = {
      service: await prepare(service.address, singles, options),
      floor: await prepare(floor.address, unjudged, options),
    }
    const changes = changesOf(drive, questions)
    const rounds: Record<'service' | 'floor', Round[]> = { service: [], floor: [] }
    for (let round = -1; round < ROUNDS; round++) {
      for (const name of ['service', 'floor'] as const) {
        const { address } = name === 'service' ? service : floor
        const cpuBefore = cpuSeconds(service, floor)
        const startedAt = performance.now()
        let isOver = false
        const changing = paced(service.address, changes, {
          connections: 16,
          perSecond: CHANGES_PER_SECOND,
          isOver: () => isOver,
        })
        const latencies = await fixedRate(address, bursts[name], {
          connections: 8,
          seconds: SECONDS,
          burstsPerSecond: SINGLES_PER_SECOND,
          isPolite: true,
        })
        isOver = true
        const changesPerSecond = await changing
        const seconds = (performance.now() - startedAt) / 1_000
        const load = (cpuSeconds(service, floor) - cpuBefore) / seconds / 2
        if (round >= 0) rounds[name].push({ ...percentilesOf(latencies), changesPerSecond, load })
      }
    }
    const p99 = (of: readonly Round[]) => of.map(one => one.p99).toSorted((a, b) => a - b)[ROUNDS >> 1]!
    const ratio = p99(rounds.service) / p99(rounds.floor)
    return {
      figures: [atMost('single /allowed beside 2,000 changes/s, p99 vs floor', ratio, 3, '×')],
      raw: { dataset: `W1 × ${SCALE}, on an embedded store`, withWrites: rounds },
    }
  } finally {
    await service.stop()
  }
}

function cpuSeconds(...servers: readonly ServerProcess[]): number {
  const own = process.cpuUsage()
  const others = servers.reduce((sum, server) => sum + server.cpuSeconds(), 0)
  return others + (own.user + own.system) / 1e6
}

/**
 * Assigns and unassigns the role of owner on a folder. 16 callers do this alternately. In the drive, no user
 * has this role, and the changed users are not checked, so no decision changes.
 */
function changesOf(drive: Drive, questions: readonly Question[]): () => Buffer {
  const asked = new Set(questions.map(({ query }) => query.user))
  const users = Array.from({ length: drive.users }, (_, user) => `user-${user}`).filter(
    key => !asked.has(key),
  )
  let count = 0
  return () => {
    const pair = count >> 5
    const caller = count & 15
    const isGiven = (count & 16) === 0
    count++
    const place = pair * 16 + caller
    const body = JSON.stringify({
      user: users[place % users.length],
      role: 'owner',
      tenant: 'default',
      resource_instance: `folder:folder-${place % drive.folders}`,
    })
    const method = isGiven ? 'POST' : 'DELETE'
    return encode({ method, path: '/v2/facts/default/default/role_assignments', body }, API_KEY)
  }
}
