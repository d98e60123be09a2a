/** Fair scheduling of a thread between environments: no environment waits longer than a slice. */
import { expect, test } from 'vitest'
import { AuthzError } from '#model/errors.ts'
import { SOMEBODY } from '#model/caller.ts'
import { drive, LongReads, READ_MS_MAX, ThreadScheduler, unsharedTime } from '#scheduling/thread-scheduler.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { LONGEST_SLICE_MS, TimeBudget } from '#scheduling/time-budget.ts'

const SLICE_MS = LONGEST_SLICE_MS.main

/** A clock that advances only by work, and the names of the finished work in order. */
class Workshop {
  nowMs = 0
  readonly worked: string[] = []
  readonly sliced = new ThreadScheduler(new TimeBudget('main', () => this.nowMs))

  /** A step of work that takes `ms` milliseconds. */
  step(name: string, ms: number): () => void {
    return () => {
      this.nowMs += ms
      this.worked.push(name)
    }
  }
}

test('an environment with little work is served after one slice, even if another has much work waiting', async () => {
  const shop = new Workshop()
  const [busy, polite] = [shop.sliced.share('a'), shop.sliced.share('b')]
  const all = Array.from({ length: 10 }, (_, n) => busy.take(shop.step(`busy ${n}`, SLICE_MS)))
  all.push(busy.take(() => void all.push(polite.take(shop.step('polite', 1)))))
  const first = busy.take(shop.step('busy last', SLICE_MS))
  await all[0]
  await polite.take(shop.step('polite', 1))
  expect(shop.worked.indexOf('polite')).toBeLessThan(3)
  await Promise.all([...all, first])
  expect(shop.worked.filter(name => name.startsWith('busy'))).toEqual([
    ...Array.from({ length: 10 }, (_, n) => `busy ${n}`),
    'busy last',
  ])
})

test('environments receive equal time, not equal numbers of steps', async () => {
  const shop = new Workshop()
  const [long, short] = [shop.sliced.share('a'), shop.sliced.share('b')]
  const all = [
    ...Array.from({ length: 5 }, () => long.take(shop.step('long', 8))),
    ...Array.from({ length: 20 }, () => short.take(shop.step('short', 2))),
  ]
  await Promise.all(all)
  const before = (count: number) => shop.worked.slice(0, count).filter(name => name === 'short').length
  // One long step takes as long as four short steps.
  expect([before(5), before(10), before(15)]).toEqual(
    [4, 8, 12].map(n => expect.toSatisfy((m: number) => Math.abs(m - n) <= 1)),
  )
})

test('an environment that worked for long while others were idle is served within their next second', async () => {
  const shop = new Workshop()
  const [busy, other] = [shop.sliced.share('a'), shop.sliced.share('b')]
  for (let n = 0; n < 1_000; n += 1) shop.sliced.budget.spend('a', SLICE_MS)
  const all = Array.from({ length: 1_000 }, () => other.take(shop.step('other', SLICE_MS)))
  all.push(busy.take(shop.step('busy', SLICE_MS)))
  await Promise.all(all)
  expect(shop.worked.indexOf('busy')).toBeLessThan(1_000 / SLICE_MS + 2)
})

test('an idle environment does not accumulate time for later', async () => {
  const shop = new Workshop()
  const [busy, idle] = [shop.sliced.share('a'), shop.sliced.share('b')]
  for (let n = 0; n < 50; n += 1) await busy.take(shop.step('before', SLICE_MS))
  const all = Array.from({ length: 10 }, () => [
    idle.take(shop.step('idle', SLICE_MS)),
    busy.take(shop.step('busy', SLICE_MS)),
  ]).flat()
  await Promise.all(all)
  const halves = shop.worked.slice(50, 60)
  expect(halves.filter(name => name === 'busy').length).toBeGreaterThanOrEqual(4)
})

test('the event loop runs between two slices', async () => {
  const shop = new Workshop()
  const share = shop.sliced.share('a')
  const seen: number[] = []
  const all = Array.from({ length: 6 }, (_, n) =>
    share.take(() => {
      shop.step(`${n}`, SLICE_MS)()
      setImmediate(() => seen.push(shop.worked.length))
    }),
  )
  await Promise.all(all)
  await new Promise(resolve => setImmediate(resolve))
  expect(seen).toEqual([1, 2, 3, 4, 5, 6].map(n => expect.toBeOneOf([n, Math.min(6, n + 1)])))
})

test('an error of a step rejects only the caller of this step', async () => {
  const shop = new Workshop()
  const share = shop.sliced.share('a')
  const failing = share.take(() => {
    throw new AuthzError('NOT_FOUND', 'on purpose')
  })
  const next = share.take(() => 'served')
  await expect(failing).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await next).toBe('served')
})

test('work of a disconnected client does not start, or ends at its next yield', async () => {
  const timeShare = unsharedTime()
  const work = { steps: 0, isClosed: false }
  const begun = Promise.withResolvers<void>()
  function* endless(): Resumable<never> {
    try {
      for (;;) {
        work.steps += 1
        begun.resolve()
        yield
      }
    } finally {
      work.isClosed = true
    }
  }
  const gone = { isGone: true }
  await expect(drive(endless, { timeShare, waiting: gone })).rejects.toMatchObject({
    code: 'OVERLOADED',
  })
  expect(work).toEqual({ steps: 0, isClosed: false })
  const leaving = { isGone: false }
  const driven = drive(endless, { timeShare, waiting: leaving })
  await begun.promise
  leaving.isGone = true
  await expect(driven).rejects.toMatchObject({ code: 'OVERLOADED' })
  expect(work.isClosed).toBe(true)
  expect(await drive(() => 'short', { timeShare, waiting: SOMEBODY })).toBe('short')
})

