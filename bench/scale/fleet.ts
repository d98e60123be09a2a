/**
 * Simulates single checks on many nodes. The simulation determines where the data is, which node receives
 * each check, how much each node works, and which latency callers see.
 */
import { Random } from '#testing/data/random.ts'
import { Clock } from './clock.ts'
import { type HttpThread, httpThread } from './http-thread.ts'
import { INPUTS as I, seconds } from './inputs.ts'
import { Latencies } from './latencies.ts'
import { arriveAtRandom } from './sources.ts'

/**
 * A part of the checks: those on one index, which contains some of the tenants. `nodes` are the nodes that
 * hold this index.
 */
export interface Piece {
  /** Share of all checks. */
  readonly share: number
  readonly nodes: readonly number[]
}

export interface FleetPlan {
  readonly nodes: number
  /** Number of HTTP threads of a node. */
  readonly threads: number
  readonly pieces: readonly Piece[]
  readonly checksPerSecond: number
  /** Share of the checks that arrive at a node without the data. This node must forward them. */
  readonly forwardedShare?: number
  /**
   * Number of a node that is lost. Its checks go to the other nodes that hold the same piece. There must be
   * at least one such node.
   */
  readonly lost?: number
}

export interface FleetRun {
  readonly latencies: Latencies
  /** Utilization of the threads, by node. */
  readonly busy: readonly number[]
}

/**
 * Time in seconds that a node needs to forward a request and to return the response. Each of the two takes as
 * long as a request to the baseline server.
 */
const FORWARD = 1 / 126_000
const SETTLING_SECONDS = 0.2

export function runFleet(plan: FleetPlan, runSeconds: number, seed = 1): FleetRun {
  const { threads, lost, forwardedShare = 0 } = plan
  const [clock, random, latencies] = [new Clock(), new Random(seed), new Latencies()]
  const speed = I.rateOfOneAmongMany.value
  const nodes = Array.from({ length: plan.nodes }, () =>
    Array.from({ length: threads }, () => httpThread(clock, random, speed)),
  )
  const alive = nodes.map((_, node) => node).filter(node => node !== lost)
  const pieces = plan.pieces.map(piece => piece.nodes.filter(node => node !== lost))
  const pick = pickerByShare(plan.pieces.map(({ share }) => share))
  const threadOf = (node: number): HttpThread => random.pick(nodes[node]!)
  arriveAtRandom(clock, random, plan.checksPerSecond, () => {
    const from = clock.now
    const holders = pieces[pick(random.next())]!
    const owner = threadOf(random.pick(holders))
    const answer = (): void => {
      if (from > SETTLING_SECONDS) latencies.add(clock.now - from)
    }
    if (forwardedShare === 0 || !random.chance(forwardedShare)) {
      owner.station.take({ work: owner.work, done: answer })
      return
    }
    const entry = threadOf(random.pick(alive)).station
    const work = (): number => FORWARD / speed
    const travel = (happen: () => void): void => clock.after(seconds(I.networkOneWay), { happen })
    const handBack = (): void => entry.take({ work, done: answer })
    const handOn = (): void => owner.station.take({ work: owner.work, done: () => travel(handBack) })
    entry.take({ work, done: () => travel(handOn) })
  })
  clock.run(runSeconds)
  const busyOf = (of: readonly HttpThread[]): number =>
    of.reduce((sum, { station }) => sum + station.busySeconds, 0) / (threads * runSeconds)
  return { latencies, busy: nodes.map(busyOf) }
}

/** Returns a function that maps a number in [0, 1) to the index of the share in whose range it is. */
function pickerByShare(shares: readonly number[]): (at: number) => number {
  const ends = new Float64Array(shares.length)
  let sum = 0
  shares.forEach((share, nth) => (ends[nth] = sum += share))
  return at => {
    const wanted = at * sum
    let [low, high] = [0, ends.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if (ends[middle]! > wanted) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** Returns pieces for full copies: a single piece that all nodes hold. */
export function wholeCopies(nodes: number): Piece[] {
  return [{ share: 1, nodes: Array.from({ length: nodes }, (_, node) => node) }]
}
