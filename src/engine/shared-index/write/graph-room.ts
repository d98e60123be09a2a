/**
 * Whether the graph has room for a commit. Asked twice: by whoever is about to make one, which holds room until it is applied,
 * and by the writer before it changes anything, since a commit of another node was reckoned on that node's index.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/regions.ts'
import type { Change } from '#model/change.ts'
import { AuthzError } from '#model/errors.ts'
import { type BlockCounts, blocksFor, haveRoom, noBlocks } from './graph-demand.ts'
import type { Names } from './names.ts'

/** The part of the graph that is left for commits which other nodes have accepted. */
const SPARE_PART = 16
/** The part that is left for what readers note beside containers. */
const SPARE_FOR_READERS = 256
/** All there is, and what it doubles into, with room for what lies between. */
const DOUBLING = 5
/** A record with the longest key, a container, and first blocks of its slabs; without attributes. */
const WORDS_PER_CHANGE = 1_024
/** Of a whole commit: some bodies of the largest size. */
const ATTRIBUTE_WORDS_MAX = 1 << 25

export class GraphRoom {
  readonly #regions: Regions
  readonly #names: Names
  /** Blocks held for commits that are being made. */
  readonly #held: BlockCounts = noBlocks()

  constructor(regions: Regions, names: Names) {
    this.#regions = regions
    this.#names = names
  }

  /**
   * Holds room for a commit that is about to be made, so that others that are accepted meanwhile leave it; returns what gives
   * it back, once the commit has been applied or has failed. Throws `LIMIT_EXCEEDED` when there is none, beside what is
   * held and a sixteenth of all, which is left for commits of other nodes. O(changes), where not much is left.
   */
  hold(changes: readonly Change[]): () => void {
    if (this.#isThereInAnyCase(changes)) return () => {}
    const blocks = blocksFor(changes, this.#regions, this.#names)
    if (!hasBlocks(blocks)) return () => {}
    const held = this.#held
    addTo(held, blocks, 1)
    const giveBack = (): void => addTo(held, blocks, -1)
    if (haveRoom(this.#regions, held, this.#regions.graphWordsMax / SPARE_PART)) return giveBack
    giveBack()
    throw noRoom()
  }

  /** Before anything is changed. Throws `LIMIT_EXCEEDED`. O(changes), where not much is left. */
  require(changes: readonly Change[]): void {
    if (this.#isThereInAnyCase(changes)) return
    // Readers may take some for heads of closures until the section.
    const spare = this.#regions.graphWordsMax / SPARE_FOR_READERS
    if (!haveRoom(this.#regions, blocksFor(changes, this.#regions, this.#names), spare)) throw noRoom()
  }

  /** Whether there would be room even if every slab and table doubled: then nothing has to be reckoned. */
  #isThereInAnyCase(changes: readonly Change[]): boolean {
    const { header, graphWordsMax } = this.#regions
    const most = header[L.H_GRAPH_TOP]! * DOUBLING + changes.length * WORDS_PER_CHANGE + ATTRIBUTE_WORDS_MAX
    return most <= graphWordsMax - graphWordsMax / SPARE_PART
  }
}

function noRoom(): AuthzError {
  return new AuthzError(
    'LIMIT_EXCEEDED',
    'the index of this environment is full, its facts and attributes take all the room there is: remove some, or have several environments',
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
