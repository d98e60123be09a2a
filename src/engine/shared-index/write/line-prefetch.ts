/**
 * Prefetches the lines that the next changes of a commit will access. In the critical section, during which
 * readers wait, chains of cache misses thus become loops of independent loads, as in `batch-check.ts`.
 * Prefetching does not affect the result.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import type { Change } from '#model/change.ts'
import type { NameLookups } from './names.ts'

export class LinePrefetch {
  readonly #regions: Regions
  readonly #names: NameLookups
  /**
   * Stores a value that depends on all prefetching loads, so that the compiler does not remove the loads. The
   * value has no meaning.
   */
  prefetchSink = 0

  constructor(regions: Regions, names: NameLookups) {
    this.#regions = regions
    this.#names = names
  }

  /** Prefetches for the changes from `from` to `to`. Their objects and subjects must have been recorded. */
  run(changes: readonly Change[], from: number, to: number): void {
    this.#prefetchRecords(from, to)
    this.#prefetchContainers(changes, from, to)
    this.#prefetchEntries(changes, from, to)
  }

  #prefetchRecords(from: number, to: number): void {
    const { graph } = this.#regions
    let sink = 0
    for (let index = from; index < to; index++) {
      const subject = this.#names.subjectOf(index) << L.LINE_WORDS_LOG2
      sink ^=
        graph[this.#names.objectOf(index) << L.LINE_WORDS_LOG2]! ^
        graph[subject]! ^
        graph[subject + L.U_FILTER]!
    }
    this.prefetchSink ^= sink
  }

  #prefetchContainers(changes: readonly Change[], from: number, to: number): void {
    const { graph } = this.#regions
    let sink = 0
    for (let index = from; index < to; index++) {
      if (isTuple(changes[index]!)) sink ^= graph[this.#containerOf(index) << L.LINE_WORDS_LOG2]!
    }
    this.prefetchSink ^= sink
  }

  #prefetchEntries(changes: readonly Change[], from: number, to: number): void {
    let sink = 0
    for (let index = from; index < to; index++) {
      const object = this.#names.objectOf(index)
      const subject = this.#names.subjectOf(index)
      if (object === 0 || subject === 0) continue
      const record = object << L.LINE_WORDS_LOG2
      if (isTuple(changes[index]!)) {
        const container = this.#containerOf(index)
        sink ^= this.#entry(record + L.I_IN, container, 1)
        sink ^= this.#entry((container << L.LINE_WORDS_LOG2) + L.C_OUT_OTHERS, object, 1)
        sink ^= this.#entry((container << L.LINE_WORDS_LOG2) + L.C_OUT_CONTAINERS, object, 1)
      } else {
        sink ^= this.#entry((subject << L.LINE_WORDS_LOG2) + L.U_ASSIGNMENTS, object, 1)
        sink ^= this.#entry(record + L.I_ASSIGNEES, subject, 0)
      }
    }
    this.prefetchSink ^= sink
  }

  /** Returns the word at which the search for an entry of the slab begins. */
  #entry(descriptor: number, first: number, width: number): number {
    const { graph } = this.#regions
    const log2 = graph[descriptor + 1]! & L.LOG2_MASK
    if (log2 === L.INLINE || log2 === 0) return 0
    return graph[graph[descriptor]! + ((Math.imul(first, L.ID_HASH) >>> (32 - log2)) << width)]!
  }

  #containerOf(index: number): number {
    return this.#regions.graph[(this.#names.subjectOf(index) << L.LINE_WORDS_LOG2) + L.I_CONTAINER]!
  }
}

function isTuple({ kind }: Change): boolean {
  return kind === 'tuple-put' || kind === 'tuple-removed'
}
