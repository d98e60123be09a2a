/**
 * Computes the maximum number of blocks of the graph (`allocator.ts`) that the changes of a commit need, and
 * whether the free space is sufficient. This happens before anything is changed and, if possible, in the
 * process that is about to commit. The commit can thus be rejected as a whole.
 *
 * Invariant: applying the changes allocates at most the computed blocks. The computation reads the state
 * before the changes. It assumes that every put creates an entity, and that every entry is added to its slab.
 * Removals need no space, because a slab does not shrink if there is no space for the smaller block
 * (`slab.ts`).
 */
import { log2Ceil } from '#engine/shared-index/memory/allocator.ts'
import { NAMES_MAX, PAGE_LOG2, PAGE_MASK } from '#engine/shared-index/memory/attribute-names.ts'
import { blocksForExpiry } from '#engine/shared-index/memory/expiry-table.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { isNumerable, nameBlockLog2 } from '#engine/shared-index/memory/numbered-names.ts'
import { attributesWordsMax } from '#engine/shared-index/memory/records.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import {
  blockLog2,
  capacityLog2,
  entryCount,
  PAIRS,
  SET,
  SHRINKING_LOG2_MAX,
  type Width,
} from '#engine/shared-index/memory/slab.ts'
import { partitionOf, slotsLog2 } from '#engine/shared-index/memory/string-table.ts'
import { overflowLinesOf, lineOfBank } from '#engine/shared-index/schema/tenant-role-overflow.ts'
import type { AssignmentChange, Attributes, Change, InstanceKey, TupleChange } from '#model/change.ts'
import type { NameLookups } from './names.ts'

/** Numbers of blocks, by log2 of their words. */
export type BlockCounts = Float64Array

const CONTAINER_LOG2 = L.LINE_WORDS_LOG2 + L.CONTAINER_LINES_LOG2
/** A number of blocks that is always too large: more blocks of the largest size than fit into any region. */
const ALL_THERE_IS = 2 ** 20
const encoder = new TextEncoder()

export function noBlocks(): BlockCounts {
  return new Float64Array(L.SIZE_CLASSES)
}

/**
 * Returns the blocks that the changes need. Requires no lock: only the writer frees blocks, and this function
 * runs in its thread. O(changes, and in-edges of instances that become subjects).
 */
export function blocksFor(changes: readonly Change[], regions: Regions, names: NameLookups): BlockCounts {
  const reckoning = new Reckoning(regions, names)
  for (const change of changes) reckoning.take(change)
  return reckoning.total()
}

/**
 * Returns whether these blocks can be allocated in any order, with `spare` words left. Each block uses the
 * smallest free block that is large enough, which wastes as little as possible. If no free block is large
 * enough, the block comes from the unused area. O(sizes).
 */
export function hasCapacity({ header, graphWordsMax }: Regions, blocks: BlockCounts, spare: number): boolean {
  let left = 0
  for (let log2 = 0; log2 < L.SIZE_CLASSES; log2++) {
    left = Math.max(0, left + blocks[log2]! - header[L.H_FREE_COUNTS + log2]!)
  }
  let words = 0
  for (let log2 = L.SIZE_CLASSES - 1; log2 >= 0 && left > 0; log2--) {
    const count = Math.min(left, blocks[log2]!)
    words += count * 2 ** Math.max(log2, L.LINE_WORDS_LOG2)
    left -= count
  }
  const free = graphWordsMax - L.OPEN_BEHIND_TOP - header[L.H_GRAPH_TOP]! - spare
  return words <= Math.max(free, 0)
}

class Reckoning {
  readonly #regions: Regions
  readonly #names: NameLookups
  readonly #blocks = noBlocks()
  /**
   * Additional entries of each slab. The key is the descriptor of the slab, or a name if the record does not
   * exist yet.
   */
  readonly #entries = new Map<
    number | string,
    { readonly width: Width; readonly meta: number; more: number }
  >()
  readonly #keysMore = new Map<number, number>()
  readonly #newNames = new Set<string>()
  /**
   * Whether the commit has removals. If so, a removed entity might be created again, and a slab that shrank
   * might grow again.
   */
  #hasRemovals = false
  /** Number of facts that get an expiration time. */
  #expiring = 0
  /** Number of keys whose types do not exist yet. Their hashes, and thus their partitions, are not known. */
  #keysAnywhere = 0

