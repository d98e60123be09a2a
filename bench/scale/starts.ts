/**
 * A node that starts beside a Redis in which writing goes on: its main thread loads one index after the other, applies what the log has
 * since, and from then on follows it, while it loads the next. What the log does not reach back to is loaded again.
 */
import { Random } from '#testing/data/random.ts'
import { Clock } from './clock.ts'
import { INPUTS as I } from './inputs.ts'
import { Latencies } from './latencies.ts'
import { arriveAtRandom } from './sources.ts'
import { Station } from './station.ts'

export interface StartPlan {
  readonly facts: number
  /** Indexes that they lie in, all as large, each with a log of its own. */
  readonly indexes: number
  /** All logs together. */
  readonly commitsPerSecond: number
  /** Commits that each log keeps. */
  readonly logEntries: number
  /** Nothing at all; the rows of its local copy, of which it makes the indexes; or the indexes as it kept them when it stopped. */
  readonly has: 'nothing' | 'rows' | 'indexes'
  /** Seconds since it stopped. */
  readonly stoppedFor?: number
}

export interface Start {
  /** Seconds until the first index decides; null: none ever does. */
  readonly first: number | null
  readonly all: number | null
  /** Loads that the log did not reach back to the beginning of. */
  readonly inVain: number
  /** From a commit to the decisions of an index that is loaded, while others are. */
  readonly lag: Latencies
}

/** Work of a load that is done in one go, and commits that are. */
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
  /** Commits of the index being loaded that the log has and the index does not. */
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

/** How long one index takes, and for which part of that the log must reach back. */
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
