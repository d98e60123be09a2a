/**
 * Properties that the simulation must have before its tables can be used. They concern fleets, tenants, logs
 * and starts.
 */
import assert from 'node:assert/strict'
import { runFleet, wholeCopies } from './fleet.ts'
import { INPUTS as I, seconds } from './inputs.ts'
import { byHash, byTable, place, zipfTenants } from './placement.ts'
import { runLog } from './propagation.ts'
import { runStart } from './starts.ts'
import type { Comparison } from './verification.ts'

/** A figure in the format of `bench/results`. */
interface MeasuredFigure {
  readonly figure: string
  readonly reached: string
}

function compare(what: string, expected: number, found: number, tolerance: number): Comparison {
  return { what, expected, found, tolerance }
}

/** Compares simulated fleets, tenants, logs and starts with values that follow directly from their inputs. */
export function compareWithInputs(): Comparison[] {
  return [...fleetComparisons(), ...tenantComparisons(), ...logComparisons(), ...startComparisons()]
}

const FLEET = { nodes: 4, threads: 2, pieces: wholeCopies(4), checksPerSecond: 200_000 }

function fleetComparisons(): Comparison[] {
  const perThread = I.peakChecks.value * I.rateOfOneAmongMany.value
  const [, ...others] = runFleet({ ...FLEET, lost: 0 }, 1).busy
  const onePiece = runFleet({ ...FLEET, checksPerSecond: 50_000, pieces: [{ share: 1, nodes: [2] }] }, 0.5)
  assert.deepEqual(
    onePiece.busy.map(share => share > 0.1),
    [false, false, true, false],
    'only a node with the piece is asked',
  )
  const meanOf = (seed: number) => runFleet(FLEET, 0.3, seed).latencies.mean
  assert.equal(meanOf(5), meanOf(5), 'one seed gives one run')
  assert.notEqual(meanOf(5), meanOf(6), 'another seed gives another run')
  return [
    ...runFleet(FLEET, 1).busy.map(busy => compare('busy node of four', 200_000 / 8 / perThread, busy, 0.1)),
    ...others.map(busy => compare('busy node of three', 200_000 / 6 / perThread, busy, 0.1)),
  ]
}

const TENANTS = { count: 10_000, facts: 1e8, exponent: 0.8 }

function tenantComparisons(): Comparison[] {
  const tenants = zipfTenants(TENANTS)
  const shards = byTable(tenants, 64)
  const heirs = (isSpread: boolean) => {
    const { pieces } = place(shards, { nodes: 8, copies: 2, isSpread })
    for (const { nodes } of pieces) assert.equal(new Set(nodes).size, 2, 'copies are on different nodes')
    return new Set(pieces.filter(({ nodes }) => nodes.includes(0)).flatMap(({ nodes }) => nodes)).size - 1
  }
  assert.equal(heirs(true), 7, 'spread copies of a lost node are on all other nodes')
  assert.ok(heirs(false) < 4, 'copies that are not spread are on few nodes')
  const hot = place(byTable(zipfTenants({ ...TENANTS, hotShare: 0.4 }), 64), {
    nodes: 8,
    copies: 2,
    shareMax: 0.0625,
  })
  const copies = hot.pieces.map(({ nodes }) => nodes.length).slice(0, 2)
  assert.deepEqual(copies, [7, 2], 'a busy tenant has more copies')
  const sizes = byTable(tenants, 16).map(({ facts }) => facts)
  assert.ok(Math.max(...sizes) < 1.05 * Math.min(...sizes), 'a table makes indexes of the same size')
  return [byHash(tenants, 16), byTable(tenants, 16)].flatMap(placed => [
    compare(
      'facts of all indexes',
      1e8,
      placed.reduce((sum, { facts }) => sum + facts, 0),
      1e-4,
    ),
    compare(
      'shares of all indexes',
      1,
      placed.reduce((sum, { share }) => sum + share, 0),
      1e-6,
    ),
  ])
}

function logComparisons(): Comparison[] {
  const quiet = runLog({ commitsPerSecond: 20, followers: 1 }, 60).each
  const read = seconds(I.redisPerRead) + seconds(I.redisPerCommitRead)
  const whole = 3 * seconds(I.networkOneWay) + read + 1 / I.followedPerSecond.value
  const othersPerSecond = I.followedPerSecond.value / 2 - 20
  const beside = runLog({ commitsPerSecond: 20, followers: 1, othersPerSecond }, 60)
  assert.ok(beside.each.mean > quiet.mean, 'other logs delay a log')
  const excess = 0.2 * I.followedPerSecond.value
  const { behind } = runLog({ commitsPerSecond: 6 * excess, followers: 1 }, 10)
  return [
    compare('a log without a queue, p50', whole, quiet.at(0.5), 0.05),
    compare('a node that follows several logs, busy', 0.5, beside.followerBusy, 0.1),
    compare('a log with too many commits, lag', 10 * excess, behind, 0.5),
  ]
}

function startComparisons(): Comparison[] {
  const plan = { facts: 6e6, indexes: 3, commitsPerSecond: 10, logEntries: 100_000, has: 'nothing' } as const
  const { first, all } = runStart(plan)
  const whole = I.startSeconds.value + 6e6 / I.loadedPerSecond.value
  const withWrites = runStart({ ...plan, commitsPerSecond: I.followedPerSecond.value / 2 }).all!
  assert.ok(withWrites > 1.3 * all!, 'writes delay a start')
  assert.ok(runStart({ ...plan, has: 'indexes', stoppedFor: 60 }).all! < 5, 'saved indexes load immediately')
  const endless = runStart({ ...plan, indexes: 1, logEntries: 100 })
  assert.deepEqual([endless.all, endless.inVain], [null, 3], 'a log shorter than a load never ends a start')
  return [
    compare('a start, all indexes', whole, all!, 0.05),
    compare('a start, the first of three indexes', whole / 3, first!, 0.15),
  ]
}

/**
 * Checks that the simulated node follows 500 commits per second as fast as the measured one. The measured
 * delay also contains the request with which it was observed.
 */
export function checkPropagation(figures: readonly MeasuredFigure[]): void {
  const p50Of = (begin: string): number =>
    Number.parseFloat(figures.find(({ figure }) => figure.startsWith(begin))!.reached)
  const measured = p50Of('answered by one, decided by on the other: p50')
  const found = runLog({ commitsPerSecond: 500, followers: 1 }, 20).each.at(0.5) * 1e3
  assert.ok(found < measured, `p50 of ${found} ms is not below the measured ${measured} ms`)
  assert.ok(found > measured - p50Of('floor'), `p50 of ${found} ms is below the measured floor`)
}
