/** Fair scheduling of the writer thread between environments: no environment waits longer than a slice. */
import { expect, test } from 'vitest'
import { AuthzError } from '#model/errors.ts'
import { SOMEBODY } from '#model/caller.ts'
import { drive } from '#scheduling/sliced-work.ts'
import { type Resumable, SLICE_MS } from '#scheduling/resumable.ts'
import { FairScheduler, Slices } from '#scheduling/fair-scheduler.ts'

/** A clock that advances only by work, and the names of the finished work in order. */
class Workshop {
  nowMs = 0
  readonly worked: string[] = []
  readonly timeShare = new FairScheduler(() => this.nowMs)

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
  const [busy, polite] = [shop.timeShare.share(), shop.timeShare.share()]
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
  const [long, short] = [shop.timeShare.share(), shop.timeShare.share()]
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

test('an idle environment does not accumulate time for later', async () => {
  const shop = new Workshop()
  const [busy, idle] = [shop.timeShare.share(), shop.timeShare.share()]
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
  const share = shop.timeShare.share()
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
  const share = shop.timeShare.share()
  const failing = share.take(() => {
    throw new AuthzError('NOT_FOUND', 'on purpose')
  })
  const next = share.take(() => 'served')
  await expect(failing).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await next).toBe('served')
})

test('work of a disconnected client does not start, or ends at its next yield', async () => {
  const timeShare = new FairScheduler().share()
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
  const [busy, other] = [shop.timeShare.share(), shop.timeShare.share()]
  let taken = 0
  const counted = { ...busy, take: <Result>(step: () => Result) => ((taken += 1), busy.take(step)) }
  const slices = new Slices(counted, () => shop.nowMs)
  for (let n = 0; n < 2 * SLICE_MS; n++) await slices.run(shop.step('small', 1))
  expect(taken).toBe(2)
  await other.take(shop.step('other', 1))
  await Promise.all([busy.take(shop.step('busy', 1)), other.take(shop.step('other', 1))])
  expect(shop.worked.slice(-2)).toEqual(['other', 'busy'])
})
