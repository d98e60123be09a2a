/**
 * Checks whether the capacity of the graph is sufficient for a commit. It runs twice: in the process that is
 * about to commit, which reserves capacity until the commit is applied, and in the writer before it changes
 * anything. The second check is needed because a commit of another node was checked against the index of that
 * node.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/regions.ts'
import type { Change } from '#model/change.ts'
import { AuthzError } from '#model/errors.ts'
import { type BlockCounts, blocksFor, hasCapacity, noBlocks } from './commit-capacity.ts'
import type { NameLookups } from './names.ts'

/** A sixteenth of the graph is reserved for commits that other nodes have accepted. */
const SPARE_PART = 16
/** One part in 256 is reserved for closure heads that readers allocate. */
const SPARE_FOR_READERS = 256
/** If everything doubles, it takes at most this many times the used space, including fragmentation. */
const DOUBLING = 5
/** A record with the longest key, a container, and first blocks of its slabs; without attributes. */
const WORDS_PER_CHANGE = 1_024
/** Attributes of a whole commit: some bodies of maximum size. */
const ATTRIBUTE_WORDS_MAX = 1 << 25

export class CapacityCheck {
  readonly #regions: Regions
  readonly #names: NameLookups
  /** Blocks reserved for commits in progress. */
  readonly #reserved: BlockCounts = noBlocks()

  constructor(regions: Regions, names: NameLookups) {
    this.#regions = regions
    this.#names = names
  }

  /**
   * Reserves capacity for a commit that is about to be made, so that other commits do not use it. Returns a
   * function that releases it; call that function once the commit was applied or has failed. Throws
   * `LIMIT_EXCEEDED` if the capacity is not sufficient in addition to the reservations and the sixteenth for
   * other nodes. O(changes) if little capacity is left.
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
   * Checks the capacity before anything is changed. Throws `LIMIT_EXCEEDED`. O(changes) if little capacity is
   * left.
   */
  require(changes: readonly Change[]): void {
    if (this.#isAlwaysSufficient(changes)) return
    // Readers can allocate closure heads until the critical section.
    const spare = this.#regions.graphWordsMax / SPARE_FOR_READERS
    if (!hasCapacity(this.#regions, blocksFor(changes, this.#regions, this.#names), spare)) throw indexFull()
  }

  /**
   * Returns whether the capacity would be sufficient even if every slab and table doubled: nothing needs to
   * be computed in that case.
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
