/**
 * Applies changes of facts to records: tenants, users, instances, role assignments and tuples. Resolves the
 * names in the changes and modifies the graph for the writer.
 *
 * Invariants:
 *
 * - A fact exists only while all entities that it names exist, and the instances of a tuple belong to the
 *   same tenant (native.md C.6). A change that would violate this is ignored.
 * - A user is among the assignees of an instance exactly if the user has a mask for the instance. The bit of
 *   the instance in the user's filter is then set.
 * - An edge is in the in-edges of its object and in one of the two out-lists of its subject's container. If
 *   the object has a container, this is the list of containers; otherwise it is the list of other instances.
 * - If a fact expires, its expiration time is in `expiry-table.ts`. If it expires soon, the fact is also in
 *   the queue.
 * - A change invalidates every closure whose content it alters (`invalidation.ts`). Such changes are an edge
 *   into a container, the first assignee of a container (closures omit instances without assignees), and the
 *   deletion of a container. Later assignees, and the removal of the last assignee, do not alter closures.
 *
 * All functions require the lock and a critical section.
 */
import type { Invalidation } from '#engine/shared-index/closures/invalidation.ts'
import {
  clearExpiry,
  clearExpiryOfTuple,
  expiresAtOf,
  type FactNumbers,
  setExpiry,
} from '#engine/shared-index/memory/expiry-table.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import {
  isDead,
  newContainer,
  newRecord,
  outListOf,
  setAttributes,
} from '#engine/shared-index/memory/records.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { addEdge, addMember, deleteEdge, entryCount, pairFor } from '#engine/shared-index/memory/slab.ts'
import * as table from '#engine/shared-index/memory/string-table.ts'
import type { PostingLists } from '#engine/shared-index/attribute-index/posting-lists.ts'
import { lineOfBank, makeLineOfBank } from '#engine/shared-index/schema/tenant-role-overflow.ts'
import { maskOf, scopeOf } from '#engine/shared-index/schema/role-places.ts'
import type { AssignmentChange, Attributes, Expiration, InstanceKey, TupleChange } from '#model/change.ts'
import type { Tombstones } from './tombstones.ts'
import type { ExpiryQueue } from './expiry-queue.ts'
import type { NameLookups } from './names.ts'
import { addToFilter, dropScope, rebuildFilter } from './user-slab.ts'

/** Larger than the number of changes of any commit that is applied while readers exist. */
const RELINKED_MAX = 16_384

export class Facts {
  readonly #regions: Regions
  readonly #names: NameLookups
  readonly #invalidation: Invalidation
  readonly #tombstones: Tombstones
  readonly #postingLists: PostingLists
  readonly #expiryQueue: ExpiryQueue
  readonly #staleFilters = new NumberList()
  /** Records for which the next line in the string table has changed (`string-table.ts`). */
  readonly #relinked = new NumberList()
  #banks: number

  constructor(
    regions: Regions,
    parts: {
      names: NameLookups
      invalidation: Invalidation
      tombstones: Tombstones
      postingLists: PostingLists
      expiryQueue: ExpiryQueue
      banks: number
    },
  ) {
    this.#regions = regions
    this.#banks = parts.banks
    this.#names = parts.names
    this.#invalidation = parts.invalidation
    this.#tombstones = parts.tombstones
    this.#postingLists = parts.postingLists
    this.#expiryQueue = parts.expiryQueue
  }

