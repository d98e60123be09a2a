/**
 * Splits a bulk of checks into parts. The parts for the threads of the pool become smaller towards the end of
 * a bulk, so that no thread ends with a large one. The thread that received the bulk takes small parts,
 * between which it handles other requests. `docs/performance/experiments.md` has the measurements for the
 * sizes.
 */

/** Maximum number of checks of a part for the pool. */
const POOL_PART_CHECKS_MAX = 2_048
/** Minimum number of checks of a part for the pool, if the bulk is large enough. */
const POOL_PART_CHECKS_MIN = 512
/**
 * Checks of a part for this thread: about 60 µs, during which single decisions wait. Parts for the pool are
 * multiples of it.
 */
export const OWN_PART_CHECKS = 128
/**
 * Parts or jobs that a thread of the pool has at the same time, so that it is not idle while this thread
 * parses a large body.
 */
export const PARTS_AHEAD = 8

/** Consecutive checks of a bulk. */
export interface BulkPart {
  readonly from: number
  readonly count: number
}

/** Progress of a bulk. */
export class BulkProgress {
  /** Number of all its checks. */
  readonly count: number
  /** Index of the first check that is not in a part yet. */
  next = 0
  /** Parts that the pool has received and not finished. */
  running = 0

  constructor(count: number) {
    this.count = count
  }

  /** Whether all parts are complete and no more will be started. */
  get isDone(): boolean {
    return this.next === this.count && this.running === 0
  }
}

/**
 * Number of checks of the next part for the pool: half of the remaining checks, divided by the number of all
 * threads including this one. The minimum is chosen such that the parts that the pool holds at one time are
 * half of the bulk.
 */
export function poolPartChecks({ count, next }: BulkProgress, threads: number): number {
  const fewest = Math.min(POOL_PART_CHECKS_MIN, count / (2 * PARTS_AHEAD * threads))
  const share = (count - next) / (2 * (threads + 1))
  // The engine processes this many checks at a time, so parts are multiples of it.
  const checks = Math.ceil(Math.max(share, fewest) / OWN_PART_CHECKS) * OWN_PART_CHECKS
  return Math.min(POOL_PART_CHECKS_MAX, checks)
}
