/** The simulation of fleets behind docs/scale.md: held to queueing theory in closed form, and to what was measured of one thread and of two nodes. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { runFleet, wholeCopies } from '#testing/simulation/fleet.ts'
import { INPUTS as I, seconds } from '#testing/simulation/inputs.ts'
import { byHash, byTable, place, zipfTenants } from '#testing/simulation/placement.ts'
import { runLog } from '#testing/simulation/propagation.ts'
import { runStart } from '#testing/simulation/starts.ts'
import { compareWithLadder, compareWithTheory, isOff } from '#testing/simulation/verification.ts'

function recorded(name: string) {
  const path = new URL(`../../bench/results/intel-xeon/${name}.json`, import.meta.url)
  return JSON.parse(readFileSync(path, 'utf8'))
}

describe('a station', () => {
  test('makes jobs wait as theory says, at every load: M/M/1, M/D/1, M/G/1, with a server that sleeps, and with one that is stopped', () => {
    const comparisons = compareWithTheory()
    expect(comparisons.length).toBeGreaterThan(25)
    expect(comparisons.filter(isOff)).toEqual([])
  })

  test('that is an HTTP thread answers as the measured one did, near its peak and beyond', () => {
    const comparisons = compareWithLadder(recorded('latency').raw.rungs)
    expect(comparisons).toHaveLength(12)
    expect(comparisons.filter(isOff)).toEqual([])
  })
})

describe('a fleet', () => {
  const plan = { nodes: 4, threads: 2, pieces: wholeCopies(4), checksPerSecond: 200_000 }

  test('is as busy as its checks make it, and the others do what a lost node did', () => {
    const perThread = I.peakChecks.value * I.rateOfOneAmongMany.value
    const [, ...others] = runFleet({ ...plan, lost: 0 }, 1).busy
    for (const busy of runFleet(plan, 1).busy) expect(busy).toBeCloseTo(200_000 / 8 / perThread, 1)
    for (const busy of others) expect(busy).toBeCloseTo(200_000 / 6 / perThread, 1)
  })

  test('asks those alone who have the piece', () => {
    const { busy } = runFleet({ ...plan, checksPerSecond: 50_000, pieces: [{ share: 1, nodes: [2] }] }, 0.5)
    expect(busy.map(share => share > 0.1)).toEqual([false, false, true, false])
  })

  test('is the same for one seed, and another for another', () => {
    const p99 = (seed: number) => runFleet(plan, 0.3, seed).latencies.mean
    expect(p99(5)).toBe(p99(5))
    expect(p99(5)).not.toBe(p99(6))
  })
})

describe('tenants', () => {
  const tenants = zipfTenants({ count: 10_000, facts: 1e8, exponent: 0.8 })

  test('are all there, whether a hash places them or a table, which makes indexes alike', () => {
    for (const shards of [byHash(tenants, 16), byTable(tenants, 16)]) {
      expect(shards.reduce((sum, { facts }) => sum + facts, 0)).toBeCloseTo(1e8, -4)
      expect(shards.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1, 6)
    }
    const sizes = byTable(tenants, 16).map(({ facts }) => facts)
    expect(Math.max(...sizes)).toBeLessThan(1.05 * Math.min(...sizes))
  })

  test('have copies on different nodes; where they are spread, nobody inherits all of a lost node', () => {
    const shards = byTable(tenants, 64)
    const heirs = (isSpread: boolean) => {
      const { pieces } = place(shards, { nodes: 8, copies: 2, isSpread })
      for (const { nodes } of pieces) expect(new Set(nodes).size).toBe(2)
      return new Set(pieces.filter(({ nodes }) => nodes.includes(0)).flatMap(({ nodes }) => nodes)).size - 1
    }
    expect(heirs(true)).toBe(7)
    expect(heirs(false)).toBeLessThan(4)
  })

  test('that are busy get more copies', () => {
    const hot = byTable(zipfTenants({ count: 10_000, facts: 1e8, exponent: 0.8, hotShare: 0.4 }), 64)
    const { pieces } = place(hot, { nodes: 8, copies: 2, shareMax: 0.0625 })
    expect(pieces.map(({ nodes }) => nodes.length).slice(0, 2)).toEqual([7, 2])
  })
})

describe('a log', () => {
  test('is followed without a line in the time of its parts: message, way there, read, way back, apply', () => {
    const { each } = runLog({ commitsPerSecond: 20, followers: 1 }, 60)
    const read = seconds(I.redisPerRead) + seconds(I.redisPerCommitRead)
    const whole = 3 * seconds(I.networkOneWay) + read + 1 / I.followedPerSecond.value
    expect(each.at(0.5) / whole).toBeCloseTo(1, 1)
  })

  test('is followed by one node at 500 commits a second as was measured, but for the question by which that was seen', () => {
    const { figures } = recorded('redis-propagation')
    const p50Of = (begin: string): number =>
      Number.parseFloat(figures.find(({ figure }: { figure: string }) => figure.startsWith(begin)).reached)
    const seen = p50Of('answered by one, decided by on the other: p50')
    const found = runLog({ commitsPerSecond: 500, followers: 1 }, 20).each.at(0.5) * 1e3
    expect(found).toBeLessThan(seen)
    expect(found).toBeGreaterThan(seen - p50Of('floor'))
  })

  test('is one of several that a node follows: all of them keep it busy', () => {
    const half = I.followedPerSecond.value / 2
    const { followerBusy, each } = runLog(
      { commitsPerSecond: 20, followers: 1, othersPerSecond: half - 20 },
      60,
    )
    expect(followerBusy).toBeCloseTo(0.5, 1)
    expect(each.mean).toBeGreaterThan(runLog({ commitsPerSecond: 20, followers: 1 }, 60).each.mean)
  })

  test('that has more commits than a node can apply leaves it behind', () => {
    const commitsPerSecond = 1.2 * I.followedPerSecond.value
    const { behind } = runLog({ commitsPerSecond, followers: 1 }, 10)
    expect(behind / (10 * 0.2 * I.followedPerSecond.value)).toBeCloseTo(1, 0)
  })
})

describe('a start', () => {
  const plan = { facts: 6e6, indexes: 3, commitsPerSecond: 10, logEntries: 100_000, has: 'nothing' } as const

  test('takes what its facts take, and its indexes decide one after the other', () => {
    const { first, all } = runStart(plan)
    const whole = I.startSeconds.value + 6e6 / I.loadedPerSecond.value
    expect(all! / whole).toBeCloseTo(1, 1)
    expect(first! / whole).toBeCloseTo(1 / 3, 1)
  })

  test('takes longer by what is written meanwhile, and no time at all where indexes were kept', () => {
    const alone = runStart(plan).all!
    const beside = runStart({ ...plan, commitsPerSecond: I.followedPerSecond.value / 2 }).all!
    expect(beside).toBeGreaterThan(1.3 * alone)
    expect(runStart({ ...plan, has: 'indexes', stoppedFor: 60 }).all).toBeLessThan(5)
  })

  test('never ends where the log is shorter than a load', () => {
    const { all, inVain } = runStart({ ...plan, indexes: 1, logEntries: 100 })
    expect([all, inVain]).toEqual([null, 3])
  })
})
