/**
 * Checks whether the memory of the graph is sufficient for a commit. The check runs twice. It first runs in
 * the process that is about to commit, which reserves the memory until the commit is applied. It runs again
 * in the writer of each node before the writer changes anything, because a commit of another node was only
 * checked against the index of that node.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import type { Change } from '#model/change.ts'
import { AuthzError } from '#model/errors.ts'
import { type BlockCounts, blocksFor, hasCapacity, noBlocks } from './commit-capacity.ts'
import type { NameLookups } from './names.ts'

/** One sixteenth of the graph is reserved for commits that other nodes have accepted. */
const SPARE_PART = 16
/** One 256th of the graph is reserved for closure heads that readers allocate. */
const SPARE_FOR_READERS = 256
/**
 * Upper bound of the growth: if all slabs and tables double, they take at most this many times the used
 * space, including fragmentation.
 */
const DOUBLING = 5
/**
 * Upper bound of the words of one change: a record with the longest key, a container, and the first blocks of
 * its slabs. Attributes are not included.
 */
const WORDS_PER_CHANGE = 1_024
/** Upper bound of the words of all attributes of a commit, whose request bodies have a maximum size. */
const ATTRIBUTE_WORDS_MAX = 1 << 25

export class CapacityCheck {
  readonly #regions: Regions
  readonly #names: NameLookups
  /** Blocks that are reserved for commits in progress. */
  readonly #reserved: BlockCounts = noBlocks()

  constructor(regions: Regions, names: NameLookups) {
    this.#regions = regions
    this.#names = names
  }

  /**
   * Reserves memory for a commit that is about to be made, so that other commits do not use it. Returns a
   * function that releases the reservation. Call that function when the commit has been applied or has
   * failed. Throws `LIMIT_EXCEEDED` if the memory is not sufficient for this commit, the reservations and the
   * sixteenth for other nodes. O(changes) if little memory is left.
   */
  reserve(changes: readonly Change[]): () => void {
    if (this.#isAlwaysSufficient(changes)) return () => {}
    const blocks = blocksFor(changes, this.#regions, this.#names)
    if (!hasBlocks(blocks)) return () => {}
    const held = this.#reserved
    addTo(held, blocks, 1)
    const release = (): void => addTo(held, blocks, -1)
    if (hasCapacity(this.#regions, held, this.#regions.graphWordsMax / SPARE_PART)) return release
    release()
    throw indexFull()
  }

  /**
   * Checks in the writer, before anything is changed, whether the memory is sufficient. Throws
   * `LIMIT_EXCEEDED` if it is not. O(changes) if little memory is left.
   */
  require(changes: readonly Change[]): void {
    if (this.#isAlwaysSufficient(changes)) return
    // Keeps memory free for closure heads, which readers can allocate until the critical section begins.
    const spare = this.#regions.graphWordsMax / SPARE_FOR_READERS
    if (!hasCapacity(this.#regions, blocksFor(changes, this.#regions, this.#names), spare)) throw indexFull()
  }

  /**
   * Returns whether the memory would be sufficient even if every slab and table doubled. If so, the exact
   * demand need not be computed.
   */
  #isAlwaysSufficient(changes: readonly Change[]): boolean {
    const { header, graphWordsMax } = this.#regions
    const most = header[L.H_GRAPH_TOP]! * DOUBLING + changes.length * WORDS_PER_CHANGE + ATTRIBUTE_WORDS_MAX
    return most <= graphWordsMax - graphWordsMax / SPARE_PART
  }
}

function indexFull(): AuthzError {
  return new AuthzError(
    'LIMIT_EXCEEDED',
    'the index of this environment is full: remove facts or attributes, or use several environments',
  )
}

function hasBlocks(blocks: BlockCounts): boolean {
  return blocks.some(count => count > 0)
}

function addTo(sum: BlockCounts, blocks: BlockCounts, by: 1 | -1): void {
  blocks.forEach((count, log2) => {
    sum[log2]! += by * count
  })
}