  constructor(regions: Regions, names: NameLookups) {
    this.#regions = regions
    this.#names = names
    regions.attributeNames.refresh()
  }

  take(change: Change): void {
    if (change.kind.endsWith('-removed')) this.#hasRemovals = true
    if ('expiresAt' in change && change.expiresAt !== undefined) this.#expiring += 1
    switch (change.kind) {
      case 'tenant-put':
        return this.#record(change.tenant, L.TENANT_TYPE, change.attributes)
      case 'user-put':
        return this.#record(change.user, L.USER_TYPE, change.attributes ?? null)
      case 'instance-put': {
        const type = this.#names.schema.types.get(change.instance.type)
        return this.#record(change.instance.key, type?.id ?? null, change.attributes)
      }
      case 'assignment-put':
        return this.#assignment(change)
      case 'tuple-put':
        return this.#tuple(change)
      default: // Removals need no space, and the schema is stored elsewhere.
    }
  }

  total(): BlockCounts {
    for (const { width, meta, more } of this.#entries.values()) this.#slab(width, meta, more)
    if (this.#expiring > 0)
      for (const log2 of blocksForExpiry(this.#regions, this.#expiring)) this.#block(log2)
    const { header } = this.#regions
    let largest = 0
    for (let partition = 0; partition < L.PARTITION_COUNT; partition++) {
      const meta = header[L.H_PARTITIONS + (partition << 1) + 1]!
      largest = Math.max(largest, meta & L.LOG2_MASK)
      const more = this.#keysMore.get(partition) ?? 0
      if (more === 0) continue
      const to = slotsLog2(header, partition, more)
      for (let log2 = (meta & L.LOG2_MASK) + (meta === 0 ? 0 : 1); log2 <= to; log2++) this.#block(log2 + 1)
    }
    if (this.#keysAnywhere === 0) return this.#blocks
    const to = Math.max(largest + 1, capacityLog2(this.#keysAnywhere) + 1)
    for (let log2 = 1; log2 <= to; log2++) {
      this.#blocks[log2 + 1]! += Math.min(this.#keysAnywhere, L.PARTITION_COUNT)
    }
    return this.#blocks
  }

  #block(log2: number): void {
    this.#blocks[Math.max(1, log2)]! += 1
  }

  /** Counts a new record. `type` is null if the type does not exist yet. */
  #record(key: string, type: number | null, attributes: Attributes | null): void {
    this.#block(L.LINE_WORDS_LOG2 + (type === L.USER_TYPE ? L.USER_LINES_LOG2 : 0))
    const bytes = encoder.encode(key).length
    // If the record has attributes, a key of 33 bytes or more does not fit into it.
    if (bytes > L.R_KEY_WORDS_BESIDE_ATTRIBUTES * L.WORD_BYTES) this.#block(log2Ceil(1 + ((bytes + 3) >>> 2)))
    if (attributes !== null) {
      this.#block(log2Ceil(attributesWordsMax(attributes)))
      for (const name of Object.keys(attributes)) this.#attributeName(name)
    }
    if (type === null) {
      this.#keysAnywhere += 1
      return
    }
    this.#names.find(key, type)
    const partition = partitionOf(this.#names.key.hash)
    this.#keysMore.set(partition, (this.#keysMore.get(partition) ?? 0) + 1)
  }

  /** Counts a name that might get a number. */
  #attributeName(name: string): void {
    const { attributeNames } = this.#regions
    if (attributeNames.numberOf(name) >= 0 || !isNumerable(name) || this.#newNames.has(name)) return
    if (attributeNames.known + this.#newNames.size >= NAMES_MAX) return
    this.#newNames.add(name)
    this.#block(nameBlockLog2(encoder.encode(name).length))
    // The first name needs a directory and a page. After that, every 64th name needs another page.
    this.#blocks[PAGE_LOG2]! +=
      this.#newNames.size === 1 ? 2 : (this.#newNames.size & PAGE_MASK) === 0 ? 1 : 0
  }

  #assignment(change: AssignmentChange): void {
    const { scope } = change
    const user = this.#names.find(change.user, L.USER_TYPE)
    this.#entry(user, L.U_ASSIGNMENTS, `user ${change.user}`, PAIRS)
    if ('instance' in scope) {
      this.#entry(this.#names.instance(scope.instance), L.I_ASSIGNEES, `on ${nameOf(scope.instance)}`, SET)
      return
    }
    const { graph } = this.#regions
    const role = this.#names.role(change)
    const tenant = this.#names.find(scope.tenant, L.TENANT_TYPE)
    const line = tenant === 0 || !role ? 0 : lineOfBank(graph, tenant, role.roleIndex >>> 5)
    const name = `in ${scope.tenant} ${role ? role.roleIndex >>> (5 + L.BANKS_LOG2) : ''}`
    this.#entry(line, L.I_ASSIGNEES, name, SET)
    if (line !== 0) return
    // The tenant needs an overflow line and a directory. If the role is new, it might be stored under any
    // line of the tenant, so an entry is counted for each.
    for (let n = 0; n < 2; n++) this.#block(L.LINE_WORDS_LOG2)
    if (role || tenant === 0) return
    for (const each of [tenant, ...overflowLinesOf(graph, tenant)]) this.#entry(each, L.I_ASSIGNEES, '', SET)
  }

  #tuple({ subject, object }: TupleChange): void {
    const from = this.#names.instance(subject)
    const to = this.#names.instance(object)
    const container = this.#container(from)
    this.#entry(to, L.I_IN, `into ${nameOf(object)}`, PAIRS)
    // The edge is in one of these two lists. It moves to the other list when the object becomes a subject.
    this.#entry(container, L.C_OUT_CONTAINERS, `from ${nameOf(subject)}`, PAIRS)
    this.#entry(container, L.C_OUT_OTHERS, `others ${nameOf(subject)}`, PAIRS)
    this.#becomeContainer(from)
    this.#becomeContainer(to)
  }

  /**
   * Counts the container that the subject of a tuple or an object with many in-edges gets. The in-edges of
   * the instance then move to the other out-lists of their subjects.
   */
  #becomeContainer(instance: number): void {
    if (this.#container(instance) !== 0) return
    this.#block(CONTAINER_LOG2)
    if (instance === 0) return
    const { graph } = this.#regions
    const at = (instance << L.LINE_WORDS_LOG2) + L.I_IN
    const ptr = graph[at]!
    const meta = graph[at + 1]!
    if (meta === 0) return
    if ((meta & L.LOG2_MASK) === L.INLINE) return this.#entry(ptr, L.C_OUT_CONTAINERS, '', PAIRS)
    for (let word = ptr; word < ptr + (2 << (meta & L.LOG2_MASK)); word += 2) {
      if (graph[word] !== 0) this.#entry(graph[word]!, L.C_OUT_CONTAINERS, '', PAIRS)
    }
  }

  #container(instance: number): number {
    return instance === 0 ? 0 : this.#regions.graph[(instance << L.LINE_WORDS_LOG2) + L.I_CONTAINER]!
  }

  /**
   * Counts an entry that is added to a slab: of the record at this line or, if the line is 0, of a future
   * record with this name.
   */
  #entry(line: number, field: number, name: string, width: Width): void {
    const descriptor = (line << L.LINE_WORDS_LOG2) + field
    const slab = line === 0 ? name : descriptor
    const known = this.#entries.get(slab)
    if (known) known.more += 1
    else {
      const meta = line === 0 ? 0 : this.#regions.graph[descriptor + 1]!
      this.#entries.set(slab, { width, meta, more: 1 })
    }
  }

  /**
   * Adds the blocks that a slab allocates one after another while it receives `more` entries. If its entity
   * is created again, the slab starts again with the first block.
   */
  #slab(width: Width, meta: number, more: number): void {
    const isBlock = meta !== 0 && (meta & L.LOG2_MASK) !== L.INLINE
    const count = (meta === 0 ? 0 : entryCount(meta)) + more
    if (count > L.ENTRIES_MAX) this.#blocks[L.SIZE_CLASSES - 1]! += ALL_THERE_IS
    const to = capacityLog2(count)
    for (let log2 = isBlock ? (meta & L.LOG2_MASK) + 1 : 1; log2 <= to; log2++) {
      this.#block(blockLog2(log2, width))
    }
    const again = Math.max(capacityLog2(more), this.#hasRemovals ? Math.min(to, SHRINKING_LOG2_MAX) : 0)
    for (let log2 = 1; log2 <= again; log2++) this.#block(blockLog2(log2, width))
  }
}

function nameOf({ type, key }: InstanceKey): string {
  return JSON.stringify([type, key])
}
