/**
 * Brings in the lines that some changes of a commit are about to touch, for the section, where readers wait: chains of
 * misses become loops of independent loads, as in `batch-check.ts`. Means nothing to the outcome.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/regions.ts'
import type { Change } from '#model/change.ts'
import type { Names } from './names.ts'

export class LineFetch {
  readonly #regions: Regions
  readonly #names: Names
  /** Keeps the loads that only fetch a line from being optimised away; means nothing. */
  fetched = 0

  constructor(regions: Regions, names: Names) {
    this.#regions = regions
    this.#names = names
  }

  /** For the changes from one place of a commit to another, whose two ends have been noted. */
  run(changes: readonly Change[], from: number, to: number): void {
    this.#fetchRecords(from, to)
    this.#fetchContainers(changes, from, to)
    this.#fetchEntries(changes, from, to)
  }

  #fetchRecords(from: number, to: number): void {
    const { graph } = this.#regions
    let sink = 0
    for (let index = from; index < to; index++) {
      const whose = this.#names.whoseOf(index) << L.LINE_WORDS_LOG2
      sink ^=
        graph[this.#names.whereOf(index) << L.LINE_WORDS_LOG2]! ^ graph[whose]! ^ graph[whose + L.U_FILTER]!
    }
    this.fetched ^= sink
  }

  #fetchContainers(changes: readonly Change[], from: number, to: number): void {
    const { graph } = this.#regions
    let sink = 0
    for (let index = from; index < to; index++) {
      if (isTuple(changes[index]!)) sink ^= graph[this.#containerOf(index) << L.LINE_WORDS_LOG2]!
    }
    this.fetched ^= sink
  }

  #fetchEntries(changes: readonly Change[], from: number, to: number): void {
    let sink = 0
    for (let index = from; index < to; index++) {
      const where = this.#names.whereOf(index)
      const whose = this.#names.whoseOf(index)
      if (where === 0 || whose === 0) continue
      const record = where << L.LINE_WORDS_LOG2
      if (isTuple(changes[index]!)) {
        const container = this.#containerOf(index)
        sink ^= this.#entry(record + L.I_IN, container, 1)
        sink ^= this.#entry((container << L.LINE_WORDS_LOG2) + L.C_OUT_OTHERS, where, 1)
        sink ^= this.#entry((container << L.LINE_WORDS_LOG2) + L.C_OUT_CONTAINERS, where, 1)
      } else {
        sink ^= this.#entry((whose << L.LINE_WORDS_LOG2) + L.U_ASSIGNMENTS, where, 1)
        sink ^= this.#entry(record + L.I_ASSIGNEES, whose, 0)
      }
    }
    this.fetched ^= sink
  }

  /** The word where the search for an entry of the slab begins. */
  #entry(descriptor: number, first: number, width: number): number {
    const { graph } = this.#regions
    const log2 = graph[descriptor + 1]! & L.LOG2_MASK
    if (log2 === L.INLINE || log2 === 0) return 0
    return graph[graph[descriptor]! + ((Math.imul(first, L.ID_HASH) >>> (32 - log2)) << width)]!
  }

  #containerOf(index: number): number {
    return this.#regions.graph[(this.#names.whoseOf(index) << L.LINE_WORDS_LOG2) + L.I_CONTAINER]!
  }
}

function isTuple({ kind }: Change): boolean {
  return kind === 'tuple-put' || kind === 'tuple-removed'
}
