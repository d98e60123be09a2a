/**
 * Prepares a commit before its critical section, while readers continue. Looks up the names in the changes,
 * which also loads their lines into the cache. Enlarges slabs and tables that will become full, finds the
 * closures to invalidate, and adds up the memory that the commit needs.
 *
 * The preparation reads the state before the commit. If one change of the commit affects another, the
 * preparation can therefore only estimate the effect of both. The critical section correctly does the work
 * that remains, but readers wait for it.
 *
 * Requires neither the lock nor a critical section, because only the writer changes facts, and the
 * preparation runs in its thread.
 */
import type { Invalidation } from '#engine/shared-index/closures/invalidation.ts'
import { log2Ceil } from '#engine/shared-index/memory/allocator.ts'
import { wordsAheadForExpiry } from '#engine/shared-index/memory/expiry-table.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { outListOf } from '#engine/shared-index/memory/records.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import {
  findMember,
  findPair,
  hasPair,
  isFull,
  PAIRS,
  SET,
  type Width,
} from '#engine/shared-index/memory/slab.ts'
import { partitionOf } from '#engine/shared-index/memory/string-table.ts'
import { lineOfBank } from '#engine/shared-index/schema/tenant-role-overflow.ts'
import { scopeOf } from '#engine/shared-index/schema/role-places.ts'
import type { SchemaRelation, Role } from '#engine/shared-index/schema/schema.ts'
import type { AssignmentChange, Attributes, Change, InstanceKey, TupleChange } from '#model/change.ts'
import type { NameLookups } from './names.ts'
import { isLarge, type Replacements } from './replacements.ts'

/** Number of words of the first block of a slab, or of another small block. */
const SMALL_WORDS = 8
/** Number of words of an overflow line and its directory. */
const OVERFLOW_WORDS = 2 * L.LINE_WORDS
const CONTAINER_WORDS = L.LINE_WORDS << L.CONTAINER_LINES_LOG2

/** Number of changes between two pauses. They take some tenths of a millisecond. */
const LOOKED_AT_ONCE = 128

export class Preparation {
  readonly #regions: Regions
  readonly #names: NameLookups
  readonly #invalidation: Invalidation
  readonly #replacements: Replacements
  readonly #keysMore = new Map<number, number>()
  /** Number of entries that the commit adds to each large slab, by its descriptor. */
  readonly #entriesMore = new Map<number, { width: Width; count: number }>()
  #words = 0
  /** Object, subject, and role or relation of the current change (`names.ts`). */
  #objectLine = 0
  #subjectLine = 0
  #link: Role | SchemaRelation | undefined

  constructor(
    regions: Regions,
    parts: { names: NameLookups; invalidation: Invalidation; replacements: Replacements },
  ) {
    this.#regions = regions
    this.#names = parts.names
    this.#invalidation = parts.invalidation
    this.#replacements = parts.replacements
  }

  /**
   * Prepares the commit. Returns the approximate number of words of the graph that it needs. O(changes, and
   * containers below them), with a pause after every few changes.
   */
  *prepare(changes: readonly Change[]): Generator<void, number> {
    this.#words = 0
    this.#names.forget()
    let looked = 0
    let expiring = 0
    for (const change of changes) {
      if ('expiresAt' in change && change.expiresAt !== undefined) expiring += 1
      if (++looked % LOOKED_AT_ONCE === 0) yield
      this.#objectLine = 0
      this.#subjectLine = 0
      this.#link = undefined
      this.#lookAt(change)
      this.#names.note(this.#objectLine, this.#subjectLine, this.#link)
    }
    for (const [descriptor, { width, count }] of this.#entriesMore) {
      this.#replacements.growSlab(descriptor, width, count)
    }
    for (const [partition, count] of this.#keysMore) this.#replacements.growPartition(partition, count)
    this.#entriesMore.clear()
    this.#keysMore.clear()
    return this.#words + (expiring === 0 ? 0 : wordsAheadForExpiry(this.#regions, expiring))
  }

  #lookAt(change: Change): void {
    switch (change.kind) {
      case 'tenant-put':
        return this.#record(change.tenant, L.TENANT_TYPE, change.attributes)
      case 'user-put':
        return this.#record(change.user, L.USER_TYPE, change.attributes ?? null)
      case 'user-removed':
        this.#names.find(change.user, L.USER_TYPE)
        return
      case 'instance-put':
        return this.#instance(change.instance, change.tenant, change.attributes)
      case 'instance-removed':
        return this.#invalidation.collect(this.#names.instance(change.instance))
      case 'assignment-put':
      case 'assignment-removed':
        return this.#assignment(change, change.kind === 'assignment-put')
      case 'tuple-put':
      case 'tuple-removed':
        return this.#tuple(change, change.kind === 'tuple-put')
      default: // Schema changes need no space in the graph, and removing a tenant only sets a bit.
    }
  }

