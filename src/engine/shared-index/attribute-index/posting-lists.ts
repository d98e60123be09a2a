/**
 * Maintains the attribute index for the writer (`list-directory.ts`): keeps the lists that the rules need,
 * builds new lists in idle periods, and updates all lists when records change.
 *
 * Invariants:
 *
 * - A list that can be read contains every existing entity of its type, under all hashes of the entity. It
 *   contains no freed record.
 * - A list that is being built is updated like the other lists. Therefore building only has to add the
 *   records that already exist, and may visit a record twice.
 * - Lists are derived from the graph. If the memory is not sufficient for a list, the list is abandoned, and
 *   searches scan instead.
 */
import {
  allocate,
  allocateZeroed,
  hasBlock,
  log2Ceil,
  release,
} from '#engine/shared-index/memory/allocator.ts'
import type { ListMemory } from '#engine/shared-index/memory/list-memory.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { hashOf } from '#engine/shared-index/memory/key.ts'
import { isDead, keyBytes, keyStart, typeOf } from '#engine/shared-index/memory/records.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import * as table from '#engine/shared-index/memory/string-table.ts'
import { ValueWords } from '#engine/shared-index/memory/values.ts'
import {
  ALL,
  attributeOf,
  BUILDING,
  DIRECTORY_LOG2,
  FREE,
  HASH_OF_ALL,
  LISTS_MAX,
  READY,
  SLOT,
  SLOT_WORDS_LOG2,
} from './list-directory.ts'
import { clear, insert, type OrderedList, remove } from './ordered-list.ts'
import { ListedNames, AttributeHashes } from './attribute-hashes.ts'

/** A list, as the writer sees it. */
interface KeptList {
  readonly type: number
  readonly name: string
  /** The attribute, or `null` if the list is not by an attribute. */
  readonly attribute: string | null
  /** Contains only the attribute of this list. */
  readonly only: ListedNames
  readonly slot: number
  /** Progress of building the list; `null` if the list can be read. */
  building: Building | null
  /** True if the memory was not sufficient for the list. */
  isGivenUp: boolean
}

/** The lists of one type, and the names of the attributes that have a list. */
interface TypeLists {
  readonly all: readonly KeptList[]
  readonly byAttribute: readonly KeptList[]
  readonly attributes: ListedNames
}

/** Progress of building a list: the next slot of the string table to scan, in the current partition. */
interface Building {
  partition: number
  slot: number
  /**
   * Address, size and number of removed records of the partition when its scan began. If one of them has
   * changed, the scan of the partition starts again, because records might have moved.
   */
  ptr: number
  meta: number
  removals: number
}

/** Number of chunks freed per step. */
const CHUNKS_FREED = 256

export class PostingLists {
  readonly #regions: Regions
  readonly #hashes: AttributeHashes
  /** Lists by the id of their type. */
  readonly #byType = new Map<number, TypeLists>()
  readonly #dropped: KeptList[] = []
  readonly #text = new ValueWords()
  /**
   * Number of removed records per partition of the string table. Counted only while a list is being built.
   */
  readonly #removals = new Int32Array(L.PARTITION_COUNT)
  #isBuilding = false

  constructor(regions: Regions) {
    this.#regions = regions
    this.#hashes = new AttributeHashes(regions)
  }

  /**
   * Keeps the lists with these names, adds missing ones and drops all others. If a list is dropped, lists
   * that lacked memory are tried again. Returns false if a later call can succeed, because dropped lists
   * still have to be freed. Requires a critical section. O(lists).
   */
  keep(wanted: readonly { readonly type: number; readonly name: string }[]): boolean {
    const names = new Set(wanted.map(nameOf))
    const before = [...this.#byType.values()].flatMap(({ all }) => all)
    const isMemoryFreed = before.some(list => !list.isGivenUp && !names.has(nameOf(list)))
    for (const [type, { all }] of this.#byType) {
      const kept = all.filter(list => names.has(nameOf(list)) && !(list.isGivenUp && isMemoryFreed))
      for (const list of all) if (!kept.includes(list)) this.#drop(list)
      this.#note(type, kept)
    }
    for (const { type, name } of wanted) {
      const lists = this.#byType.get(type)?.all ?? []
      if (lists.some(list => list.name === name)) continue
      const list = this.#begin(type, name)
      if (list === null) return this.#dropped.length === 0
      this.#note(type, [...lists, list])
    }
    return true
  }

  #note(type: number, all: readonly KeptList[]): void {
    const byAttribute = all.filter(({ attribute }) => attribute !== null)
    const attributes = new ListedNames(byAttribute.map(({ attribute }) => attribute!))
    if (all.length === 0) this.#byType.delete(type)
    else this.#byType.set(type, { all, byAttribute, attributes })
  }

