/** Requirements of the fleet, and the resources that the facts of a node need. */
import { INPUTS as I } from './inputs.ts'

export const FACTS = 1e9
export const CHECKS = 1e6
/** HTTP threads of a machine of 8 cores, and of one of 4: one core is for the main thread. */
export const THREADS = 7
export const FEW_THREADS = 3
const BYTES_PER_FACT = I.graphBytesPerFact.value + I.closureBytesPerFact.value
/** Facts of the measured shape that fill an index. */
export const FULL_INDEX = (I.graphBytesMax.value * I.graphShareToWriters.value) / I.graphBytesPerFact.value

/** Excludes the page cache for the local replica. */
export const memoryOf = (facts: number, threads: number): number =>
  facts * BYTES_PER_FACT + I.processBytes.value + threads * I.threadBytes.value

/** The replica, and two index snapshots while a new one is written. */
export const diskOf = (facts: number): number => facts * (I.diskBytesPerFact.value + 2 * BYTES_PER_FACT)

/** Facts and their entities, with an entity counted as a fact. */
export const redisBytesOf = (facts: number): number =>
  facts * (1 + I.thingsPerFact.value) * I.redisBytesPerFact.value

export const indexBytesOf = (facts: number): number => facts * BYTES_PER_FACT

/** V8 heap while an index of this many facts is built from rows. */
export const loadHeapOf = (facts: number): number => facts * I.thingsPerFact.value * I.heapBytesPerThing.value
