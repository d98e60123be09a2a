/**
 * Tables that compare two designs: full copies, and indexes by tenant. They show the resources that a fleet
 * of each design needs, and the effect of tenants of different sizes.
 */
import { type FleetPlan, type FleetRun, runFleet, wholeCopies } from './fleet.ts'
import { INPUTS as I } from './inputs.ts'
import {
  byHash,
  byTable,
  place,
  type PlaceOptions,
  type Shard,
  type Tenants,
  zipfTenants,
} from './placement.ts'
import {
  CHECKS,
  diskOf,
  FACTS,
  FEW_THREADS,
  FULL_INDEX,
  indexBytesOf,
  loadHeapOf,
  memoryOf,
  redisBytesOf,
  THREADS,
} from './sizes.ts'
import { duration, gigabytes, millions, ms, percent, printTable } from './tables.ts'

const TENANTS = 100_000
const INDEXES = 64
const CHANGES = 2_000
const RUN_SECONDS = 1.2

export function printDesigns(): void {
  process.stdout.write(
    `\nA full index: ${millions(FULL_INDEX)} facts, ${gigabytes(indexBytesOf(FULL_INDEX))}, in Redis ${gigabytes(redisBytesOf(FULL_INDEX))}; ` +
      `10^9 facts: ${gigabytes(indexBytesOf(FACTS))} of index, ${gigabytes(redisBytesOf(FACTS))} in Redis, ${gigabytes(diskOf(FACTS))} on the disk of a node. ` +
      `A stop keeps ${millions((I.keepSecondsMax.value * I.keptBytesPerSecond.value) / indexBytesOf(1))} facts at most. ` +
      `All rows are read out of Redis in ${duration(FACTS / I.scannedPerSecond.value)}. A log of ${I.logEntriesMax.value.toLocaleString('en-US')} small changes takes ${Math.round((I.logEntriesMax.value * I.logBytesPerCommit.value) / 1e6)} MB; each leaves ${I.rowBytesPerCommit.value} bytes of rows. ` +
      `To make a full index of rows takes ${gigabytes(loadHeapOf(FULL_INDEX), 1)} of V8's heap, of ${gigabytes(I.heapBytesMax.value, 1)}; ${I.openedAtOnce.value} environments are opened at once.\n`,
  )
  printCosts()
  printSkew()
}

function printCosts(): void {
  const fleets = [
    [3, 3, THREADS],
    [4, 4, THREADS],
    [8, 8, FEW_THREADS],
    [4, 2, THREADS],
    [8, 2, FEW_THREADS],
    [16, 2, FEW_THREADS],
  ] as const
  const shards = byTable(zipfTenants({ count: TENANTS, facts: FACTS, exponent: 0.8 }), INDEXES)
  printTable(
    `${millions(FACTS)} facts, ${CHECKS.toLocaleString('en-US')} checks/s, ${CHANGES.toLocaleString('en-US')} commits/s`,
    [
      'Nodes',
      'cores',
      'copies',
      'facts a node',
      'memory a node',
      'of all',
      'disk a node',
      'of all',
      'applies/s',
      'busy',
      'p99',
      'one lost: busiest',
      'p99',
      'loads in',
    ],
    fleets.map(([nodes, copies, threads]) => {
      const isWhole = nodes === copies
      const placed = isWhole
        ? { pieces: wholeCopies(nodes), facts: Array.from({ length: nodes }, () => FACTS) }
        : place(shards, { nodes, copies })
      const facts = Math.max(...placed.facts)
      const applies = (CHANGES * copies) / nodes
      const all = measure({ nodes, threads, pieces: placed.pieces })
      const without = measure({ nodes, threads, pieces: placed.pieces, lost: 0 })
      return [
        nodes,
        threads + 1,
        isWhole ? `${copies}: all have all` : copies,
        millions(facts),
        gigabytes(memoryOf(facts, threads)),
        gigabytes(memoryOf(facts, threads) * nodes),
        gigabytes(diskOf(facts)),
        gigabytes(diskOf(facts) * nodes),
        Math.round(applies),
        percent(Math.max(...all.busy)),
        ms(all.latencies.at(0.99)),
        ...toldLoss(without),
        duration(facts / I.loadedPerSecond.value),
      ]
    }),
  )
}

