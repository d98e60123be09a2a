/**
 * Simulates writes that become commits in a single log in Redis, and nodes that follow this log. A node
 * receives a message for each commit, reads the new commits, and applies them one after the other. The result
 * is the delay until every node has applied a commit.
 */
import { Random } from '#testing/data/random.ts'
import { Clock } from './clock.ts'
import { INPUTS as I, seconds } from './inputs.ts'
import { Latencies } from './latencies.ts'
import { arriveAtRandom } from './sources.ts'
import { Station } from './station.ts'

export interface LogPlan {
  readonly commitsPerSecond: number
  /** Number of nodes other than the node that writes. */
  readonly followers: number
  /** Commits per second of other logs, which each follower also applies. */
  readonly othersPerSecond?: number
}

export interface LogRun {
  /** Delay from a commit in Redis until the decisions of one node reflect it. */
  readonly each: Latencies
  /** Delay from a commit in Redis until the decisions of all nodes reflect it. */
  readonly last: Latencies
  readonly redisBusy: number
  readonly followerBusy: number
  /** Number of commits that the slowest node has not applied at the end. */
  readonly behind: number
}

/** A node reads more commits only if fewer than this number of read commits are not applied yet. */
const UNDER_WAY_MAX = 128
const SETTLING_SECONDS = 1

export function runLog(plan: LogPlan, runSeconds: number, seed = 1): LogRun {
  const { commitsPerSecond, followers: count, othersPerSecond = 0 } = plan
  const [clock, random] = [new Clock(), new Random(seed)]
  const [each, last] = [new Latencies(), new Latencies()]
  const redis = new Station(clock)
  const madeAt: number[] = []
  const appliedBy: number[] = []
  const note = (nth: number): void => {
    appliedBy[nth]! += 1
    const at = madeAt[nth]!
    if (at < SETTLING_SECONDS) return
    each.add(clock.now - at)
    if (appliedBy[nth] === count) last.add(clock.now - at)
  }
  const head = (): number => madeAt.length
  const followers = Array.from({ length: count }, () => new Follower(clock, redis, { head, note }))
  for (const { station } of followers) {
    arriveAtRandom(clock, random, othersPerSecond, () => station.take({ work: applyTime, done: () => {} }))
  }
  const commitTime = seconds(I.redisPerCommit) + count * seconds(I.redisPerMessage)
  arriveAtRandom(clock, random, commitsPerSecond, () =>
    redis.take({
      work: () => commitTime,
      done: () => {
        madeAt.push(clock.now)
        appliedBy.push(0)
        const hear = { happen: () => followers.forEach(follower => follower.look()) }
        clock.after(seconds(I.networkOneWay), hear)
      },
    }),
  )
  clock.run(runSeconds)
  return {
    each,
    last,
    redisBusy: redis.busySeconds / runSeconds,
    followerBusy: Math.max(...followers.map(({ station }) => station.busySeconds)) / runSeconds,
    behind: Math.max(...followers.map(({ applied }) => madeAt.length - applied)),
  }
}

const applyTime = (): number => 1 / I.followedPerSecond.value

class Follower {
  readonly station: Station
  applied = 0
  readonly #clock: Clock
  readonly #redis: Station
  readonly #log: { readonly head: () => number; readonly note: (nth: number) => void }
  #read = 0
  #isReading = false

  constructor(
    clock: Clock,
    redis: Station,
    log: { readonly head: () => number; readonly note: (nth: number) => void },
  ) {
    this.station = new Station(clock)
    this.#clock = clock
    this.#redis = redis
    this.#log = log
  }

  /**
   * Starts a read. Does nothing if a read is in progress, if there is nothing to read, or if enough commits
   * wait to be applied.
   */
  look(): void {
    if (this.#isReading || this.#read === this.#log.head() || this.#read - this.applied >= UNDER_WAY_MAX)
      return
    this.#isReading = true
    let commits = 0
    const read = {
      work: () => {
        commits = Math.min(this.#log.head() - this.#read, I.commitsPerRead.value)
        return seconds(I.redisPerRead) + commits * seconds(I.redisPerCommitRead)
      },
      done: () => this.#travel(() => this.#take(commits)),
    }
    this.#travel(() => this.#redis.take(read))
  }

  #take(commits: number): void {
    this.#isReading = false
    for (let nth = this.#read; nth < this.#read + commits; nth += 1) {
      this.station.take({
        work: applyTime,
        done: () => {
          this.applied += 1
          this.#log.note(nth)
          this.look()
        },
      })
    }
    this.#read += commits
    this.look()
  }

  #travel(happen: () => void): void {
    this.#clock.after(seconds(I.networkOneWay), { happen })
  }
}
