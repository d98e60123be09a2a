/** The table of expiration times, and the queue of the facts that expire next. */
import { describe, expect, test } from 'vitest'
import {
  blocksForExpiry,
  clearExpiry,
  eachExpiring,
  expiringCount,
  expiresAtOf,
  type FactNumbers,
  setExpiry,
} from '#engine/shared-index/memory/expiry-table.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { ExpiryQueue } from '#engine/shared-index/write/expiry-queue.ts'
import { Random } from '#testing/data/random.ts'
import { SECRETS } from '#testing/engines/shared-engine.ts'

const YEAR_9999 = Date.parse('9999-12-31T23:59:59.999Z')

function factOf(n: number): FactNumbers {
  // A scope can use all 32 bits of a word, an edge class uses 16.
  const other = Math.imul(n, 0x9e3779b1) | 1
  return { isTuple: n % 3 === 0, line: 1 + (n & L.LINE_MASK), other, link: n % 3 === 0 ? n & 0xffff : n & 31 }
}

test('expiration times are stored and removed as in a map, in tables of every size', () => {
  const regions = Regions.create(SECRETS)
  const random = new Random(5)
  const right = new Map<number, number>()
  for (let round = 0; round < 60_000; round++) {
    // Mostly puts alternate with mostly removals, so that partitions grow and shrink.
    const n = random.below(6_000)
    if (random.below(10) < (Math.floor(round / 10_000) % 2 === 0 ? 8 : 1)) {
      const expiresAt = random.below(4) === 0 ? YEAR_9999 - n : random.below(2 ** 31) * 3
      setExpiry(regions, factOf(n), expiresAt)
      right.set(n, expiresAt)
    } else {
      clearExpiry(regions, factOf(n))
      right.delete(n)
    }
    expect(expiringCount(regions)).toBe(right.size)
    expect(expiresAtOf(regions, factOf(n))).toBe(right.get(n) ?? null)
    if (round % 5_000 !== 0) continue
    const all: [FactNumbers, number][] = []
    for (let partition = 0; partition < L.EXPIRY_PARTITIONS; partition++) {
      eachExpiring(regions, partition, Infinity, (fact, expiresAt) => all.push([fact, expiresAt]))
    }
    const wanted = [...right].map(([each, expiresAt]) => [factOf(each), expiresAt])
    expect(new Set(all.map(each => JSON.stringify(each)))).toEqual(
      new Set(wanted.map(each => JSON.stringify(each))),
    )
  }
})

test('the table takes no space in the graph while no fact has an expiration time', () => {
  const regions = Regions.create(SECRETS)
  const { header } = regions
  const used = (): number => header[L.H_GRAPH_TOP]! - header[L.H_GRAPH_FREE_WORDS]!
  const before = used()
  for (let n = 0; n < 10_000; n++) setExpiry(regions, factOf(n), n)
  expect(used()).toBeGreaterThan(before)
  for (let n = 0; n < 10_000; n++) clearExpiry(regions, factOf(n))
  expect([used(), expiringCount(regions)]).toEqual([before, 0])
})

test.each([1_000, 30_000, 100_000, 250_000, 450_000, 700_000, 1_000_000])(
  '%i expiration times take at most 32 bytes each',
  count => {
    const regions = Regions.create(SECRETS)
    for (let n = 0; n < count; n++) setExpiry(regions, factOf(n), n)
    const { header } = regions
    const words = header[L.H_GRAPH_TOP]! - header[L.H_GRAPH_FREE_WORDS]!
    expect((words * L.WORD_BYTES) / count).toBeLessThanOrEqual(32)
  },
)

test('storing expiration times allocates at most the space that was computed before', () => {
  const random = new Random(11)
  for (let round = 0; round < 200; round++) {
    const regions = Regions.create(SECRETS)
    for (let n = random.below(3_000); n > 0; n--) setExpiry(regions, factOf(n), n)
    const more = 1 + random.below(400)
    const computed = [...blocksForExpiry(regions, more)].reduce((sum, log2) => sum + (1 << log2), 0)
    const before = regions.header[L.H_GRAPH_TOP]!
    for (let n = 0; n < more; n++) setExpiry(regions, factOf(1_000_000 + n), n)
    expect(regions.header[L.H_GRAPH_TOP]! - before).toBeLessThanOrEqual(computed)
  }
})