  /**
   * Returns whether records of this type are in lists. If so, the writer must report changes of these
   * records.
   */
  has(type: number): boolean {
    return this.#byType.size > 0 && this.#byType.has(type)
  }

  /**
   * Runs `change`, which modifies the attributes of the record, and then updates the lists. Requires a
   * critical section.
   */
  changing(line: number, change: () => void): void {
    const lists = this.#byType.get(typeOf(this.#regions.graph, line))
    if (lists === undefined) return change()
    const before = this.#hashes.of(line, lists.attributes)
    change()
    const now = this.#hashes.of(line, lists.attributes)
    for (const [position, list] of lists.byAttribute.entries()) {
      const gone = before[position]!
      const found = now[position]!
      for (const hash of gone) if (!found.includes(hash)) this.#remove(list, hash, line)
      for (const hash of found) if (!gone.includes(hash)) this.#insert(list, hash, line)
    }
  }

  /**
   * Adds a new record to the lists of its type: by its tenant and by its attributes. Requires a critical
   * section.
   */
  added(line: number): void {
    this.#each(line, (list, hash) => this.#insert(list, hash, line))
  }

  /**
   * Removes a record from the lists of its type. Must be called before the record is freed, because the key
   * and the attributes of the record determine its entries. Requires a critical section.
   */
  removed(line: number): void {
    if (this.#byType.size === 0) return
    if (this.#isBuilding) this.#removals[this.#partitionOf(line)]! += 1
    this.#each(line, (list, hash) => this.#remove(list, hash, line))
  }

  /**
   * Calls `visit` with each list of the record's type and each hash under which the list contains the record.
   */
  #each(line: number, visit: (list: KeptList, hash: number) => void): void {
    const lists = this.#byType.get(typeOf(this.#regions.graph, line))
    if (lists === undefined) return
    for (const list of lists.all) if (list.attribute === null) visit(list, this.#hashOfPlace(list, line))
    const hashes = this.#hashes.of(line, lists.attributes)
    for (const [position, list] of lists.byAttribute.entries()) {
      for (const hash of hashes[position]!) visit(list, hash)
    }
  }

  /**
   * Continues building a list, or frees dropped lists: processes about `records` records. Needs no critical
   * section, because no thread reads these lists. Returns whether all work is done. If a list is complete,
   * also returns the function that publishes it.
   */
  build(records: number): { readonly isDone: boolean; readonly publish: (() => void) | null } {
    const dropped = this.#dropped.at(-1)
    if (dropped !== undefined) {
      if (this.#freed(dropped)) this.#dropped.pop()
      return { isDone: false, publish: null }
    }
    for (const { all } of this.#byType.values()) {
      for (const list of all) {
        if (list.building === null || list.isGivenUp) continue
        this.#isBuilding = true
        if (!this.#goOn(list, list.building, records)) return { isDone: false, publish: null }
        return { isDone: false, publish: () => this.#publish(list) }
      }
    }
    this.#isBuilding = false
    return { isDone: true, publish: null }
  }

  get #memory(): ListMemory {
    return this.#regions.lists
  }

  #list(list: KeptList): OrderedList {
    return { memory: this.#memory, at: list.slot + SLOT.chunks, graph: this.#regions.graph }
  }

  /** Returns the hash of a record in a list of all entities or in a list by tenant. */
  #hashOfPlace({ name }: KeptList, line: number): number {
    return name === ALL ? HASH_OF_ALL : this.#regions.graph[(line << L.LINE_WORDS_LOG2) + L.I_TENANT]!
  }

  #insert(list: KeptList, hash: number, line: number): void {
    if (list.isGivenUp || insert(this.#list(list), hash, line)) return
    // This needs a critical section only if searches can read the list.
    list.isGivenUp = true
    this.#memory.graph[list.slot + SLOT.state] = BUILDING
    this.#dropped.push({ ...list })
  }

  #remove(list: KeptList, hash: number, line: number): void {
    if (!list.isGivenUp) remove(this.#list(list), hash, line)
  }

  /** Starts a new list. Returns `null` if there is no free slot or not enough memory. */
  #begin(type: number, name: string): KeptList | null {
    const memory = this.#memory
    if (memory.header[L.H_LIST_DIRECTORY] === 0) {
      if (!hasBlock(memory, DIRECTORY_LOG2)) return null
      memory.header[L.H_LIST_DIRECTORY] = allocateZeroed(memory, DIRECTORY_LOG2)
    }
    this.#text.length = 0
    this.#text.json(name)
    const log2 = Math.max(1, log2Ceil(this.#text.length))
    const slot = this.#freeSlot()
    if (slot === 0 || !hasBlock(memory, log2)) return null
    const text = allocate(memory, log2)
    const { graph } = memory
    graph.set(this.#text.words.subarray(0, this.#text.length), text)
    graph.fill(0, slot, slot + (1 << SLOT_WORDS_LOG2))
    graph[slot + SLOT.state] = BUILDING
    graph[slot + SLOT.type] = type
    graph[slot + SLOT.name] = text
    const building = { partition: 0, slot: 0, ptr: 0, meta: 0, removals: -1 }
    const attribute = attributeOf(name)
    const only = new ListedNames(attribute === null ? [] : [attribute])
    return { type, name, attribute, only, slot, building, isGivenUp: false }
  }

  #freeSlot(): number {
    const { header, graph } = this.#memory
    for (let number = 0; number < LISTS_MAX; number++) {
      const slot = header[L.H_LIST_DIRECTORY]! + (number << SLOT_WORDS_LOG2)
      if (graph[slot + SLOT.state] === FREE) return slot
    }
    return 0
  }

  #publish(list: KeptList): void {
    list.building = null
    if (!list.isGivenUp) this.#memory.graph[list.slot + SLOT.state] = READY
  }

  /** Hides the list from readers. Its memory is freed later. */
  #drop(list: KeptList): void {
    const { graph } = this.#memory
    graph[list.slot + SLOT.state] = BUILDING
    if (!list.isGivenUp) this.#dropped.push(list)
    // An abandoned list still has its slot. Its memory is already free or is waiting to be freed.
    else if (!this.#dropped.some(({ slot }) => slot === list.slot)) graph[list.slot + SLOT.state] = FREE
    list.isGivenUp = true
  }

  /**
   * Frees at most `CHUNKS_FREED` chunks of the list. Returns true when the whole list is free, including its
   * name and, if the list is not needed any more, its slot.
   */
  #freed(list: KeptList): boolean {
    const memory = this.#memory
    if (!clear(this.#list(list), CHUNKS_FREED)) return false
    const { graph } = memory
    const text = graph[list.slot + SLOT.name]!
    if (text !== 0) release(memory, text, Math.max(1, log2Ceil(1 + ((graph[text]! + 3) >>> 2))))
    graph[list.slot + SLOT.name] = 0
    // If a list lacked memory and the rules still need it, it keeps its slot, so that the writer does not try
    // to build the list again.
    if (!this.#isKept(list)) graph[list.slot + SLOT.state] = FREE
    return true
  }

  #isKept({ type, slot }: KeptList): boolean {
    return this.#byType.get(type)?.all.some(list => list.slot === slot) ?? false
  }

  /**
   * Adds the entities of the next slots of the string table, about `records` of them. Returns true at the end
   * of the table.
   */
  #goOn(list: KeptList, building: Building, records: number): boolean {
    const { header } = this.#regions
    for (let left = records; left > 0;) {
      if (building.partition === L.PARTITION_COUNT) return true
      const at = L.H_PARTITIONS + 2 * building.partition
      const isSame =
        header[at] === building.ptr &&
        // The scan can continue if the partition did not grow and lost no record: only these two events move
        // records to other slots.
        ((header[at + 1]! ^ building.meta) & L.LOG2_MASK) === 0 &&
        building.removals === this.#removals[building.partition]
      if (!isSame) {
        Object.assign(building, {
          slot: 0,
          ptr: header[at],
          meta: header[at + 1],
          removals: this.#removals[building.partition]!,
        })
      }
      const slots = table.slotCount(header, building.partition)
      const end = Math.min(building.slot + left, slots)
      left -= Math.max(1, end - building.slot)
      for (; building.slot < end; building.slot++) this.#addSlot(list, building)
      if (list.isGivenUp) return true
      if (building.slot < slots) continue
      Object.assign(building, { partition: building.partition + 1, removals: -1 })
    }
    return building.partition === L.PARTITION_COUNT
  }

  #partitionOf(line: number): number {
    const { header, graph } = this.#regions
    const record = line << L.LINE_WORDS_LOG2
    const key = { words: graph, from: keyStart(graph, record), bytes: keyBytes(graph, record) }
    const secrets = { start: header[L.H_HASH_START]!, multiplier: header[L.H_HASH_MULTIPLIER]! }
    return table.partitionOf(hashOf(key, typeOf(graph, line), secrets))
  }

  #addSlot(list: KeptList, { partition, slot }: Building): void {
    const { graph } = this.#regions
    const line = table.recordInSlot(this.#regions, partition, slot)
    if (line === 0 || typeOf(graph, line) !== list.type || isDead(graph, line)) return
    if (list.attribute === null) return this.#insert(list, this.#hashOfPlace(list, line), line)
    for (const hash of this.#hashes.of(line, list.only)[0]!) this.#insert(list, hash, line)
  }
}

function nameOf({ type, name }: { readonly type: number; readonly name: string }): string {
  return `${type} ${name}`
}
