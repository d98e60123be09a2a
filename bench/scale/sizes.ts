/** Requirements of the fleet, and the resources that a node needs for its facts. */
import { INPUTS as I } from './inputs.ts'

export const FACTS = 1e9
export const CHECKS = 1e6
/**
 * Number of HTTP threads on a machine with 8 cores, and on one with 4. One core is reserved for the main
 * thread.
 */
export const THREADS = 7
export const FEW_THREADS = 3
const BYTES_PER_FACT = I.graphBytesPerFact.value + I.closureBytesPerFact.value
/** Number of facts that fill an index, if they have the same shape as the measured facts. */
export const FULL_INDEX = (I.graphBytesMax.value * I.graphShareToWriters.value) / I.graphBytesPerFact.value

/** Memory of a node in bytes, without the page cache for the local replica. */
export const memoryOf = (facts: number, threads: number): number =>
  facts * BYTES_PER_FACT + I.processBytes.value + threads * I.threadBytes.value

/**
 * Disk space of a node in bytes: the replica and two index snapshots, because the old snapshot still exists
 * while a new one is written.
 */
export const diskOf = (facts: number): number => facts * (I.diskBytesPerFact.value + 2 * BYTES_PER_FACT)

/** Memory in Redis for facts and their entities. An entity counts as one fact. */
export const redisBytesOf = (facts: number): number =>
  facts * (1 + I.thingsPerFact.value) * I.redisBytesPerFact.value

export const indexBytesOf = (facts: number): number => facts * BYTES_PER_FACT

/** V8 heap in bytes while an index with this number of facts is built from rows. */
export const loadHeapOf = (facts: number): number => facts * I.thingsPerFact.value * I.heapBytesPerThing.value
