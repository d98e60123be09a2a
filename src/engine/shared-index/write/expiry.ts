/** Removes facts that have expired. Returns the removals with names. */
import { type FactNumbers } from '#engine/shared-index/memory/expiry-table.ts'
import type { Invalidation } from '#engine/shared-index/closures/invalidation.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import type { Schema } from '#engine/shared-index/schema/schema.ts'
import type { Change } from '#model/change.ts'
import type { ExpiryQueue } from './expiry-queue.ts'
import { FactNames } from './fact-names.ts'
import type { Facts } from './facts.ts'

export class Expiry {
  readonly #regions: Regions
  readonly #schema: Schema
  readonly #facts: Facts
  readonly #invalidation: Invalidation
  readonly #queue: ExpiryQueue
  /** Names for the facts that have expired. */
  #names: FactNames

  constructor(
    regions: Regions,
    parts: { schema: Schema; facts: Facts; invalidation: Invalidation; queue: ExpiryQueue },
  ) {
    this.#regions = regions
    this.#schema = parts.schema
    this.#facts = parts.facts
    this.#invalidation = parts.invalidation
    this.#queue = parts.queue
    this.#names = new FactNames(parts.schema)
  }

  /**
   * Returns the facts that have expired at `now`, as described for `ExpiryQueue.next`. Also finds the
   * closures to invalidate. Requires neither the lock nor a critical section.
   */
  due(now: number, limit: number): readonly FactNumbers[] {
    const due = this.#queue.next(now, limit)
    // The names are created here, outside the critical section, because creating them takes longer for a
    // larger schema.
    if (due.length > 0) this.#names = new FactNames(this.#schema)
    for (const { isTuple, line } of due) if (isTuple) this.#invalidation.collect(line)
    return due
  }

  /** Removes the expired facts. Requires the lock and a critical section. */
  remove(due: readonly FactNumbers[]): Change[] {
    const removals: Change[] = []
    this.#invalidation.begin()
    for (const fact of due) {
      const removal = this.#names.removalOf(this.#regions.graph, fact)
      if (this.#facts.end(fact) && removal) removals.push(removal)
    }
    this.#invalidation.end()
    return removals
  }
}
