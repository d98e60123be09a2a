/**
 * All inputs of the fleet simulation: measured rates with their sources, and assumptions. After a new
 * measurement, change the value here. Then run `npm run bench -- scale` and copy the tables into
 * docs/design/fleet-simulation.md.
 */

export interface Input {
  readonly value: number
  readonly unit: string
  /** Source of the value: a file in bench/results or a document. */
  readonly from: string
}

const latency = (value: number, unit: string): Input => ({ value, unit, from: 'intel-xeon/latency.json' })
const firstLoad = (value: number, unit: string): Input => ({
  value,
  unit,
  from: 'intel-xeon/redis-first-load.json',
})
const rates = (value: number, unit: string): Input => ({ value, unit, from: 'amd-epyc/scale-rates.json' })
/**
 * Value that was measured on idle cores. The file with the results is from another run, during which the
 * machine had other load.
 */
const quietRates = (value: number, unit: string): Input => ({
  value,
  unit,
  from: 'bench scale-rates, a run on quiet cores',
})
const assumed = (value: number, unit: string): Input => ({ value, unit, from: 'assumed' })

/** Rates of writes. They were measured on a machine with two cores, which also ran the client. */
export const WRITES = {
  embeddedByOne: { value: 670, unit: 'changes/s', from: 'bench writes, embedded, 1 caller' },
  embeddedByMany: { value: 2_400, unit: 'changes/s', from: 'bench writes, embedded, 64 callers' },
  embeddedInBulks: { value: 8_000, unit: 'facts/s', from: 'bench writes, embedded, bulks of 1,000' },
  redisByOne: { value: 302, unit: 'changes/s', from: 'bench scale-rates, Redis, 1 caller' },
  redisByMany: { value: 1_403, unit: 'changes/s', from: 'bench scale-rates, Redis, 32 callers' },
  // The value is computed. An earlier version imported 18,500 facts/s on idle cores, and the current version
  // is 1.6 times as fast in an alternating comparison.
  imported: { value: 29_600, unit: 'facts/s', from: 'bench import, embedded' },
} as const satisfies Record<string, Input>

export const INPUTS = {
  // Rates of an HTTP thread with 64 connections, each of which sends one check at a time.
  peakChecks: latency(111_800, 'checks/s'),
  roundTripAlone: latency(87, 'µs'),
  clientShareAtPeak: latency(0.744, 'of a core'),
  bulkChecks: { value: 1_622_000, unit: 'checks/s', from: 'intel-xeon/bulk.json' },
  checksPerCollection: {
    value: 480,
    unit: 'checks',
    from: 'docs/performance/experiments.md: 230 a second near the peak',
  },
  collection: { value: 75, unit: 'µs', from: 'docs/performance/experiments.md: 0.05 to 0.11 ms' },
  shortStopsPerSecond: { value: 330, unit: '1/s', from: 'docs/performance/method.md' },
  shortStop: { value: 30, unit: 'µs', from: 'docs/performance/method.md' },
  longStopsPerSecond: { value: 2, unit: '1/s', from: 'docs/performance/method.md: one or two' },
  longStop: { value: 1_500, unit: 'µs', from: 'docs/performance/method.md' },
  // Rates of the index.
  graphBytesPerFact: rates(67.4, 'B'),
  closureBytesPerFact: rates(1.7, 'B'),
  keptBytesPerSecond: rates(600e6, 'B/s'),
  readBytesPerSecond: rates(970e6, 'B/s'),
  // Rates of Redis and of the nodes that follow it.
  loadedPerSecond: firstLoad(57_700, 'facts/s'),
  // Rate of the second half of a load, in which the index is built from the rows of the local replica. When
  // this half ends, the log must still contain all commits since its start.
  indexedPerSecond: { value: 115_000, unit: 'facts/s', from: 'docs/redis-internals.md: half of a load' },
  scannedPerSecond: firstLoad(212_000, 'facts/s'),
  redisBytesPerFact: firstLoad(181, 'B'),
  thingsPerFact: firstLoad(0.303, 'users and instances'),
  heapBytesPerThing: {
    value: 83,
    unit: 'B of V8 heap while an index is made of rows',
    from: 'bench scale-rates, a run of the index alone',
  },
  heapBytesMax: { value: 4_144 * 2 ** 20, unit: 'B', from: 'V8 on a machine of 16 GiB and more' },
  openedAtOnce: {
    value: 4,
    unit: 'environments',
    from: 'src/management/organization/environment-opening.ts',
  },
  startSeconds: { value: 0.54, unit: 's', from: 'docs/ARCHITECTURE.md' },
  diskBytesPerFact: { value: 1_640, unit: 'B', from: 'docs/capacity-planning.md: 1.5 to 1.7 KiB' },
  listsPerSecond: {
    value: 7_350,
    unit: 'facts/s',
    from: 'docs/redis-internals.md: 408 s for 3M, with other work',
  },
  followedPerSecond: quietRates(4_022, 'commits/s'),
  redisPerCommit: quietRates(139, 'µs'),
  redisPerMessage: quietRates(1.37, 'µs'),
  redisPerRead: quietRates(60, 'µs'),
  redisPerCommitRead: rates(3.5, 'µs'),
  // The value is larger than in the older file with results, because the log now also contains the IDs and
  // tenants of changed entities.
  logBytesPerCommit: { value: 774, unit: 'B', from: 'bench scale-rates' },
  sentBytesPerCommit: { value: 818, unit: 'B', from: 'bench scale-rates' },
  rowBytesPerCommit: rates(726, 'B in Redis: instance, role, entry of the audit log'),
  // Constants that are defined in the code.
  graphBytesMax: { value: 2 ** 32, unit: 'B', from: 'src/engine/shared-index/memory/index-buffers.ts' },
  graphShareToWriters: { value: 15 / 16, unit: '', from: 'src/engine/shared-index/write/capacity-check.ts' },
  commitsPerRead: { value: 256, unit: 'commits', from: 'src/store/redis/ledger/redis-log.ts' },
  logEntriesMax: { value: 100_000, unit: 'commits', from: 'LOG_ENTRIES_MAX' },
  keepSecondsMax: { value: 3, unit: 's', from: 'src/threads/indexes/shared-indexes.ts' },
  processBytes: { value: 200e6, unit: 'B', from: 'docs/capacity-planning.md' },
  threadBytes: { value: 45e6, unit: 'B', from: 'docs/capacity-planning.md' },
  // Assumptions, which were not measured.
  rateOfOneAmongMany: assumed(0.8, 'of the rate of a thread alone: more than two cores were not measured'),
  networkOneWay: assumed(100, 'µs between machines of one place'),
} as const satisfies Record<string, Input>

const MICRO = 1e-6

export const seconds = (input: Input): number => input.value * MICRO
