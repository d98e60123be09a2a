/**
 * Manages tombstones: records that are marked as dead and have not been collected yet. A removed record is
 * dead for every query immediately. The references to it are then unlinked in batches, so that the removal of
 * an entity with a million references does not block readers for long.
 *
 * A dead record is not visible, for three reasons:
 *
 * - No name leads to it, because it was removed from the string table.
 * - No closure reaches it: the closures below it were invalidated, and builders stop at dead records.
 * - Every enumeration skips dead records.
 *
 * Invariant: only the first record of the queue is partly unlinked. No other code changes its slabs, because
 * changes refer to records by name and this record has none. A cursor into its slabs therefore stays valid
 * between steps.
 *
 * All functions require the lock and a critical section, unless their comment states otherwise.
 */
import { release } from '#engine/shared-index/memory/allocator.ts'
import { clearExpiryOfTuple, clearExpiryOfRoles } from '#engine/shared-index/memory/expiry-table.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import { outListOf, releaseRecord, typeOf } from '#engine/shared-index/memory/records.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { deleteEdge, deleteMember, PAIRS, releaseSlab, SET } from '#engine/shared-index/memory/slab.ts'
import type { PostingLists } from '#engine/shared-index/attribute-index/posting-lists.ts'
import { overflowLinesOf } from '#engine/shared-index/schema/tenant-role-overflow.ts'
import { bitCount, rebuildFilter, takeMask } from './user-slab.ts'

/** The slabs of a record, in the order in which they are unlinked. */
const PHASES = ['assignees', 'in', 'out-containers', 'out-others', 'assignments'] as const

export class Tombstones {
  readonly #regions: Regions
  readonly #banks: () => number
  readonly #postingLists: PostingLists
  /**
   * Lines of the tombstones. They are in a `NumberList`, because the garbage collector would copy and trace a
   * growing array of numbers while readers wait.
   */
  readonly #queue = new NumberList()
  #first = 0
  #phase = 0
  #cursor = 0
  #deadTenants: number[] = []

  constructor(
    regions: Regions,
    parts: { readonly banks: () => number; readonly postingLists: PostingLists },
  ) {
    this.#regions = regions
    this.#banks = parts.banks
    this.#postingLists = parts.postingLists
  }

  isEmpty(): boolean {
    return this.#first === this.#queue.length
  }

  hasDeadTenants(): boolean {
    return this.#deadTenants.length > 0
  }

  /**
   * Ensures capacity for `records` more tombstones, while no reader waits. Requires neither the lock nor a
   * critical section.
   */
  reserve(records: number): void {
    this.#queue.reserve(records)
  }

  add(line: number): void {
    this.#postingLists.removed(line)
    this.#markDead(line)
    this.#queue.push(line)
  }

  /** Marks a tenant as dead. Its record remains until no instance refers to it; see `sweep.ts`. */
  addTenant(line: number): void {
    this.#postingLists.removed(line)
    const { graph } = this.#regions
    for (const overflow of overflowLinesOf(graph, line)) {
      graph[overflow << L.LINE_WORDS_LOG2] = graph[overflow << L.LINE_WORDS_LOG2]! | L.FLAG_DEAD
    }
    this.#markDead(line)
    this.#deadTenants.push(line)
  }

  takeDeadTenants(): number[] {
    const lines = this.#deadTenants
    this.#deadTenants = []
    return lines
  }

