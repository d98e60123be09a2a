/**
 * Resolves the names in a query to the lines of its user, instance and tenant, as specified in native.md A.2,
 * D-14 and D-15. Also decides whether a tenant role allows the query. `check.ts` decides by roles on the
 * instance.
 */
import type { Key } from '#engine/shared-index/memory/key.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { isDead } from '#engine/shared-index/memory/records.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { findPair } from '#engine/shared-index/memory/slab.ts'
import * as table from '#engine/shared-index/memory/string-table.ts'
import { lineOfBank } from '#engine/shared-index/schema/tenant-role-overflow.ts'
import type { ActionView } from '#engine/shared-index/schema/schema-view.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'
import { type PackedQueries, KEY_RANGE, RANGE_LENGTH, USER_RANGE } from '#model/packed-queries.ts'

// These constants are destructured so that the compiler treats them as constants. Constants of another module
// would be loaded on each use.
const {
  BANK_SHIFT,
  C_INLINE_CLOSURES,
  FILTER_SHIFT,
  ID_HASH,
  I_TENANT,
  KEY_BYTES_MAX,
  LINE_WORDS,
  LINE_WORDS_LOG2,
  TENANT_TYPE,
  USER_TYPE,
  U_ASSIGNMENTS,
  U_FILTER,
} = L

export class ResolvedQuery {
  readonly #regions: Regions
  readonly #key: Key
  readonly #userKey: Key
  /**
   * Cache of the last tenant: its name, its line, and the sequence at which it was looked up. Most
   * consecutive queries name the same tenant.
   */
  #tenantText = ''
  #tenantLine = 0
  #tenantSequence = -1

  /** Lines of the resolved entities; 0 if the name is unknown. */
  user = 0
  /** The record that has the instance key. `resolve` decides whether the query may use it as the instance. */
  record = 0
  instance = 0
  tenant = 0
  /** True if the query names another tenant than that of the stored instance (native.md D-14). */
  isMismatch = false

  /**
   * Stores a value that depends on all prefetching loads, so that the compiler does not remove the loads. The
   * value has no meaning.
   */
  prefetchSink = 0

  constructor(regions: Regions, keys: { key: Key; userKey: Key }) {
    this.#regions = regions
    this.#key = keys.key
    this.#userKey = keys.userKey
  }

  /**
   * Finds the records of the user and the instance. Each lookup is a chain of cache misses. To overlap the
   * two chains, each step prefetches the data for both before it reads either.
   */
  find(user: string, type: number, key: string | null): void {
    const isUserKey = this.#userKey.read(user, USER_TYPE)
    const isKey = key !== null && this.#key.read(key, type)
    this.#findBoth(isUserKey, isKey, type)
  }