  putTenant(key: string, attributes: Attributes | null): void {
    const line = this.#names.find(key, L.TENANT_TYPE) || this.#create(key, L.TENANT_TYPE)
    if (line !== 0) setAttributes(this.#regions, line, attributes)
  }

  /**
   * Removes the tenant. Its instances become unreachable, because they refer to a dead record; `sweep.ts`
   * collects them.
   */
  removeTenant(key: string): void {
    const line = this.#names.find(key, L.TENANT_TYPE)
    if (line === 0) return
    table.remove(this.#regions, this.#names.key.hash, line)
    this.#tombstones.addTenant(line)
  }

  putUser(key: string, attributes: Attributes | null): void {
    const old = this.#names.find(key, L.USER_TYPE)
    if (old !== 0) return this.#replaceAttributes(old, L.USER_TYPE, attributes)
    const line = this.#create(key, L.USER_TYPE)
    if (line === 0) return
    setAttributes(this.#regions, line, attributes)
    this.#postingLists.added(line)
  }

  removeUser(key: string): void {
    const line = this.#names.find(key, L.USER_TYPE)
    if (line === 0) return
    table.remove(this.#regions, this.#names.key.hash, line)
    this.#tombstones.add(line)
  }

  /**
   * Creates or updates an instance. If an instance is put again in another tenant, it is a new instance: the
   * roles and tuples of the old one are removed.
   */
  putInstance(name: InstanceKey, tenantKey: string, attributes: Attributes | null): void {
    const type = this.#names.schema.types.get(name.type)
    const tenant = this.#names.find(tenantKey, L.TENANT_TYPE)
    if (!type || tenant === 0) return
    const old = this.#names.find(name.key, type.id)
    if (old !== 0 && this.#tenantOf(old) === tenant) return this.#replaceAttributes(old, type.id, attributes)
    if (old !== 0) this.#remove(old)
    const line = this.#create(name.key, type.id)
    if (line === 0) return
    this.#regions.graph[(line << L.LINE_WORDS_LOG2) + L.I_TENANT] = tenant
    setAttributes(this.#regions, line, attributes)
    this.#postingLists.added(line)
  }

  removeInstance(name: InstanceKey): void {
    const line = this.#names.instance(name)
    if (line !== 0) this.#remove(line)
  }

  putAssignment(change: AssignmentChange & Expiration): void {
    const role = this.#names.role(change)
    const scoped = role && this.#names.scoped(change)
    const user = scoped && this.#names.holder(change)
    if (!role || !scoped || !user) return
    const line = role.type ? scoped : makeLineOfBank(this.#regions, scoped, role.roleIndex >>> 5)
    const record = user << L.LINE_WORDS_LOG2
    const next = table.nextOf(this.#regions.graph, user)
    const at = pairFor(this.#regions, record + L.U_ASSIGNMENTS, scopeOf(role, line))
    this.#noteLater(user, next)
    const { graph, header } = this.#regions
    const mask = maskOf(role)
    const isThere = (graph[at]! & mask) !== 0
    graph[at] = graph[at]! | mask
    const fact = { isTuple: false, line: user, other: scopeOf(role, line), link: role.roleIndex & 31 }
    this.#setExpiry(fact, change.expiresAt)
    if (isThere) return
    header[L.H_ASSIGNMENTS] = header[L.H_ASSIGNMENTS]! + 1
    this.#banks = Math.max(this.#banks, ((role.roleIndex >>> 5) % L.BANKS_MAX) + 1)
    addToFilter(graph, record, line)
    const assignees = (line << L.LINE_WORDS_LOG2) + L.I_ASSIGNEES
    const isFirst = graph[assignees + 1] === 0
    addMember(this.#regions, assignees, user)
    if (isFirst && role.type) this.#invalidation.from(scoped)
  }

  removeAssignment(change: AssignmentChange): void {
    const role = this.#names.role(change)
    const scoped = role && this.#names.scoped(change)
    const user = scoped && this.#names.holder(change)
    if (!role || !scoped || !user) return
    const line = role.type ? scoped : lineOfBank(this.#regions.graph, scoped, role.roleIndex >>> 5)
    if (line === 0) return
    this.#dropRole(user, scopeOf(role, line), maskOf(role))
  }

  /**
   * Removes a fact that has expired. Changes nothing and returns false in two cases: the fact has already
   * been removed, or an entity that it names is being collected, so that the fact gives no permissions any
   * more.
   */
  end(fact: FactNumbers): boolean {
    const { isTuple, line, other, link } = fact
    const { graph } = this.#regions
    // The queue can contain the same fact twice.
    if (expiresAtOf(this.#regions, fact) === null || isDead(graph, line)) return false
    if (isTuple) {
      const subject = graph[(other << L.LINE_WORDS_LOG2) + L.C_INSTANCE]!
      return !isDead(graph, subject) && this.#dropTuple(line, other, link)
    }
    if (isDead(graph, other & L.LINE_MASK)) return false
    this.#dropRole(line, other, 1 << link)
    return true
  }

  #dropRole(user: number, scope: number, mask: number): void {
    const next = table.nextOf(this.#regions.graph, user)
    const isGone = dropScope(this.#regions, user, scope, mask, this.#banks)
    if (isGone) this.#staleFilters.push(user)
    this.#noteLater(user, next)
  }

  #setExpiry(fact: FactNumbers, expiresAt: number | undefined): void {
    if (expiresAt === undefined) return clearExpiry(this.#regions, fact)
    setExpiry(this.#regions, fact, expiresAt)
    this.#expiryQueue.add(fact, expiresAt)
  }

  /**
   * Returns whether filters of users still have the bits of removed scopes. Such bits only cause unnecessary
   * probes.
   */
  hasStaleFilters(): boolean {
    return this.#staleFilters.length > 0
  }

  /** Rebuilds up to `count` stale filters. Call it before any record is freed. */
  rebuildFilters(count: number): void {
    const stale = this.#staleFilters
    for (let left = Math.min(count, stale.length); left > 0; left--) {
      stale.length -= 1
      rebuildFilter(this.#regions.graph, stale.items[stale.length]!)
    }
  }

  putTuple(change: TupleChange & Expiration): void {
    const relation = this.#names.relation(change)
    if (!relation) return
    const object = this.#names.object(change)
    const subject = object && this.#names.subject(change)
    if (!object || !subject || this.#tenantOf(subject) !== this.#tenantOf(object)) return
    const container = this.#containerOf(subject)
    const record = object << L.LINE_WORDS_LOG2
    const next = table.nextOf(this.#regions.graph, object)
    const isNew = addEdge(this.#regions, record + L.I_IN, container, relation.edgeClass)
    this.#setExpiry(
      { isTuple: true, line: object, other: container, link: relation.edgeClass },
      change.expiresAt,
    )
    if (!isNew) return
    this.#regions.header[L.H_TUPLES] = this.#regions.header[L.H_TUPLES]! + 1
    addEdge(this.#regions, outListOf(this.#regions.graph, container, object), object, relation.edgeClass)
    // A wide instance gets a container for its own closure. The container is created now, because moving the
    // edges of the instance becomes more expensive with each edge.
    if (entryCount(this.#regions.graph[record + L.I_IN + 1]!) > L.WIDE_IN_EDGES) this.#containerOf(object)
    this.#noteLater(object, next)
    this.#invalidation.from(object)
  }

  removeTuple(change: TupleChange): void {
    const relation = this.#names.relation(change)
    if (!relation) return
    const object = this.#names.object(change)
    const subject = object && this.#names.subject(change)
    if (!object || !subject) return
    const container = this.#regions.graph[(subject << L.LINE_WORDS_LOG2) + L.I_CONTAINER]!
    if (container !== 0) this.#dropTuple(object, container, relation.edgeClass)
  }

  #dropTuple(object: number, container: number, edgeClass: number): boolean {
    const { graph, header } = this.#regions
    const next = table.nextOf(graph, object)
    if (!deleteEdge(this.#regions, (object << L.LINE_WORDS_LOG2) + L.I_IN, container, edgeClass)) return false
    header[L.H_TUPLES] = header[L.H_TUPLES]! - 1
    deleteEdge(this.#regions, outListOf(this.#regions.graph, container, object), object, edgeClass)
    clearExpiryOfTuple(this.#regions, object, container, edgeClass)
    this.#noteLater(object, next)
    this.#invalidation.from(object)
    return true
  }

  /**
   * Updates the next lines in the string table. Call it after the critical section and before any record is
   * freed.
   */
  noteNextLines(): void {
    const relinked = this.#relinked
    for (let at = 0; at < relinked.length; at++) table.noteNext(this.#regions, relinked.items[at]!)
    relinked.length = 0
  }

  /** Returns the largest number of banks that any type uses. A line has at most this many scopes. */
  banks(): number {
    return this.#banks
  }

  /**
   * Records an entity for `noteNextLines`, if its next line has changed. A load has no readers and is a
   * single critical section with very many changes. It therefore defers only a limited number of entities and
   * updates the others immediately.
   */
  #noteLater(record: number, nextBefore: number): void {
    if (table.nextOf(this.#regions.graph, record) === nextBefore) return
    this.#relinked.push(record)
    if (this.#relinked.length === RELINKED_MAX) this.noteNextLines()
  }

  /** Creates a record. No record may have this key. Returns 0 if the text is not a valid key. */
  #create(key: string, type: number): number {
    if (!this.#names.key.read(key, type)) return 0
    const line = newRecord(this.#regions, this.#names.key, type, type === L.USER_TYPE ? L.USER_LINES_LOG2 : 0)
    table.insert(this.#regions, this.#names.key.hash, line)
    this.#regions.header[L.H_RECORDS] = this.#regions.header[L.H_RECORDS]! + 1
    return line
  }

  #replaceAttributes(line: number, type: number, attributes: Attributes | null): void {
    if (!this.#postingLists.has(type)) return setAttributes(this.#regions, line, attributes)
    this.#postingLists.changing(line, () => setAttributes(this.#regions, line, attributes))
  }

  #tenantOf(instance: number): number {
    return this.#regions.graph[(instance << L.LINE_WORDS_LOG2) + L.I_TENANT]!
  }

  /** Removes an instance. `#names.key` must contain its key. */
  #remove(instance: number): void {
    const { graph } = this.#regions
    table.remove(this.#regions, this.#names.key.hash, instance)
    if (graph[(instance << L.LINE_WORDS_LOG2) + L.I_CONTAINER] !== 0) this.#invalidation.from(instance)
    this.#tombstones.add(instance)
  }

  /**
   * Returns the container of the instance. If it has none, creates one and moves the in-edges of the instance
   * to the other out-lists of their subjects.
   */
  #containerOf(instance: number): number {
    const record = instance << L.LINE_WORDS_LOG2
    const known = this.#regions.graph[record + L.I_CONTAINER]!
    if (known !== 0) return known
    const container = newContainer(this.#regions)
    const { graph } = this.#regions
    graph[container + L.C_INSTANCE] = instance
    graph[container + L.C_VERSION] = 1
    const ptr = graph[record + L.I_IN]!
    const meta = graph[record + L.I_IN + 1]!
    if ((meta & L.LOG2_MASK) === L.INLINE) this.#moveOutEdge(ptr, instance, meta >>> L.COUNT_SHIFT)
    else if (meta !== 0) {
      const end = ptr + (2 << (meta & L.LOG2_MASK))
      for (let at = ptr; at < end; at += 2) {
        const subject = this.#regions.graph[at]!
        if (subject !== 0) this.#moveOutEdge(subject, instance, this.#regions.graph[at + 1]!)
      }
    }
    this.#regions.graph[record + L.I_CONTAINER] = container >>> L.LINE_WORDS_LOG2
    return container >>> L.LINE_WORDS_LOG2
  }

  #moveOutEdge(container: number, object: number, edgeClass: number): void {
    const record = container << L.LINE_WORDS_LOG2
    deleteEdge(this.#regions, record + L.C_OUT_OTHERS, object, edgeClass)
    addEdge(this.#regions, record + L.C_OUT_CONTAINERS, object, edgeClass)
  }
}
