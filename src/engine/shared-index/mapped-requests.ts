/**
 * Finds the query to which a request of a gateway is mapped. Each result belongs to one state of the index.
 */
import type { MappedRequest } from '#engine/engine.ts'
import { mappedBy } from '#engine/shared-index/mapping/mapping-match.ts'
import type { MappingView } from '#engine/shared-index/mapping/mapping-view.ts'
import type { SchemaView } from '#engine/shared-index/schema/schema-view.ts'
import type { ConsistentReads } from '#engine/shared-index/schema/consistent-reads.ts'

/** Number of attempts without the lock, before a reader takes the lock. */
const ATTEMPTS = 50

export class MappedRequests {
  readonly #reads: ConsistentReads
  readonly #schema: () => SchemaView
  /** The mapping rules of the schema that was last read. */
  #rules: { readonly of: SchemaView; readonly view: MappingView | null } | null = null
  readonly #readRules = () => {
    const schema = this.#schema()
    if (this.#rules?.of !== schema) {
      this.#rules = { of: schema, view: schema.mapping(this.#rules?.view ?? null) }
    }
    return this.#rules
  }

  /** `schema` returns the schema of the state that is being read. */
  constructor(reads: ConsistentReads, schema: () => SchemaView) {
    this.#reads = reads
    this.#schema = schema
  }

  /**
   * Returns the query, or null if there is none. Takes O(compiled rules) if the rules have changed;
   * otherwise, takes as long as `mappedBy`.
   */
  find(method: string, url: string): MappedRequest | null {
    // Copies the rules within the read. Matching them afterwards is not affected by later writes.
    const { view } = this.#reads.read(ATTEMPTS, this.#readRules)
    return view && mappedBy(view, method, url)
  }
}