  /** Like `find`, for the first query of several packed queries. */
  findFirst({ bytes, keyRanges }: PackedQueries, type: number): void {
    const isUserKey = readBytes(this.#userKey, bytes, keyRanges, USER_RANGE, USER_TYPE)
    const isKey = readBytes(this.#key, bytes, keyRanges, KEY_RANGE, type)
    this.#findBoth(isUserKey, isKey, type)
  }

  /** Looks up the user key and the instance key that were read before. */
  #findBoth(isUserKey: boolean, isKey: boolean, type: number): void {
    const regions = this.#regions
    const { header, graph } = regions
    const userKey = this.#userKey
    const key = this.#key
    const firstSlots =
      graph[table.firstSlot(header, userKey.hash)]! ^ graph[table.firstSlot(header, key.hash)]!
    const userSlot = isUserKey ? table.slotWithTag(regions, userKey.hash) : 0
    const slot = isKey ? table.slotWithTag(regions, key.hash) : 0
    // If the user or instance has no slot, this reads word 0, which is always empty.
    const userAt = table.lineOf(graph[userSlot]!) << LINE_WORDS_LOG2
    const rolesAt = table.lineOf(graph[userSlot + 1]!) << LINE_WORDS_LOG2
    const recordAt = table.lineOf(graph[slot]!) << LINE_WORDS_LOG2
    const nextAt = table.lineOf(graph[slot + 1]!) << LINE_WORDS_LOG2
    this.prefetchSink ^=
      firstSlots ^
      graph[userAt]! ^
      graph[userAt + U_FILTER]! ^
      graph[rolesAt]! ^
      graph[rolesAt + LINE_WORDS]! ^
      graph[recordAt]! ^
      graph[nextAt]! ^
      graph[nextAt + C_INLINE_CLOSURES]! ^
      graph[nextAt + C_INLINE_CLOSURES + LINE_WORDS]! ^
      graph[nextAt + C_INLINE_CLOSURES + 2 * LINE_WORDS]!
    this.user = userSlot === 0 ? 0 : table.recordFrom(regions, userSlot, userKey, USER_TYPE)
    this.record = slot === 0 ? 0 : table.recordFrom(regions, slot, key, type)
  }

  findUser(user: string): number {
    return this.#find(user, USER_TYPE)
  }

  findInstance(type: number, key: string | null): number {
    return key === null ? 0 : this.#find(key, type)
  }

  /**
   * Sets `instance` and `tenant`. `found` is the line of the record that has the instance key, or 0 if there
   * is none.
   */
  resolve(found: number, tenant: string | null, sequence: number): void {
    const { graph } = this.#regions
    this.isMismatch = false
    const home = found === 0 ? 0 : graph[(found << LINE_WORDS_LOG2) + I_TENANT]!
    if (tenant === null) {
      // Instances of a deleted tenant do not count, even while their records still exist.
      this.instance = found !== 0 && !isDead(graph, home) ? found : 0
      this.tenant = this.instance === 0 ? this.findTenant(DEFAULT_TENANT, sequence) : home
      return
    }
    this.tenant = this.findTenant(tenant, sequence)
    this.instance = found
    if (found === 0 || home === this.tenant) return
    if (isDead(graph, home)) this.instance = 0
    else this.isMismatch = true
  }

  /** Returns whether a role of the user in the tenant of the query allows the action. */
  isAllowedByTenant(user: number, { tenantMasks, overflowMasks }: ActionView): boolean {
    if (this.tenant === 0) return false
    const { graph } = this.#regions
    const record = user << LINE_WORDS_LOG2
    const hash = Math.imul(this.tenant, ID_HASH)
    for (let m = 0; m < tenantMasks.length; m += 2) {
      const word = graph[record + U_FILTER + (hash >>> (FILTER_SHIFT + 5))]!
      if ((word & (1 << (hash >>> FILTER_SHIFT))) === 0) break
      const scope = this.tenant | (tenantMasks[m]! << BANK_SHIFT)
      const slab = record + U_ASSIGNMENTS
      const at = findPair(graph, graph[slab]!, graph[slab + 1]!, scope)
      if (at !== 0 && (graph[at + 1]! & tenantMasks[m + 1]!) !== 0) return true
    }
    return overflowMasks.length > 0 && this.#isAllowedInOverflow(user, overflowMasks)
  }

  #isAllowedInOverflow(user: number, masks: Int32Array): boolean {
    const { graph } = this.#regions
    const record = user << LINE_WORDS_LOG2
    const slab = record + U_ASSIGNMENTS
    for (let m = 0; m < masks.length; m += 2) {
      const line = lineOfBank(graph, this.tenant, masks[m]!)
      const hash = Math.imul(line, ID_HASH)
      const word = graph[record + U_FILTER + (hash >>> (FILTER_SHIFT + 5))]!
      if (line === 0 || (word & (1 << (hash >>> FILTER_SHIFT))) === 0) continue
      const at = findPair(graph, graph[slab]!, graph[slab + 1]!, line | (masks[m]! << BANK_SHIFT))
      if (at !== 0 && (graph[at + 1]! & masks[m + 1]!) !== 0) return true
    }
    return false
  }

  findTenant(tenant: string, sequence: number): number {
    if (sequence === this.#tenantSequence && tenant === this.#tenantText) return this.#tenantLine
    this.#tenantLine = this.#find(tenant, TENANT_TYPE)
    this.#tenantText = tenant
    this.#tenantSequence = sequence
    return this.#tenantLine
  }

  #find(key: string, type: number): number {
    return this.#key.read(key, type) ? table.find(this.#regions, this.#key, type) : 0
  }
}

/**
 * Reads a key of the first packed query. Returns false if the query has no such key, or if the key is longer
 * than any stored key.
 */
function readBytes(key: Key, bytes: DataView, keyRanges: Int32Array, range: number, type: number): boolean {
  const length = keyRanges[range + RANGE_LENGTH]!
  if (length === 0 || length > KEY_BYTES_MAX) return false
  key.readBytes(bytes, keyRanges[range]!, length, type, key.words, 0)
  return true
}
