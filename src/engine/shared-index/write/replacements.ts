/**
 * Replaces the block of a slab or of a string-table partition with a larger or smaller one. If it has very
 * many entries, copying them takes milliseconds, for which readers should not wait. The new block is
 * therefore filled while readers continue, and is installed in a short critical section.
 *
 *   lock · allocate · unlock   fill (no lock: the block is private)  critical section: descriptor → new block
 *
 * Invariant: the copied data does not change between filling and installing. Only the writer changes slabs
 * and tables, and it does not do so in between. Closure builders can run at the same time, but they change
 * neither slabs nor tables.
 */
import { allocate, hasBlock } from '#engine/shared-index/memory/allocator.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import {
  blockLog2,
  capacityLog2,
  copySlab,
  isSparse,
  replaceBlock,
  type Width,
} from '#engine/shared-index/memory/slab.ts'
import * as table from '#engine/shared-index/memory/string-table.ts'

/**
 * Log2 of the entries from which a block is large. Smaller blocks are replaced in the critical section that
 * needs it, which takes some microseconds.
 */
const LARGE_LOG2 = 9

/**
 * Returns whether a slab or partition of 2^log2 entries is large, so that it is replaced before the critical
 * section.
 */
export function isLarge(log2: number): boolean {
  return log2 >= LARGE_LOG2
}

export class Replacements {
  readonly #regions: Regions
  readonly #locked: (work: () => void) => void
  /** Functions that install the filled blocks. */
  #ready: (() => void)[] = []

  /** `locked` is a function that runs its argument with the lock held. */
  constructor(regions: Regions, locked: (work: () => void) => void) {
    this.#regions = regions
    this.#locked = locked
  }

  /**
   * If the slab is large and its capacity is not sufficient for `entriesMore` more entries, prepares a larger
   * block. Needs no lock.
   */
  growSlab(descriptor: number, width: Width, entriesMore: number): void {
    const meta = this.#regions.graph[descriptor + 1]!
    const log2 = meta & L.LOG2_MASK
    if (log2 === L.INLINE || !isLarge(log2)) return
    const wanted = capacityLog2((meta >>> L.COUNT_SHIFT) + entriesMore)
    if (wanted > log2) this.#fillSlab(descriptor, width, wanted)
  }

  /** Like `growSlab`, for a partition of the string table. Needs no lock. */
  growPartition(partition: number, keysMore: number): void {
    const { header } = this.#regions
    const log2 = header[L.H_PARTITIONS + (partition << 1) + 1]! & L.LOG2_MASK
    const wanted = table.slotsLog2(header, partition, keysMore)
    if (isLarge(log2) && wanted > log2) this.#fillPartition(partition, wanted)
  }

  /** Returns whether a large slab or a partition is mostly empty and can be shrunk. */
  isShrinkingNeeded(): boolean {
    return this.#regions.sparse.size > 0 || this.#sparsePartition() >= 0
  }

  /** Prepares a block of half the size for one slab or partition that is mostly empty. Needs no lock. */
  shrinkOne(): void {
    const { graph, header, sparse } = this.#regions
    for (const [descriptor, width] of sparse) {
      sparse.delete(descriptor)
      const meta = graph[descriptor + 1]!
      const log2 = capacityLog2((meta >>> L.COUNT_SHIFT) * 2)
      // If there is no space for the smaller block, the slab keeps its block until the next removal.
      if (!isSparse(meta) || !hasBlock(this.#regions, blockLog2(log2, width))) continue
      return this.#fillSlab(descriptor, width, log2)
    }
    const partition = this.#sparsePartition()
    if (partition < 0) return
    const meta = header[L.H_PARTITIONS + (partition << 1) + 1]!
    this.#fillPartition(partition, (meta & L.LOG2_MASK) - 1)
  }

  /**
   * Returns a partition that is mostly empty and for which a smaller block can be allocated, or -1 if there
   * is none.
   */
  #sparsePartition(): number {
    const { header } = this.#regions
    const partition = table.nextSparse(header, 0)
    if (partition < 0) return partition
    const log2 = header[L.H_PARTITIONS + (partition << 1) + 1]! & L.LOG2_MASK
    return hasBlock(this.#regions, log2) ? partition : -1
  }

  /** Installs the prepared blocks. Requires the lock and a critical section. */
  install(): void {
    for (const install of this.#ready) install()
    this.#ready = []
  }

  #fillSlab(descriptor: number, width: Width, log2: number): void {
    const block = this.#allocateZeroed(blockLog2(log2, width))
    copySlab(this.#regions.graph, descriptor, width, block, log2)
    this.#ready.push(() => replaceBlock(this.#regions, descriptor, width, block, log2))
  }

  #fillPartition(partition: number, log2: number): void {
    const at = L.H_PARTITIONS + (partition << 1)
    const block = this.#allocateZeroed(log2 + 1)
    table.copyPartition(this.#regions, at, block, log2)
    this.#ready.push(() => table.replacePartition(this.#regions, at, block, log2))
  }

  /** Faults in new pages now, while no reader waits. */
  #allocateZeroed(log2: number): number {
    let block = 0
    this.#locked(() => {
      block = allocate(this.#regions, log2)
    })
    this.#regions.graph.fill(0, block, block + (1 << log2))
    return block
  }
}
