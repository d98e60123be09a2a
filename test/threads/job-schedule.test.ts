/** The order in which a pool runs its jobs, without threads. */
import { describe, expect, test } from 'vitest'
import { POOLED_CHECKS_MIN } from '#decisions/decision-pool.ts'
import { type BulkPart, BulkProgress, OWN_PART_CHECKS, PARTS_AHEAD } from '#threads/pool/bulk-parts.ts'
import { type BulkJob, JobSchedule, type ScheduledJob } from '#threads/pool/job-schedule.ts'
import { Random } from '#testing/data/random.ts'

interface Bulk extends BulkJob {
  readonly waiting: { isGone: boolean }
}

const bulk = (checks: number, environmentId = 'e'): Bulk => ({
  environmentId,
  waiting: { isGone: false },
  progress: new BulkProgress(checks),
  isLarge: false,
})
const whole = (isLarge = false, environmentId = 'e') => ({
  environmentId,
  waiting: { isGone: false },
  progress: null,
  isLarge,
})

function newSchedule(threads: number, ...jobs: ScheduledJob[]) {
  const dropped: ScheduledJob[] = []
  const schedule = new JobSchedule<ScheduledJob, Bulk>(threads, job => dropped.push(job))
  for (const job of jobs) schedule.add(job)
  return { schedule, dropped }
}

/** Sizes of all parts of a bulk if only the pool decides them. */
function poolParts(threads: number, checks: number): number[] {
  const job = bulk(checks)
  const { schedule } = newSchedule(threads, job)
  const counts: number[] = []
  while (schedule.nextBulk() !== null) counts.push(schedule.beginPoolPart(job).count)
  return counts
}

const SIZES = [POOLED_CHECKS_MIN, POOLED_CHECKS_MIN + 1, 4_000, 9_999, 10_000, 100_000]
const THREADS = [1, 2, 3, 8]
const CASES = THREADS.flatMap(threads => SIZES.map(checks => ({ threads, checks })))

describe('the parts of a bulk', () => {
  test.each(CASES)('cover each of $checks checks once: $threads threads', ({ threads, checks }) => {
    const random = new Random(checks + threads)
    const job = bulk(checks)
    const { schedule } = newSchedule(threads, job)
    const parts: BulkPart[] = []
    while (schedule.nextBulk() !== null) {
      const isPools = random.next() < 0.5
      parts.push(isPools ? schedule.beginPoolPart(job) : schedule.beginOwnPart(job))
    }
    const ends = parts.map(({ from, count }) => from + count)
    expect(parts.map(({ from }) => from)).toEqual([0, ...ends.slice(0, -1)])
    expect(ends.at(-1)).toBe(checks)
    expect(schedule.isEmpty).toBe(true)
  })

  test.each(CASES)('become smaller in the pool: $checks checks, $threads threads', ({ threads, checks }) => {
    const counts = poolParts(threads, checks)
    expect(counts).toEqual(counts.toSorted((one, other) => other - one))
    for (const count of counts.slice(0, -1)) expect(count % OWN_PART_CHECKS).toBe(0)
    expect(Math.max(...counts)).toBeLessThanOrEqual(2_048)
  })

  test.each(THREADS)('that are sent in advance have half of its checks: %i threads', threads => {
    const checks = 2 * PARTS_AHEAD * threads * OWN_PART_CHECKS
    expect(Math.min(...poolParts(threads, checks)) * PARTS_AHEAD * threads).toBe(checks / 2)
  })

  test('have half of the remaining checks, divided by the number of pool threads and the calling thread', () => {
    expect(poolParts(3, 8_192).slice(0, 3)).toEqual([1_024, 896, 896])
  })

  test('have a minimum size if the bulk is large, except for the last part', () => {
    expect(Math.min(...poolParts(1, 100_000).slice(0, -1))).toBe(512)
  })

  test('for the calling thread have a fixed size', () => {
    const job = bulk(POOLED_CHECKS_MIN)
    const { schedule } = newSchedule(1, job)
    expect(schedule.beginOwnPart(job)).toEqual({ from: 0, count: OWN_PART_CHECKS })
  })

  test('are complete when the last part has begun and the pool decides no part', () => {
    const job = bulk(POOLED_CHECKS_MIN)
    const { schedule } = newSchedule(1, job)
    schedule.beginPoolPart(job)
    while (schedule.nextBulk() !== null) schedule.beginOwnPart(job)
    expect(job.progress.isDone).toBe(false)
    job.progress.running--
    expect(job.progress.isDone).toBe(true)
  })

  test('are not begun after the bulk has failed', () => {
    const job = bulk(10_000)
    const { schedule } = newSchedule(1, job)
    schedule.beginPoolPart(job)
    schedule.cutOff(job)
    expect(schedule.next()).toBeNull()
    expect(job.progress.isDone).toBe(false)
  })
})