  /** Queues dead tenants for collection. All their instances must have been added before. */
  releaseTenants(lines: readonly number[]): void {
    for (const line of lines) {
      for (const overflow of overflowLinesOf(this.#regions.graph, line)) this.#queue.push(overflow)
      this.#queue.push(line)
    }
  }

  /** Unlinks up to `steps` references. The next call continues after them. */
  unlink(steps: number): void {
    let left = steps
    while (left > 0 && !this.isEmpty()) {
      const line = this.#queue.items[this.#first]!
      left -= this.#unlinkPhase(line, left)
      if (this.#phase < PHASES.length) continue
      this.#phase = 0
      this.#free(line)
      this.#first += 1
      if (this.isEmpty()) {
        this.#queue.length = 0
        this.#first = 0
      }
    }
  }

  #markDead(line: number): void {
    const { graph, header } = this.#regions
    graph[line << L.LINE_WORDS_LOG2] = graph[line << L.LINE_WORDS_LOG2]! | L.FLAG_DEAD
    header[L.H_RECORDS] = header[L.H_RECORDS]! - 1
  }

  /**
   * Unlinks references in the current slab. At the end of the slab, moves on to the next slab. Returns the
   * number of steps taken, at least 1.
   */
  #unlinkPhase(line: number, steps: number): number {
    const descriptor = this.#descriptor(line)
    const { graph } = this.#regions
    const meta = descriptor === 0 ? 0 : graph[descriptor + 1]!
    const width = PHASES[this.#phase] === 'assignees' ? SET : PAIRS
    let taken = 1
    if (meta !== 0 && (meta & L.LOG2_MASK) === L.INLINE) {
      this.#unlinkEntry(line, graph[descriptor]!, meta >>> L.COUNT_SHIFT)
    } else if (meta !== 0) {
      const capacity = 1 << (meta & L.LOG2_MASK)
      const ptr = graph[descriptor]!
      for (; this.#cursor < capacity && taken < steps; this.#cursor++, taken++) {
        const at = ptr + (this.#cursor << width)
        if (graph[at] !== 0) this.#unlinkEntry(line, graph[at]!, width === PAIRS ? graph[at + 1]! : 0)
      }
      if (this.#cursor < capacity) return taken
    }
    if (descriptor !== 0) releaseSlab(this.#regions, descriptor, width)
    this.#phase += 1
    this.#cursor = 0
    return taken
  }

  #descriptor(line: number): number {
    const record = line << L.LINE_WORDS_LOG2
    const type = typeOf(this.#regions.graph, line)
    const isUser = type === L.USER_TYPE
    const container = isUser ? 0 : this.#regions.graph[record + L.I_CONTAINER]! << L.LINE_WORDS_LOG2
    switch (PHASES[this.#phase]) {
      case 'assignments':
        return isUser ? record + L.U_ASSIGNMENTS : 0
      case 'assignees':
        return isUser ? 0 : record + L.I_ASSIGNEES
      case 'in':
        return isUser || type === L.TENANT_TYPE ? 0 : record + L.I_IN
      case 'out-containers':
        return container === 0 ? 0 : container + L.C_OUT_CONTAINERS
      default:
        return container === 0 ? 0 : container + L.C_OUT_OTHERS
    }
  }

  /**
   * Removes the reference at the other end. Idempotent, because the other end might also be dead and already
   * unlinked.
   */
  #unlinkEntry(line: number, entry: number, second: number): void {
    const regions = this.#regions
    const { graph, header } = regions
    const record = line << L.LINE_WORDS_LOG2
    switch (PHASES[this.#phase]) {
      case 'assignments':
        header[L.H_ASSIGNMENTS] = header[L.H_ASSIGNMENTS]! - bitCount(second)
        clearExpiryOfRoles(regions, line, entry, second)
        deleteMember(regions, ((entry & L.LINE_MASK) << L.LINE_WORDS_LOG2) + L.I_ASSIGNEES, line)
        break
      case 'assignees':
        for (let bank = 0; bank < this.#banks(); bank++) {
          if (takeMask(regions, entry, line | (bank << L.BANK_SHIFT), -1)) rebuildFilter(regions.graph, entry)
        }
        break
      case 'in':
        deleteEdge(regions, outListOf(graph, entry, line), line, second)
        clearExpiryOfTuple(regions, line, entry, second)
        header[L.H_TUPLES] = header[L.H_TUPLES]! - 1
        break
      default: {
        const container = graph[record + L.I_CONTAINER]!
        if (deleteEdge(regions, (entry << L.LINE_WORDS_LOG2) + L.I_IN, container, second)) {
          header[L.H_TUPLES] = header[L.H_TUPLES]! - 1
          clearExpiryOfTuple(regions, entry, container, second)
        }
      }
    }
  }

  #free(line: number): void {
    const { graph } = this.#regions
    const record = line << L.LINE_WORDS_LOG2
    const type = typeOf(graph, line)
    const isUser = type === L.USER_TYPE
    const isTenant = type === L.TENANT_TYPE && (graph[record]! & L.FLAG_OVERFLOW) === 0
    if (isTenant && graph[record + L.T_OVERFLOW] !== 0) {
      release(this.#regions, graph[record + L.T_OVERFLOW]!, L.LINE_WORDS_LOG2)
    }
    const container = isUser ? 0 : graph[record + L.I_CONTAINER]! << L.LINE_WORDS_LOG2
    if (container !== 0) {
      const more = graph[container + L.C_MORE_HEADS]!
      if (more !== 0) release(this.#regions, more, graph[more]!)
      release(this.#regions, container, L.LINE_WORDS_LOG2 + L.CONTAINER_LINES_LOG2)
    }
    releaseRecord(this.#regions, line, isUser ? L.USER_LINES_LOG2 : 0)
  }
}
