/**
 * Replaces the block of a slab or of a string-table partition by a larger or smaller one. With very many entries a copy
 * takes milliseconds, too long for readers to wait. So the new block is filled while readers go on, and installed in a
 * section in no time.
 *
 *   lock · allocate · unlock      fill (no lock: nobody knows the block)      section: descriptor → new block
 *
 * Invariant: nothing changes what was copied between filling and installing. Only the writer changes slabs and tables,
 * and it does not in between. Closure builders may run meanwhile and change neither.
 */
import { allocate, hasBlock } from '#engine/shared-index/memory/allocator.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/regions.ts'
import {
  blockLog2,
  capacityLog2,
  copySlab,
  isSparse,
  replaceBlock,
} from '#engine/shared-index/memory/slab.ts'
import type { Width } from '#engine/shared-index/memory/slab.ts'
import * as table from '#engine/shared-index/memory/string-table.ts'

/** Smaller blocks are replaced in the section that needs it, in some microseconds. */
const LARGE_LOG2 = 9

/** Whether a slab or partition of 2^log2 entries is replaced ahead of the section. */
export function isLarge(log2: number): boolean {
  return log2 >= LARGE_LOG2
}

export class Replacements {
  readonly #regions: Regions
  readonly #locked: (work: () => void) => void
  /** Functions that install the filled blocks. */
  #ready: (() => void)[] = []

  /** `locked` runs its argument with the lock held. */
  constructor(regions: Regions, locked: (work: () => void) => void) {
    this.#regions = regions
    this.#locked = locked
  }

  /** Prepares a larger block if the slab is large and has no room for `entriesMore` more entries. No lock. */
  growSlab(descriptor: number, width: Width, entriesMore: number): void {
    const meta = this.#regions.graph[descriptor + 1]!
    const log2 = meta & L.LOG2_MASK
    if (log2 === L.INLINE || !isLarge(log2)) return
    const wanted = capacityLog2((meta >>> L.COUNT_SHIFT) + entriesMore)
    if (wanted > log2) this.#fillSlab(descriptor, width, wanted)
  }

  /** As `growSlab`, for a partition of the string table. No lock. */
  growPartition(partition: number, keysMore: number): void {
    const { header } = this.#regions
    const log2 = header[L.H_PARTITIONS + (partition << 1) + 1]! & L.LOG2_MASK
    const wanted = table.slotsLog2(header, partition, keysMore)
    if (isLarge(log2) && wanted > log2) this.#fillPartition(partition, wanted)
  }

  /** Whether a large slab or a partition is mostly empty. */
  isShrinkingNeeded(): boolean {
    return this.#regions.sparse.size > 0 || this.#sparsePartition() >= 0
  }

  /** Prepares a block of half the size for one that is mostly empty. No lock. */
  shrinkOne(): void {
    const { graph, header, sparse } = this.#regions
    for (const [descriptor, width] of sparse) {
      sparse.delete(descriptor)
      const meta = graph[descriptor + 1]!
      const log2 = capacityLog2((meta >>> L.COUNT_SHIFT) * 2)
      // Without room the slab stays as it is until the next removal.
      if (!isSparse(meta) || !hasBlock(this.#regions, blockLog2(log2, width))) continue
      return this.#fillSlab(descriptor, width, log2)
    }
    const partition = this.#sparsePartition()
    if (partition < 0) return
    const meta = header[L.H_PARTITIONS + (partition << 1) + 1]!
    this.#fillPartition(partition, (meta & L.LOG2_MASK) - 1)
  }

  /** A partition that is mostly empty and has room for a smaller block; -1 if there is none. */
  #sparsePartition(): number {
    const { header } = this.#regions
    const partition = table.nextSparse(header, 0)
    if (partition < 0) return partition
    const log2 = header[L.H_PARTITIONS + (partition << 1) + 1]! & L.LOG2_MASK
    return hasBlock(this.#regions, log2) ? partition : -1
  }

  /** Installs the prepared blocks. Lock held, in a section. */
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

  /** New pages are faulted in here, while no reader waits. */
  #allocateZeroed(log2: number): number {
    let block = 0
    this.#locked(() => {
      block = allocate(this.#regions, log2)
    })
    this.#regions.graph.fill(0, block, block + (1 << log2))
    return block
  }
}
