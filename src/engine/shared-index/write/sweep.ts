/**
 * Collects retired numbers. The sweep finds data that still contains the number of a removed type, role,
 * relation or tenant, and removes this data, so that the number can be used again. Queries do not depend on
 * the sweep, because they stop seeing removed entities immediately.
 *
 * The sweep scans all records, one partition of the string table per step. It reads a partition without the
 * lock, because only this thread changes facts. It modifies a partition in critical sections of limited
 * length.
 *
 * Invariant: a sweep covers all numbers that were retired before it began. These numbers are free after the
 * last step of the sweep, when every record that the sweep removed has been unlinked. New facts cannot
 * contain retired numbers, so a partition that has been processed stays free of them.
 */
import type { Key } from '#engine/shared-index/memory/key.ts'
import { clearExpiryOfTuple } from '#engine/shared-index/memory/expiry-table.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { isDead, keyBytes, keyStart, outListOf } from '#engine/shared-index/memory/records.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { deleteEdge } from '#engine/shared-index/memory/slab.ts'
import * as table from '#engine/shared-index/memory/string-table.ts'
import { bankOf } from '#engine/shared-index/schema/tenant-role-overflow.ts'
import { maskOf } from '#engine/shared-index/schema/role-places.ts'
import type { Retired, Schema } from '#engine/shared-index/schema/schema.ts'
import type { Tombstones } from './tombstones.ts'
import { dropScope, rebuildFilter } from './user-slab.ts'

const EDITS_PER_SECTION = 256

interface Pass {
  readonly retired: Retired
  readonly tenants: readonly number[]
  readonly types: ReadonlySet<number>
  readonly edgeClasses: ReadonlySet<number>
  /** Bits of retired roles. The key is type id × banks of a tenant + bank. */
  readonly masks: ReadonlyMap<number, number>
  partition: number
}

export class Sweep {
  readonly #regions: Regions
  readonly #schema: Schema
  readonly #tombstones: Tombstones
  readonly #key: Key
  readonly #banks: () => number
  readonly #inSection: (work: () => void) => void
  #pass: Pass | null = null
  #edits: (() => void)[] = []

  constructor(
    regions: Regions,
    parts: {
      schema: Schema
      tombstones: Tombstones
      key: Key
      banks: () => number
      inSection: (work: () => void) => void
    },
  ) {
    this.#regions = regions
    this.#schema = parts.schema
    this.#tombstones = parts.tombstones
    this.#key = parts.key
    this.#banks = parts.banks
    this.#inSection = parts.inSection
  }

  isNeeded(): boolean {
    return this.#pass !== null || this.#schema.hasRetired() || this.#tombstones.hasDeadTenants()
  }

  /** Processes one partition. Call it without the lock, and only when all tombstones have been unlinked. */
  step(): void {
    this.#pass ??= this.#begin()
    const pass = this.#pass
    if (pass.partition === L.PARTITION_COUNT) return this.#finish(pass)
    this.#lookThrough(pass)
    for (let from = 0; from < this.#edits.length; from += EDITS_PER_SECTION) {
      this.#inSection(() => {
        for (const edit of this.#edits.slice(from, from + EDITS_PER_SECTION)) edit()
      })
    }
    this.#edits = []
    pass.partition += 1
  }

  #begin(): Pass {
    const retired = this.#schema.takeRetired()
    const masks = new Map<number, number>()
    for (const role of retired.roles) {
      const at = (role.type?.id ?? L.TENANT_TYPE) * L.TENANT_BANKS_MAX + (role.roleIndex >>> 5)
      masks.set(at, (masks.get(at) ?? 0) | maskOf(role))
    }
    return {
      retired,
      tenants: this.#tombstones.takeDeadTenants(),
      types: new Set(retired.types.map(type => type.id)),
      edgeClasses: new Set(retired.relations.map(relation => relation.edgeClass)),
      masks,
      partition: 0,
    }
  }

  #finish({ retired, tenants }: Pass): void {
    this.#tombstones.releaseTenants(tenants)
    this.#schema.freeRetired(retired)
    this.#pass = null
  }

  #lookThrough(pass: Pass): void {
    const { header, graph } = this.#regions
    const slots = table.slotCount(header, pass.partition)
    for (let slot = 0; slot < slots; slot++) {
      const line = table.recordInSlot(this.#regions, pass.partition, slot)
      if (line === 0) continue
      const type = graph[line << L.LINE_WORDS_LOG2]! >>> L.TYPE_SHIFT
      if (type === L.USER_TYPE) this.#lookAtUser(pass, line)
      else if (type !== L.TENANT_TYPE) this.#lookAtInstance(pass, line, type)
    }
  }

  #lookAtUser(pass: Pass, user: number): void {
    if (pass.masks.size === 0) return
    const { graph } = this.#regions
    this.#eachPair((user << L.LINE_WORDS_LOG2) + L.U_ASSIGNMENTS, (scope, mask) => {
      const type = graph[(scope & L.LINE_MASK) << L.LINE_WORDS_LOG2]! >>> L.TYPE_SHIFT
      const bank = type === L.TENANT_TYPE ? bankOf(graph, scope) : scope >>> L.BANK_SHIFT
      const gone = mask & (pass.masks.get(type * L.TENANT_BANKS_MAX + bank) ?? 0)
      if (gone !== 0) this.#edits.push(() => this.#drop(user, scope, gone))
    })
  }

  #lookAtInstance(pass: Pass, line: number, type: number): void {
    const { graph } = this.#regions
    const record = line << L.LINE_WORDS_LOG2
    if (pass.types.has(type) || isDead(graph, graph[record + L.I_TENANT]!)) {
      this.#edits.push(() => this.#remove(line, type))
      return
    }
    if (pass.edgeClasses.size === 0) return
    this.#eachPair(record + L.I_IN, (container, edgeClass) => {
      if (pass.edgeClasses.has(edgeClass)) this.#edits.push(() => this.#unlink(container, line, edgeClass))
    })
  }

  #drop(user: number, scope: number, mask: number): void {
    const isGone = dropScope(this.#regions, user, scope, mask, this.#banks())
    if (isGone) rebuildFilter(this.#regions.graph, user)
  }

  #remove(line: number, type: number): void {
    const { graph } = this.#regions
    const record = line << L.LINE_WORDS_LOG2
    this.#key.readRecord(graph, keyStart(graph, record), keyBytes(graph, record), type)
    table.remove(this.#regions, this.#key.hash, line)
    this.#tombstones.add(line)
  }

  /** Invalidates no closure, because closures do not follow a removed edge class. */
  #unlink(container: number, object: number, edgeClass: number): void {
    const { graph, header } = this.#regions
    const record = object << L.LINE_WORDS_LOG2
    deleteEdge(this.#regions, record + L.I_IN, container, edgeClass)
    deleteEdge(this.#regions, outListOf(graph, container, object), object, edgeClass)
    clearExpiryOfTuple(this.#regions, object, container, edgeClass)
    header[L.H_TUPLES] = header[L.H_TUPLES]! - 1
  }

  #eachPair(descriptor: number, visit: (first: number, second: number) => void): void {
    const { graph } = this.#regions
    const ptr = graph[descriptor]!
    const meta = graph[descriptor + 1]!
    if (meta === 0) return
    if ((meta & L.LOG2_MASK) === L.INLINE) return visit(ptr, meta >>> L.COUNT_SHIFT)
    const end = ptr + (2 << (meta & L.LOG2_MASK))
    for (let at = ptr; at < end; at += 2) if (graph[at] !== 0) visit(graph[at]!, graph[at + 1]!)
  }
}
