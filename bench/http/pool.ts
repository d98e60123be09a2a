/**
 * Measures bulks of 10,000 checks, from four callers and from a single caller. An HTTP thread with one pool
 * thread on two cores is compared with an HTTP thread alone on one core.
 */
import { closedLoop } from '../lib/load-generator.ts'
import { atLeast, type Figure, median } from '../lib/measure.ts'
import { bulkRequests } from './drive-questions.ts'
import { SERVER_CORE } from './server-process.ts'
import type { Stage } from './stage.ts'
import type { Result } from './throughput.ts'

const LOADS: readonly Load[] = [
  { name: '2000', size: 2_000, connections: 4, rounds: 3 },
  { name: '4000', size: 4_000, connections: 4, rounds: 3 },
  {
    name: '10000',
    size: 10_000,
    connections: 4,
    rounds: 5,
    bar: { figure: 'bulk of 10,000, one pool thread on two cores vs one core', min: 1.5 },
  },
  {
    name: '10000, one caller',
    size: 10_000,
    connections: 1,
    rounds: 5,
    bar: { figure: 'the same from one caller, one bulk after the other', min: 1 },
  },
]

interface Load {
  readonly name: string
  readonly size: number
  readonly connections: number
  readonly rounds: number
  readonly bar?: { readonly figure: string; readonly min: number }
}

export async function measurePool(stage: Stage): Promise<Result> {
  const alone = await stage.service('one core')
  const pooled = await stage.service('two cores', { POOL_THREADS: '1' })
  pooled.pin(`${SERVER_CORE},1`)
  const raw: Record<string, unknown> = {}
  const figures: Figure[] = []
  for (const { name, size, connections, rounds, bar } of LOADS) {
    const requests = bulkRequests(stage.mixedQuestions, size, Math.floor(80_000 / size))
    const [onOne, onTwo] = [
      await stage.bursts(alone.address, requests, 1),
      await stage.bursts(pooled.address, requests, 1),
    ]
    const times: { alone: number[]; pooled: number[] } = { alone: [], pooled: [] }
    for (let round = -1; round < rounds; round++) {
      const options = { connections, seconds: 1 }
      const one = (await closedLoop(alone.address, onOne, options)).requestsPerSecond
      const two = (await closedLoop(pooled.address, onTwo, options)).requestsPerSecond
      if (round < 0) continue
      times.alone.push(one)
      times.pooled.push(two)
    }
    const ratio = median(times.pooled.map((rate, index) => rate / times.alone[index]!))
    raw[name] = { ...times, ratio }
    if (bar) figures.push(atLeast(bar.figure, ratio, bar.min, '×'))
  }
  return { figures, raw: { pool: raw } }
}
