/**
 * How a bulk of checks is cut into parts. The threads of the pool take parts that shrink towards the end of a bulk, so that none is left
 * with a large one. The thread that received the bulk takes small ones, between which it answers others. The figures behind the sizes
 * are in docs/performance/experiments.md.
 */

/** A bulk of at least this many checks is given to the pool. */
export const POOLED_CHECKS_MIN = 2_000
/** Most checks of a part for the pool. */
const POOL_PART_CHECKS_MAX = 2_048
/** Fewest checks of a part for the pool, in a bulk that is large enough. */
const POOL_PART_CHECKS_MIN = 512
/** Checks of a part for this thread: about 60 µs, for which single decisions have to wait. Parts for the pool are multiples of it. */
export const OWN_PART_CHECKS = 128
/** Parts or jobs that a thread of the pool has at once, so that it never waits while this thread reads a large body. */
export const PARTS_AHEAD = 8

/** Neighbouring checks of a bulk. */
export interface BulkPart {
  readonly from: number
  readonly count: number
}

/** How far a bulk has come. */
export class BulkProgress {
  /** The number of all its checks. */
  readonly count: number
  /** The first check that is in no part yet. */
  next = 0
  /** Parts that the pool has been given and has not finished. */
  running = 0

  constructor(count: number) {
    this.count = count
  }

  /** Whether all parts that were begun are done, and no more will be begun. */
  get isDone(): boolean {
    return this.next === this.count && this.running === 0
  }
}

/**
 * The checks of the next part for the pool: half of what is left, divided by the number of threads. At least so many that
 * as many parts as the pool takes ahead make up half of the bulk.
 */
export function poolPartChecks({ count, next }: BulkProgress, threads: number): number {
  const fewest = Math.min(POOL_PART_CHECKS_MIN, count / (2 * PARTS_AHEAD * threads))
  const share = (count - next) / (2 * (threads + 1))
  // The engine decides this many at a time, so parts are multiples of it.
  const checks = Math.ceil(Math.max(share, fewest) / OWN_PART_CHECKS) * OWN_PART_CHECKS
  return Math.min(POOL_PART_CHECKS_MAX, checks)
}