describe('the next job', () => {
  test('is the oldest job of any kind; a bulk is the next job until its last part has begun', () => {
    const [first, second] = [bulk(OWN_PART_CHECKS + 1), whole()]
    const { schedule } = newSchedule(1, first, second)
    schedule.beginOwnPart(first)
    expect(schedule.next()).toBe(first)
    schedule.beginOwnPart(first)
    expect(schedule.next()).toBe(second)
    schedule.beginWhole(second)
    expect(schedule.next()).toBeNull()
  })

  test('is that of the environment that has waited longest, after each part', () => {
    const [first, second] = [bulk(10_000, 'busy'), bulk(10_000, 'busy')]
    const { schedule } = newSchedule(1, first, second)
    schedule.beginPoolPart(first)
    const [check, read] = [whole(false, 'calm'), whole(false, 'other')]
    for (const job of [check, read]) schedule.add(job)
    expect(schedule.next()).toBe(first)
    schedule.beginPoolPart(first)
    expect(schedule.next()).toBe(check)
    schedule.beginWhole(check)
    expect(schedule.next()).toBe(read)
    schedule.beginWhole(read)
    expect(schedule.next()).toBe(first)
    schedule.cutOff(first)
    expect(schedule.next()).toBe(second)
  })

  test('for the calling thread is the oldest bulk if there is a pool, and otherwise the oldest other job', () => {
    const jobs = [whole(), bulk(10_000), whole(), bulk(10_000)]
    const { schedule } = newSchedule(1, ...jobs)
    expect(schedule.nextBulk()).toBe(jobs[1])
    expect(schedule.nextWhole()).toBe(jobs[0])
  })

  test('is a small job if all threads run large jobs, even if a large job is older', () => {
    const [first, second, third, small] = [whole(true), whole(true), whole(true), whole()]
    const { schedule } = newSchedule(2, first, second, third, small)
    for (const job of [first, second]) {
      expect(schedule.next()).toBe(job)
      schedule.beginWhole(job)
    }
    expect(schedule.next()).toBe(small)
    schedule.endWhole(first)
    expect(schedule.next()).toBe(third)
  })

  test('has few parts sent in advance if it is the only job, and many if other jobs wait', () => {
    const { schedule } = newSchedule(3)
    expect(schedule.hasCapacity(5, 1)).toBe(true)
    expect(schedule.hasCapacity(6, 1)).toBe(false)
    expect(schedule.hasCapacity(3 * PARTS_AHEAD - 1, 2)).toBe(true)
    expect(schedule.hasCapacity(3 * PARTS_AHEAD, 2)).toBe(false)
  })
})

describe('a job of a disconnected client', () => {
  test('is dropped when it is next, and reported once', () => {
    const [left, next] = [whole(), whole()]
    const { schedule, dropped } = newSchedule(1, left, next)
    left.waiting.isGone = true
    expect(schedule.next()).toBe(next)
    expect(schedule.next()).toBe(next)
    expect(dropped).toEqual([left])
  })

  test('is dropped if the pool is full, even if other jobs are before it', () => {
    const [first, left] = [whole(), bulk(10_000)]
    const { schedule, dropped } = newSchedule(1, first, left)
    left.waiting.isGone = true
    schedule.dropAbandoned()
    expect(dropped).toEqual([left])
    expect(schedule.next()).toBe(first)
  })

  test('begins no more parts of its bulk, and completes when the running parts complete', () => {
    const left = bulk(10_000)
    const { schedule, dropped } = newSchedule(1, left)
    schedule.beginPoolPart(left)
    left.waiting.isGone = true
    expect(schedule.nextBulk()).toBeNull()
    expect(dropped).toEqual([left])
    expect(left.progress.isDone).toBe(false)
    left.progress.running--
    expect(left.progress.isDone).toBe(true)
  })
})