  #record(key: string, type: number, attributes: Attributes | null): void {
    if (attributes !== null) this.#words += 1 << log2Ceil(2 + (JSON.stringify(attributes).length >> 1))
    if (this.#names.find(key, type) !== 0) return
    const partition = partitionOf(this.#names.key.hash)
    this.#keysMore.set(partition, (this.#keysMore.get(partition) ?? 0) + 1)
    const { bytes } = this.#names.key
    const external = bytes > L.R_KEY_WORDS * L.WORD_BYTES ? 1 << log2Ceil(2 + (bytes >> 2)) : 0
    this.#words += (type === L.USER_TYPE ? 2 : 1) * L.LINE_WORDS + external
  }

  #instance(name: InstanceKey, tenantKey: string, attributes: Attributes | null): void {
    const type = this.#names.schema.types.get(name.type)
    if (!type) return
    const tenant = this.#names.find(tenantKey, L.TENANT_TYPE)
    this.#record(name.key, type.id, attributes)
    const { graph } = this.#regions
    const line = this.#names.instance(name)
    const isMoving = line !== 0 && graph[(line << L.LINE_WORDS_LOG2) + L.I_TENANT] !== tenant
    if (!isMoving) return
    this.#words += L.LINE_WORDS
    this.#invalidation.collect(line)
  }

  #assignment(change: AssignmentChange, isPut: boolean): void {
    const role = this.#names.role(change)
    const scoped = role ? this.#names.scoped(change) : 0
    const user = this.#names.find(change.user, L.USER_TYPE)
    this.#objectLine = 'instance' in change.scope ? scoped : 0
    this.#subjectLine = user
    this.#link = role
    if (!role || scoped === 0 || user === 0) {
      this.#words += 2 * SMALL_WORDS
      return
    }
    const { graph } = this.#regions
    const line = role.type ? scoped : lineOfBank(graph, scoped, role.roleIndex >>> 5)
    if (line === 0) {
      this.#words += OVERFLOW_WORDS + 2 * SMALL_WORDS
      return
    }
    const held = (user << L.LINE_WORDS_LOG2) + L.U_ASSIGNMENTS
    const assignees = (line << L.LINE_WORDS_LOG2) + L.I_ASSIGNEES
    const isHeld = findPair(graph, graph[held]!, graph[held + 1]!, scopeOf(role, line)) !== 0
    const isEmpty = graph[assignees + 1] === 0
    if (!isEmpty && !isInline(graph[assignees + 1]!)) {
      findMember(graph, graph[assignees]!, graph[assignees + 1]!, user)
    }
    if (!isPut || isHeld) return
    this.#entry(held, PAIRS)
    this.#entry(assignees, SET)
    if (isEmpty && role.type) this.#invalidation.collect(scoped)
  }

  #tuple(change: TupleChange, isPut: boolean): void {
    const relation = this.#names.relation(change)
    const object = relation ? this.#names.instance(change.object) : 0
    const subject = relation ? this.#names.instance(change.subject) : 0
    this.#objectLine = object
    this.#subjectLine = subject
    this.#link = relation
    if (!relation || object === 0 || subject === 0) {
      this.#words += (subject === 0 ? CONTAINER_WORDS : 0) + 2 * SMALL_WORDS
      return
    }
    const { graph } = this.#regions
    const into = (object << L.LINE_WORDS_LOG2) + L.I_IN
    const container = graph[(subject << L.LINE_WORDS_LOG2) + L.I_CONTAINER]!
    if (container === 0) this.#words += CONTAINER_WORDS + SMALL_WORDS
    const stands =
      container !== 0 && hasPair(graph, graph[into]!, graph[into + 1]!, container, relation.edgeClass)
    if (stands === isPut) return
    this.#invalidation.collect(object)
    if (container === 0) return
    const out = outListOf(graph, container, object)
    hasPair(graph, graph[out]!, graph[out + 1]!, object, relation.edgeClass)
    if (!isPut) return
    this.#entry(into, PAIRS)
    this.#entry(out, PAIRS)
  }

  /**
   * Counts an entry that is added to a slab. A large slab is enlarged in advance if needed. For other slabs,
   * the space for doubling them is added to the total.
   */
  #entry(descriptor: number, width: Width): void {
    const meta = this.#regions.graph[descriptor + 1]!
    if (meta === 0 || isInline(meta)) {
      this.#words += SMALL_WORDS
      return
    }
    const log2 = meta & L.LOG2_MASK
    if (isFull(meta)) this.#words += 2 << (log2 + width)
    if (!isLarge(log2)) return
    const known = this.#entriesMore.get(descriptor)
    if (known) known.count += 1
    else this.#entriesMore.set(descriptor, { width, count: 1 })
  }
}

function isInline(meta: number): boolean {
  return (meta & L.LOG2_MASK) === L.INLINE
}
