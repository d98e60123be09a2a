/**
 * Compares the simulation with formulas of queueing theory and with the measured loads of the latency bench.
 * The bench does this before it prints tables.
 */
import { Random } from '#testing/data/random.ts'
import { Clock } from './clock.ts'
import { markovResponseAt, meanWait, meanWaitForWaking, shareWithin } from './closed-forms.ts'
import { climb } from './ladder.ts'
import { Latencies } from './latencies.ts'
import { arriveAtRandom, randomTime } from './sources.ts'
import { Station } from './station.ts'

export interface Comparison {
  readonly what: string
  readonly expected: number
  readonly found: number
  /** Maximum deviation, as a share of the expected value. */
  readonly tolerance: number
}

export function isOff({ expected, found, tolerance }: Comparison): boolean {
  return !(Math.abs(found - expected) <= tolerance * expected)
}

const JOBS = 400_000
const LOADS = [0.3, 0.6, 0.8, 0.9]

/** Simulates one station with random arrivals and a mean service time of 1. Returns the waiting times. */
function waitsOf(
  arrivals: number,
  serviceOf: (random: Random) => number,
  options: { readonly wakeSeconds?: number; readonly stopsPerSecond?: number; readonly stop?: number } = {},
): { readonly waits: Latencies; readonly responses: Latencies; readonly busy: number } {
  const [clock, random] = [new Clock(), new Random(7)]
  const [waits, responses] = [new Latencies(), new Latencies()]
  const station = new Station(clock, options)
  const { stopsPerSecond = 0, stop = 0 } = options
  arriveAtRandom(clock, new Random(8), stopsPerSecond, () => station.stop(stop))
  arriveAtRandom(clock, random, arrivals, () => {
    const from = clock.now
    const work = (): number => {
      waits.add(clock.now - from)
      return serviceOf(random)
    }
    station.take({ work, done: () => responses.add(clock.now - from) })
  })
  const duration = JOBS / arrivals
  clock.run(duration)
  return { waits, responses, busy: station.busySeconds / duration }
}

/** Comparison with queueing theory. */
export function compareWithTheory(): Comparison[] {
  const comparisons: Comparison[] = []
  const compare = (what: string, expected: number, found: number, tolerance: number): void =>
    void comparisons.push({ what, expected, found, tolerance })
  for (const load of LOADS) {
    // At a high load, random queues last longer, so a run contains fewer of them. The tolerance is therefore
    // larger.
    const tolerance = load > 0.8 ? 0.1 : 0.04
    const markov = waitsOf(load, random => randomTime(random, 1))
    compare(`M/M/1 at ${load}, mean response`, 1 / (1 - load), markov.responses.mean, tolerance)
    compare(`M/M/1 at ${load}, p99`, markovResponseAt(0.99, load, 1), markov.responses.at(0.99), tolerance)
    const even = waitsOf(load, () => 1)
    compare(
      `M/D/1 at ${load}, mean wait`,
      meanWait(load, { mean: 1, meanSquare: 1 }),
      even.waits.mean,
      tolerance,
    )
    const p99 = even.waits.at(0.99)
    compare(`M/D/1 at ${load}, share within its p99`, 0.01, 1 - shareWithin(p99, load, 1), 0.15)
    const mixed = (random: Random): number => (random.chance(0.1) ? 5.5 : 0.5)
    const square = 0.1 * 5.5 ** 2 + 0.9 * 0.5 ** 2
    const general = waitsOf(load, mixed)
    compare(
      `M/G/1 at ${load}, mean wait`,
      meanWait(load, { mean: 1, meanSquare: square }),
      general.waits.mean,
      tolerance,
    )
    compare(`at ${load}, busy`, load, even.busy, 0.01)
  }
  const waking = waitsOf(0.5, () => 1, { wakeSeconds: 3 })
  const wait = meanWait(0.5, { mean: 1, meanSquare: 1 }) + meanWaitForWaking(0.5, 3)
  compare('M/D/1 at 0.5 with a server that takes 3 to wake, mean wait', wait, waking.waits.mean, 0.04)
  // Random stops are like requests with priority over all others whose latency is not recorded.
  const stopped = waitsOf(0.5, () => 1, { stopsPerSecond: 0.05, stop: 4 })
  compare('a server that is stopped a fifth of the time, busy', 0.7, stopped.busy, 0.02)
  const response = 1 / 0.8 + (0.5 + 0.05 * 16) / (2 * 0.8 * (1 - 0.7))
  compare('the same, mean response (preemptive priority)', response, stopped.responses.mean, 0.05)
  return comparisons
}

/** A measured load of the ladder, from `raw.rungs` of latency.json. Times are in milliseconds. */
export interface MeasuredRung {
  readonly requestsPerSecond: number
  readonly p50: number
  readonly p99: number
  readonly p999: number
}

/**
 * Compares the simulation with the latency bench near its peak and beyond. Except for the peak, these loads
 * were not used to build the model.
 */
export function compareWithLadder(rungs: Readonly<Record<string, MeasuredRung>>): Comparison[] {
  return [8, 16, 64].flatMap(connections => {
    const rung = rungs[connections]!
    const { checksPerSecond, latencies } = climb(connections, 6)
    const compare = (what: string, expected: number, found: number, tolerance: number): Comparison => ({
      what: `${connections} connections, ${what}`,
      expected,
      found,
      tolerance,
    })
    return [
      compare('checks/s', rung.requestsPerSecond, checksPerSecond, 0.05),
      compare('p50, ms', rung.p50, latencies.at(0.5) * 1e3, 0.25),
      compare('p99, ms', rung.p99, latencies.at(0.99) * 1e3, 0.35),
      compare('p99.9, ms', rung.p999, latencies.at(0.999) * 1e3, 0.35),
    ]
  })
}