test('small asynchronous steps share a slice, and the time of the steps counts toward their environment', async () => {
  const shop = new Workshop()
  const [busy, other] = [shop.sliced.share('a'), shop.sliced.share('b')]
  const iterations = new Set<number>()
  let iteration = 0
  const count = (): void => {
    iteration += 1
    if (shop.worked.length < 2 * SLICE_MS) setImmediate(count)
  }
  setImmediate(count)
  for (let n = 0; n < 2 * SLICE_MS; n++) {
    await busy.takeSoon(() => {
      iterations.add(iteration)
      shop.step('small', 1)()
    })
  }
  expect(iterations.size).toBe(2)
  await other.take(shop.step('other', 1))
  await Promise.all([busy.take(shop.step('busy', 1)), other.take(shop.step('other', 1))])
  expect(shop.worked.slice(-2)).toEqual(['other', 'busy'])
})

/** Yields until `isDone` is set, and counts the yields. */
function* until(state: { isDone: boolean; resumed: number }): Resumable<string> {
  while (!state.isDone) {
    state.resumed += 1
    yield
  }
  return 'done'
}

const working = () => ({ isDone: false, resumed: 0 })
const readOf = (state: ReturnType<typeof working>, waiting = SOMEBODY) => ({ work: until(state), waiting })
const longReads = (max: number) => new LongReads(new ThreadScheduler(new TimeBudget('http')), max)

test('the event loop runs between two slices of a read', async () => {
  const state = working()
  const read = longReads(10).run('a', readOf(state))
  // The read ends only if the event loop runs between its slices.
  setImmediate(() => setImmediate(() => (state.isDone = true)))
  expect(await read).toBe('done')
  expect(state.resumed).toBeGreaterThan(0)
})

test('long reads run one after another, round-robin over the shares', async () => {
  const reads = longReads(10)
  const ended: string[] = []
  const first = working()
  const read = (share: string, name: string, state = { isDone: true, resumed: 0 }) =>
    reads.run(share, readOf(state)).then(() => ended.push(name))
  const answers = [read('a', 'a1', first), read('a', 'a2'), read('a', 'a3'), read('b', 'b1'), read('c', 'c1')]
  while (first.resumed === 0) await new Promise(setImmediate)
  expect(ended).toEqual([])
  first.isDone = true
  await Promise.all(answers)
  expect(ended).toEqual(['a1', 'a2', 'b1', 'c1', 'a3'])
})

test('long reads above the limit, and those of one share above half of it, are refused until one has ended', async () => {
  const reads = longReads(4)
  const state = working()
  const full = { code: 'OVERLOADED', limit: 'pool' }
  const first = ['a', 'a'].map(share => reads.run(share, readOf(state)))
  await expect(reads.run('a', readOf(working()))).rejects.toMatchObject(full)
  const others = ['b', 'c'].map(share => reads.run(share, readOf(state)))
  await expect(reads.run('d', readOf(working()))).rejects.toMatchObject(full)
  state.isDone = true
  await Promise.all([...first, ...others])
  expect(await reads.run('d', readOf(state))).toBe('done')
})

test('a read of a client that has disconnected is ended, and the next one begins', async () => {
  const reads = longReads(4)
  const waiting = { isGone: false }
  const left = working()
  const first = reads.run('a', readOf(left, waiting))
  const second = reads.run('a', readOf({ isDone: true, resumed: 0 }))
  setImmediate(() => (waiting.isGone = true))
  await expect(first).rejects.toMatchObject({ code: 'OVERLOADED' })
  expect(await second).toBe('done')
  const { resumed } = left
  await new Promise(setImmediate)
  expect(left.resumed).toBe(resumed)
})

test('the result of a read that becomes stale during its last slice is not returned', async () => {
  let isStale = false
  const check = (): void => {
    if (isStale) throw new AuthzError('STALE', 'too old')
  }
  const work = (function* lastSlice() {
    yield
    isStale = true
    return 'done'
  })()
  const read = longReads(1).run('a', { work, waiting: SOMEBODY, check })
  await expect(read).rejects.toMatchObject({ code: 'STALE' })
})

test('a read whose slices together exceed the time limit is refused with advice', async () => {
  let now = 0
  const sliced = new ThreadScheduler(new TimeBudget('http', () => (now += READ_MS_MAX / 4)))
  await expect(new LongReads(sliced, 1).run('a', readOf(working()))).rejects.toMatchObject({
    code: 'LIMIT_EXCEEDED',
    message: expect.stringContaining('filter by tenants') as string,
  })
  const state = working()
  const unlimited = sliced.run('a', readOf(state))
  while (state.resumed < 10) await new Promise(setImmediate)
  state.isDone = true
  expect(await unlimited).toBe('done')
})

test('work that waits for a promise continues after it, and other work of its share runs in between', async () => {
  const sliced = new ThreadScheduler(new TimeBudget('http'))
  const elsewhere = Promise.withResolvers<void>()
  const work = (function* waits() {
    yield elsewhere.promise
    return 'after'
  })()
  const waiting = sliced.run('a', { work, waiting: SOMEBODY })
  expect(await sliced.run('a', readOf({ isDone: true, resumed: 0 }))).toBe('done')
  elsewhere.resolve()
  expect(await waiting).toBe('after')
})

test('an environment that has spent a slice waits for the next iteration, and other environments do not', async () => {
  let now = 0
  const budget = new TimeBudget('http', () => now)
  budget.spend('busy', (now = budget.sliceMs))
  expect([budget.hasLeft('busy'), budget.hasLeft('other')]).toEqual([false, true])
  expect(budget.sliceEnd()).toBe(now + budget.sliceMs)
  await new Promise(setImmediate)
  expect(budget.hasLeft('busy')).toBe(true)
})
