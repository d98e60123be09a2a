/**
 * Reads data about tenants and instances themselves. This data does not depend on the roles of a user.
 * Each result belongs to one state of the index.
 */
import type { StoredTenants } from '#engine/engine.ts'
import type { ResolvedQuery } from '#engine/shared-index/check/question.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { attributesText, isDead, keyText, typeOf } from '#engine/shared-index/memory/records.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import * as table from '#engine/shared-index/memory/string-table.ts'
import type { SchemaView } from '#engine/shared-index/schema/schema-view.ts'
import { tenantOf } from '#engine/shared-index/search/listings.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import type { ConsistentReads } from '#engine/shared-index/schema/consistent-reads.ts'

/**
 * `ATTEMPTS`: number of attempts without the lock, before a reader takes the lock. `WALK_ATTEMPTS`: number of
 * attempts of a scan, before it tries a few slices with the lock.
 */
const ATTEMPTS = 50
const WALK_ATTEMPTS = 2
/**
 * Number of slots of the string table that are scanned between two pauses. Their records are scattered over
 * memory.
 */
const STAGE_SLOTS = 1_024

export class TenantReads implements StoredTenants {
  readonly #reads: ConsistentReads
  readonly #question: ResolvedQuery
  readonly #schema: () => SchemaView

  /** `schema` returns the schema of the state that is being read. */
  constructor(reads: ConsistentReads, question: ResolvedQuery, schema: () => SchemaView) {
    this.#reads = reads
    this.#question = question
    this.#schema = schema
  }

  keys(limit: number): Resumable<string[]> {
    return this.#reads.readSliced(WALK_ATTEMPTS, () => tenantKeys(this.#reads.regions, limit))
  }

  attributesOf(tenant: string): string | null {
    return this.#reads.read(ATTEMPTS, () => {
      const line = this.#question.findTenant(tenant, this.#reads.sequence)
      return line === 0 ? null : attributesText(this.#reads.regions, line)
    })
  }

  /** Returns the attributes of a stored instance as JSON. */
  attributesOfInstance(type: string, key: string): string | null {
    return this.#reads.read(ATTEMPTS, () => {
      const typeView = this.#schema().types.get(type)
      const instance = typeView ? this.#question.findInstance(typeView.id, key) : 0
      return instance === 0 ? null : attributesText(this.#reads.regions, instance)
    })
  }

  /** Returns the tenant of an instance, or null if the instance is not stored. */
  ofInstance(type: string, key: string): string | null {
    return this.#reads.read(ATTEMPTS, () => {
      const typeView = this.#schema().types.get(type)
      const instance = typeView ? this.#question.findInstance(typeView.id, key) : 0
      const { graph } = this.#reads.regions
      const tenant = instance === 0 ? 0 : tenantOf(graph, instance)
      return tenant === 0 || isDead(graph, tenant) ? null : keyText(graph, tenant)
    })
  }
}

/** Returns the keys of tenants. Scans the string table, because there is no list of tenants. O(records). */
function* tenantKeys(regions: Regions, limit: number): Resumable<string[]> {
  const { header, graph } = regions
  const tenants: string[] = []
  let steps = 0
  for (let partition = 0; partition < L.PARTITION_COUNT; partition++) {
    const slots = table.slotCount(header, partition)
    for (let slot = 0; slot < slots; slot++) {
      steps += 1
      if (steps % STAGE_SLOTS === 0) yield
      const line = table.recordInSlot(regions, partition, slot)
      if (!line || typeOf(graph, line) !== L.TENANT_TYPE || isDead(graph, line)) continue
      if (tenants.length === limit) return tenants
      tenants.push(keyText(graph, line))
    }
  }
  return tenants
}
