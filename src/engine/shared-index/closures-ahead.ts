/**
 * Sees to it that closures are built ahead of the questions (`precomputation.ts`): after a load, after a change of the
 * schema, and when the region of closures has started over, which leaves none of them (`closure-arena.ts`).
 *
 * Where they do not all fit, it would start over while they are being built; then they are left to who needs them, until
 * the schema changes.
 */
import { ClosureBuilder } from './closure-builder.ts'
import * as L from './layout.ts'
import { Precomputation } from './precomputation.ts'
import type { SchemaImage } from './compiled-schema.ts'
import type { Regions } from './regions.ts'
import { SchemaView } from './schema-view.ts'

export class ClosuresAhead {
  readonly #regions: Regions
  /** The schema that stands; null before there is one. */
  #image: SchemaImage | null
  #isDone: boolean
  /** The closure era in which they were built, or are being built. */
  #era: number
  #doFit = true
  #work: Precomputation | null = null

  constructor(regions: Regions, { image, isDone }: { image: SchemaImage | null; isDone: boolean }) {
    this.#regions = regions
    this.#image = image
    this.#isDone = isDone
    this.#era = this.#eraNow()
  }

  /** Whether nothing is left to be built. */
  get isDone(): boolean {
    return this.#image === null || (this.#isDone && (!this.#doFit || this.#era === this.#eraNow()))
  }

  /** The schema has changed. */
  useSchema(image: SchemaImage): void {
    this.#image = image
    this.#isDone = false
    this.#doFit = true
    this.#work = null
  }

  /** Lock held, no section. About so many records' worth of work. */
  step(work: number): void {
    if (this.isDone || this.#image === null) return
    this.#work ??= this.#begin(this.#image)
    if (this.#work.step(work)) return
    this.#work = null
    this.#isDone = true
    this.#doFit = this.#fitted()
  }

  #begin(image: SchemaImage): Precomputation {
    this.#isDone = false
    this.#era = this.#eraNow()
    const schema = new SchemaView(image)
    return new Precomputation(this.#regions, schema, new ClosureBuilder(this.#regions, schema))
  }

  /** It may have started over because most of it was dead; at its full size, because they do not fit. */
  #fitted(): boolean {
    return this.#era === this.#eraNow() || this.#regions.closures.length < this.#regions.closureWordsMax()
  }

  #eraNow(): number {
    return this.#regions.header[L.H_CLOSURE_ERA]!
  }
}
