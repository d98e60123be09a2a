/** Finds the query for a gateway request. Every result belongs to one state of the index. */
import type { MappedRequest } from '#engine/engine.ts'
import { mappedBy } from '#engine/shared-index/mapping/mapping-match.ts'
import type { MappingView } from '#engine/shared-index/mapping/mapping-view.ts'
import type { SchemaView } from '#engine/shared-index/schema/schema-view.ts'
import type { ConsistentReads } from './consistent-reads.ts'

/** Optimistic attempts before a reader takes the lock. */
const ATTEMPTS = 50

export class MappedRequests {
  readonly #reads: ConsistentReads
  readonly #schema: () => SchemaView
  /** The rules of the schema that was read last. */
  #rules: { readonly of: SchemaView; readonly view: MappingView | null } | null = null
  readonly #readRules = () => {
    const schema = this.#schema()
    if (this.#rules?.of !== schema) {
      this.#rules = { of: schema, view: schema.mapping(this.#rules?.view ?? null) }
    }
    return this.#rules
  }

  /** `schema`: returns the schema of the state that is read. */
  constructor(reads: ConsistentReads, schema: () => SchemaView) {
    this.#reads = reads
    this.#schema = schema
  }

  /** O(compiled rules) if they have changed, otherwise like `mappedBy`. */
  find(method: string, url: string): MappedRequest | null {
    // Copies the rules, so that data written in the meantime is not read.
    const { view } = this.#reads.read(ATTEMPTS, this.#readRules)
    return view && mappedBy(view, method, url)
  }
}