function printSkew(): void {
  const nodes = 8
  const threads = FEW_THREADS
  const of = (options: {
    readonly exponent?: number
    readonly giantShare?: number
    readonly hotShare?: number
  }) => zipfTenants({ count: TENANTS, facts: FACTS, exponent: 0.8, ...options })
  const byFacts = of({})
  const steep = of({ exponent: 1 })
  const giant = of({ giantShare: 0.3 })
  const large = of({ giantShare: 0.05 })
  const hot = of({ hotShare: 0.25 })
  const busyMax = 0.5 / nodes
  const ways: readonly (readonly [string, Tenants, string, readonly Shard[], Partial<PlaceOptions>])[] = [
    ['Zipf 0.8', byFacts, 'by hash', byHash(byFacts, INDEXES), {}],
    ['the same', byFacts, 'by table', byTable(byFacts, INDEXES), {}],
    ['the same', byFacts, 'by table, nodes in pairs', byTable(byFacts, INDEXES), { isSpread: false }],
    ['Zipf 1.0', steep, 'by table', byTable(steep, INDEXES), {}],
    ['Zipf 0.8, a giant of 5 %', large, 'by hash', byHash(large, INDEXES), {}],
    ['the same', large, 'by table', byTable(large, INDEXES), {}],
    ['Zipf 0.8, a giant of 30 %', giant, 'by table', byTable(giant, INDEXES), {}],
    ['Zipf 0.8, a small one has 25 % of the checks', hot, 'by table', byTable(hot, INDEXES), {}],
    ['the same', hot, 'by table, more copies', byTable(hot, INDEXES), { shareMax: busyMax }],
  ]
  const rows = ways.map(([what, tenants, how, shards, options]) => {
    const placed = place(shards, { nodes, copies: 2, ...options })
    const run = measure({ nodes, threads, pieces: placed.pieces })
    const without = measure({ nodes, threads, pieces: placed.pieces, lost: busiest(run) })
    const largest = Math.max(...shards.map(({ facts }) => facts))
    return [
      what,
      millions(tenants.facts[0]!),
      how,
      `${millions(largest)}${largest > FULL_INDEX ? ': too large' : ''}`,
      gigabytes(memoryOf(Math.max(...placed.facts), threads)),
      ...toldLoss(run),
      ...toldLoss(without),
    ]
  })
  const whole = wholeCopies(nodes)
  rows.push([
    'any',
    '–',
    'whole copies',
    millions(FACTS),
    gigabytes(memoryOf(FACTS, threads)),
    ...toldLoss(measure({ nodes, threads, pieces: whole })),
    ...toldLoss(measure({ nodes, threads, pieces: whole, lost: 0 })),
  ])
  printTable(
    `${nodes} nodes of ${threads + 1} cores, ${TENANTS.toLocaleString('en-US')} tenants in ${INDEXES} indexes of two copies, checks as facts`,
    [
      'Tenants',
      'largest',
      'placed',
      'largest index',
      'fullest node',
      'busiest node',
      'p99',
      'that one lost: busiest',
      'p99',
    ],
    rows,
  )
  printForwarding({ nodes, threads, pieces: place(byTable(byFacts, INDEXES), { nodes, copies: 2 }).pieces })
}

function measure(plan: Omit<FleetPlan, 'checksPerSecond'>): FleetRun {
  return runFleet({ ...plan, checksPerSecond: CHECKS }, RUN_SECONDS)
}

function busiest({ busy }: FleetRun): number {
  return busy.indexOf(Math.max(...busy))
}

/** If a queue grows during the whole measurement, its latency has no percentiles. */
function toldLoss({ busy, latencies }: FleetRun): readonly [string, string] {
  const most = Math.max(...busy)
  return most > 0.98 ? ['over', '–'] : [percent(most), ms(latencies.at(0.99))]
}

function printForwarding(plan: Omit<FleetPlan, 'checksPerSecond'>): void {
  const ways = [
    ['none: the caller or the balancer knows', 0],
    ['one in ten: a table that is old', 0.1],
    ['three in four: any node is asked, two of eight have it', 0.75],
  ] as const
  printTable(
    'The same by table, Zipf 0.8: checks that come to a node without the tenant',
    ['Checks', 'busiest node', 'p50', 'p99'],
    ways.map(([what, forwardedShare]) => {
      const run = measure({ ...plan, forwardedShare })
      return [what, percent(Math.max(...run.busy)), ms(run.latencies.at(0.5)), ms(run.latencies.at(0.99))]
    }),
  )
}
