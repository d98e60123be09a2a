/**
 * Decides when closures are precomputed (`precomputation.ts`): after a load, after a change of the schema,
 * and after the closure region has started over, which removes all closures (`closure-arena.ts`).
 *
 * If the closures do not all fit into the region, the region starts over while they are being built.
 * Precomputation then stops until the schema changes, and the first query that needs a missing closure builds
 * it.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { currentView } from '#engine/shared-index/schema/current-schema.ts'
import { ClosureBuilder } from './closure-builder.ts'
import { Precomputation } from './precomputation.ts'

export class PrecomputationSchedule {
  readonly #regions: Regions
  /** Whether a schema exists. */
  #hasSchema: boolean
  #isDone: boolean
  /** The closure era in which the last precomputation ran. */
  #era: number
  #doFit = true
  #work: Precomputation | null = null

  constructor(regions: Regions, { hasSchema, isDone }: { hasSchema: boolean; isDone: boolean }) {
    this.#regions = regions
    this.#hasSchema = hasSchema
    this.#isDone = isDone
    this.#era = this.#eraNow()
  }

  /** Returns whether no closure remains to be built. */
  get isDone(): boolean {
    return !this.#hasSchema || (this.#isDone && (!this.#doFit || this.#era === this.#eraNow()))
  }

  /** Call it after the schema has changed. */
  useSchema(): void {
    this.#hasSchema = true
    this.#isDone = false
    this.#doFit = true
    this.#work = null
  }

  /**
   * Continues the precomputation: does as much work as examining about `work` records. Requires the lock, but
   * no critical section.
   */
  step(work: number): void {
    if (this.isDone) return
    this.#work ??= this.#begin()
    if (this.#work.step(work)) return
    this.#work = null
    this.#isDone = true
    this.#doFit = this.#fitted()
  }

  #begin(): Precomputation {
    this.#isDone = false
    this.#era = this.#eraNow()
    const schema = currentView(this.#regions)
    return new Precomputation(this.#regions, schema, new ClosureBuilder(this.#regions, schema))
  }

  /**
   * Returns whether all closures fitted into the region. If the region started over below its full size, most
   * of it was dead. If it started over at its full size, the closures do not fit.
   */
  #fitted(): boolean {
    return this.#era === this.#eraNow() || this.#regions.closures.length < this.#regions.closureWordsMax()
  }

  #eraNow(): number {
    return this.#regions.header[L.H_CLOSURE_ERA]!
  }
}
