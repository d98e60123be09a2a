/**
 * Simulates a node that starts while other nodes write to Redis. Its main thread loads one index after the
 * other. For each, it applies the commits that the log has received since, and then follows the log while it
 * loads the next index. If the log no longer contains all commits since the start of a load, the index is
 * loaded again.
 */
import { Random } from '#testing/data/random.ts'
import { Clock } from './clock.ts'
import { INPUTS as I } from './inputs.ts'
import { Latencies } from './latencies.ts'
import { arriveAtRandom } from './sources.ts'
import { Station } from './station.ts'

export interface StartPlan {
  readonly facts: number
  /** Number of indexes of equal size, each with a separate log. */
  readonly indexes: number
  /** Commits per second of all logs together. */
  readonly commitsPerSecond: number
  /** Number of commits that each log keeps. */
  readonly logEntries: number
  /**
   * Data of the node at its start: nothing; the rows of its local replica, from which it builds the indexes;
   * or index snapshots from its last shutdown.
   */
  readonly has: 'nothing' | 'rows' | 'indexes'
  /** Seconds since its shutdown. */
  readonly stoppedFor?: number
}

export interface Start {
  /** Seconds until the first index makes decisions; null if that never happens. */
  readonly first: number | null
  readonly all: number | null
  /** Loads that had to be repeated because the log no longer reached back to their start. */
  readonly inVain: number
  /** Delay from a commit to the decisions of a loaded index while others are loading. */
  readonly lag: Latencies
}

/** Uninterrupted work of a load, or of applying commits. */
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
  /** Commits in the log that the loading index lacks. */
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

/** Duration of loading one index, and the part of it that the log must cover. */
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
