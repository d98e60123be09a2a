/** Bulks of 10,000: the HTTP thread with one pool thread on two cores against the HTTP thread alone on one. */
import { closedLoop } from '../lib/load-generator.ts'
import { atLeast, median } from '../lib/measure.ts'
import { bulkRequests } from './drive-questions.ts'
import { SERVER_CORE } from './server-process.ts'
import type { Stage } from './stage.ts'
import type { Result } from './throughput.ts'

const ROUNDS = 5
const SIZES = [2_000, 4_000, 10_000]

export async function measurePool(stage: Stage): Promise<Result> {
  const alone = await stage.service('one core')
  const pooled = await stage.service('two cores', { POOL_THREADS: '1' })
  pooled.pin(`${SERVER_CORE},1`)
  const raw: Record<string, unknown> = {}
  const speedups: number[] = []
  for (const size of SIZES) {
    const requests = bulkRequests(stage.mixedQuestions, size, Math.floor(80_000 / size))
    const [onOne, onTwo] = [
      await stage.bursts(alone.address, requests, 1),
      await stage.bursts(pooled.address, requests, 1),
    ]
    const rounds = size === 10_000 ? ROUNDS : 3
    const times: { alone: number[]; pooled: number[] } = { alone: [], pooled: [] }
    for (let round = -1; round < rounds; round++) {
      const options = { connections: 4, seconds: 1 }
      const one = (await closedLoop(alone.address, onOne, options)).requestsPerSecond
      const two = (await closedLoop(pooled.address, onTwo, options)).requestsPerSecond
      if (round < 0) continue
      times.alone.push(one)
      times.pooled.push(two)
    }
    const ratios = times.pooled.map((rate, index) => rate / times.alone[index]!)
    raw[size] = { ...times, ratio: median(ratios) }
    if (size === 10_000) speedups.push(...ratios)
  }
  return {
    figures: [
      atLeast('bulk of 10,000, one pool thread on two cores vs one core', median(speedups), 1.5, '×'),
    ],
    raw: { pool: raw },
  }
}
