/** Requests and checks a second on one core, against the floor on the same core, and what a check costs in bulks. */
import type { WireRequest } from '../lib/load-generator.ts'
import { atLeast, atMost, type Figure } from '../lib/measure.ts'
import { bulkRequests, evaluationRequests, singleRequests } from './drive-questions.ts'
import type { Race, Stage } from './stage.ts'

/**
 * A connection sends so many requests at once. With ten, what the kernel does for a packet is shared by ten, so more of what
 * is left is the service's: the harder way to compare, and the bar is for that. With two it is nearer to what callers do;
 * with one the generator's system calls fill its core before the floor's is full.
 */
const PIPELINING = [10, 2] as const
const CONNECTIONS = 8
const ROUNDS = 5

export interface Result {
  readonly figures: readonly Figure[]
  readonly raw: Record<string, unknown>
}

export async function measureSingle(stage: Stage): Promise<Result> {
  const requests = singleRequests(stage.mixedQuestions.slice(0, 10_000))
  const races: Record<number, Race> = {}
  for (const pipelining of PIPELINING) {
    const options = { pipelining, connections: CONNECTIONS, seconds: 1, rounds: ROUNDS }
    races[pipelining] = await stage.race(await stage.service('one core'), requests, options)
  }
  return {
    figures: PIPELINING.map(pipelining =>
      ratioOf(`single /allowed vs floor, ${pipelining} pipelined`, races[pipelining]!, 0.75),
    ),
    raw: { single: races },
  }
}

export async function measureBulk(stage: Stage): Promise<Result> {
  const races: Record<number, Race> = {}
  for (const size of [10, 100, 1_000, 10_000]) {
    const count = Math.max(8, Math.min(200, Math.floor(100_000 / size)))
    races[size] = await raceOf(stage, bulkRequests(stage.mixedQuestions, size, count), size)
  }
  const nsPerCheck = Object.entries(races).map(
    ([size, race]) => [Number(size), 1e9 / (race.requestsPerSecond * Number(size))] as const,
  )
  const rises = nsPerCheck.slice(1).map(([, ns], index) => ns / nsPerCheck[index]![1])
  return {
    figures: [
      ratioOf('/allowed/bulk of 1,000 vs floor', races[1_000]!, 0.7),
      atMost(
        'cost per check, each size vs the one before, bulks of 10 to 10,000',
        Math.max(...rises),
        1,
        '×',
      ),
    ],
    raw: { bulk: races, nsPerCheck: Object.fromEntries(nsPerCheck) },
  }
}

export async function measureEvaluations(stage: Stage): Promise<Result> {
  const race = await raceOf(stage, evaluationRequests(stage.mixedQuestions, 1_000, 40), 1_000)
  return {
    figures: [ratioOf('/access/v1/evaluations of 1,000 with defaults vs floor', race, 0.6)],
    raw: { evaluations: race },
  }
}

async function raceOf(stage: Stage, requests: readonly WireRequest[], size: number): Promise<Race> {
  return stage.race(await stage.service('one core'), requests, {
    // A burst of a thousand checks is a packet train anyhow.
    pipelining: size < 1_000 ? 4 : 1,
    connections: size < 10_000 ? CONNECTIONS : 2,
    seconds: 1,
    rounds: 3,
  })
}

export function ratioOf(name: string, race: Race, bar: number): Figure {
  const figure = atLeast(name, race.ratio, bar, '')
  if (!race.isVoid) return figure
  return { ...figure, reached: 'void: the client was the limit', isMet: false }
}
