/**
 * Simulates a node that starts while other nodes write to Redis. Its main thread loads one index after the
 * other. After loading an index, it applies the commits that were added to the log during the load. It then
 * follows the log of this index while it loads the next one. If the log no longer contains all commits since
 * the start of a load, the index is loaded again.
 */
import { Random } from '#testing/data/random.ts'
import { Clock } from './clock.ts'
import { INPUTS as I } from './inputs.ts'
import { Latencies } from './latencies.ts'
import { arriveAtRandom } from './sources.ts'
import { Station } from './station.ts'

export interface StartPlan {
  readonly facts: number
  /** Number of indexes. They have the same size, and each has its own log. */
  readonly indexes: number
  /** Commits per second, summed over all logs. */
  readonly commitsPerSecond: number
  /** Number of commits that each log keeps. */
  readonly logEntries: number
  /**
   * Data of the node at its start. `nothing`: no data. `rows`: the rows of its local replica, from which it
   * builds the indexes. `indexes`: the index snapshots of its last shutdown.
   */
  readonly has: 'nothing' | 'rows' | 'indexes'
  /** Seconds since the last shutdown of the node. */
  readonly stoppedFor?: number
}

export interface Start {
  /** Seconds until the first index can make decisions. Null if this never happens. */
  readonly first: number | null
  readonly all: number | null
  /**
   * Number of loads that had to be repeated, because the log no longer contained the commits since their
   * start.
   */
  readonly inVain: number
  /**
   * Delay from a commit until the decisions of a loaded index reflect it, while other indexes are being
   * loaded.
   */
  readonly lag: Latencies
}

/** Amount of work without interruption: seconds of loading, or number of commits that are applied. */
const STEP_SECONDS = 0.004
const STEP_COMMITS = 12
const VAIN_MAX = 3

export function runStart(plan: StartPlan, seed = 1): Start {
  const { indexes, commitsPerSecond, logEntries, has, stoppedFor = 0 } = plan
  const [clock, random, lag] = [new Clock(), new Random(seed), new Latencies()]
  const mainThread = new Station(clock)
  const applyTime = 1 / I.followedPerSecond.value
  const missed = Math.round((stoppedFor * commitsPerSecond) / indexes)
  const { seconds, inOnePart } = loadOf(plan)
  /** Number of commits in the log that the index being loaded does not contain. */
  let behind = 0
  let loading = 0
  let inVain = 0
  let first: number | null = null
  let all: number | null = null

  const begin = (): void => {
    behind = has === 'nothing' ? 0 : missed
    let left = seconds
    const step = {
      work: () => Math.min(left, STEP_SECONDS),
      done: () => {
        left -= STEP_SECONDS
        if (left > 0) mainThread.take(step)
        else if (behind * inOnePart > logEntries) loadAgain()
        else catchUp()
      },
    }
    mainThread.take(step)
  }
  const loadAgain = (): void => {
    inVain += 1
    if (inVain < VAIN_MAX) begin()
  }
  const catchUp = (): void => {
    const commits = Math.min(behind, STEP_COMMITS)
    behind -= commits
    if (commits > 0) return mainThread.take({ work: () => commits * applyTime, done: catchUp })
    loading += 1
    first ??= clock.now
    if (loading < indexes) begin()
    else all = clock.now
  }
  arriveAtRandom(clock, random, commitsPerSecond, () => {
    const index = random.below(indexes)
    if (index === loading) behind += 1
    else if (index < loading) {
      const at = clock.now
      mainThread.take({ work: () => applyTime, done: () => lag.add(clock.now - at) })
    }
  })
  clock.after(I.startSeconds.value, { happen: begin })
  const isOver = (): boolean => all !== null || inVain === VAIN_MAX
  while (!isOver()) clock.run(clock.now + 60)
  return { first, all, inVain, lag }
}

/**
 * Returns how long it takes to load one index, and for which part of this time the log must contain all
 * commits.
 */
function loadOf({ facts, indexes, has }: StartPlan): {
  readonly seconds: number
  readonly inOnePart: number
} {
  const each = facts / indexes
  const bytes = each * (I.graphBytesPerFact.value + I.closureBytesPerFact.value)
  switch (has) {
    case 'nothing':
      return {
        seconds: each / I.loadedPerSecond.value,
        inOnePart: I.loadedPerSecond.value / I.indexedPerSecond.value,
      }
    case 'rows':
      return { seconds: each / I.indexedPerSecond.value, inOnePart: 1 }
    case 'indexes':
      return { seconds: bytes / I.readBytesPerSecond.value, inOnePart: 1 }
  }
}