describe('the expiration queue', () => {
  const HOUR_MS = 3_600_000

  /** Returns the facts that expire while time advances from wake to wake, each with its time of expiry. */
  function run(queue: ExpiryQueue, regions: Regions, expiresAt: number): [number, number][] {
    const said: [number, number][] = []
    for (let now = 0; now < expiresAt; now = Math.max(now, Math.min(queue.wakeAt, expiresAt))) {
      for (const fact of queue.next(now, 7)) {
        said.push([expiresAtOf(regions, fact)!, now])
        clearExpiry(regions, fact)
      }
      if (queue.wakeAt === Infinity) break
    }
    return said
  }

  test.each([50, 3_000, 20_000])('expires %i facts in order within a day, each at its time', count => {
    const regions = Regions.create(SECRETS)
    const queue = new ExpiryQueue(regions)
    const random = new Random(count)
    const ends = Array.from({ length: count }, () => random.below(24 * HOUR_MS))
    ends.forEach((expiresAt, n) => {
      setExpiry(regions, factOf(n), expiresAt)
      queue.add(factOf(n), expiresAt)
    })
    const said = run(queue, regions, 25 * HOUR_MS)
    expect(said).toEqual(ends.toSorted((one, other) => one - other).map(expiresAt => [expiresAt, expiresAt]))
  })

  test('uses the latest expiration time of a fact, and none after the removal of the time', () => {
    const regions = Regions.create(SECRETS)
    const queue = new ExpiryQueue(regions)
    const put = (n: number, expiresAt: number): void => {
      setExpiry(regions, factOf(n), expiresAt)
      queue.add(factOf(n), expiresAt)
    }
    put(1, 1_000)
    put(2, 2_000)
    expect(queue.next(0, 10)).toEqual([])
    put(1, 3_000)
    clearExpiry(regions, factOf(2))
    put(4, 1_500)
    put(4, 500)
    expect(run(queue, regions, HOUR_MS)).toEqual([
      [500, 500],
      [3_000, 3_000],
    ])
  })

  test('does not know the time of the next expiration until it has scanned all expiration times', () => {
    const regions = Regions.create(SECRETS)
    const queue = new ExpiryQueue(regions)
    expect([queue.wakeAt, queue.expiresFrom]).toEqual([Infinity, Infinity])
    setExpiry(regions, factOf(1), 5 * HOUR_MS)
    expect([queue.wakeAt, queue.expiresFrom]).toEqual([-Infinity, -Infinity])
    expect(queue.next(0, 10)).toEqual([])
    expect(queue.expiresFrom).toBe(HOUR_MS)
    expect(queue.wakeAt).toBeLessThan(HOUR_MS)
  })

  test('expires facts on time even if more facts expire soon than it can hold', () => {
    const regions = Regions.create(SECRETS)
    const queue = new ExpiryQueue(regions)
    const count = 150_000
    setExpiry(regions, factOf(0), 0)
    queue.next(0, 10)
    for (let n = 1; n < count; n++) {
      const expiresAt = (n * 7_919) % HOUR_MS
      setExpiry(regions, factOf(n), expiresAt)
      queue.add(factOf(n), expiresAt)
    }
    const said = run(queue, regions, HOUR_MS)
    expect(said.length).toBe(count - 1)
    expect(said.filter(([expiresAt, now]) => expiresAt !== now)).toEqual([])
  })
  test('does not restart the scan of many facts that expire together when an expiration time is added', () => {
    const regions = Regions.create(SECRETS)
    const queue = new ExpiryQueue(regions)
    const [now, together] = [6_000, 10_000]
    for (let n = 0; n < 100_000; n++) setExpiry(regions, factOf(n), together)
    while (queue.wakeAt <= now) expect(queue.next(now, 10)).toEqual([])
    for (let n = 0; n < 1_000; n++) {
      setExpiry(regions, factOf(100_000 + n), together - 1)
      queue.add(factOf(100_000 + n), together - 1)
      queue.next(now, 10)
      expect(queue.wakeAt).toBe(together - 1)
    }
  })

  test('finishes a scan of many expiration times despite concurrent additions', () => {
    const regions = Regions.create(SECRETS)
    const queue = new ExpiryQueue(regions)
    for (let n = 0; n < 100_000; n++) setExpiry(regions, factOf(n), 10_000)
    let added = 0
    for (; queue.wakeAt <= 0 && added < 1_000; added++) {
      queue.next(0, 10)
      setExpiry(regions, factOf(100_000 + added), 9_999)
      queue.add(factOf(100_000 + added), 9_999)
    }
    expect(added).toBe(L.EXPIRY_PARTITIONS)
    expect(queue.expiresFrom).toBe(9_999)
  })
})
