/**
 * Maintains the attribute index for the writer (`list-directory.ts`): keeps the lists that the rules need,
 * builds new ones in idle periods, and updates all of them when records change.
 *
 * Invariants:
 *
 * - A list that can be read contains every existing entity of its type, under all its hashes, and no record
 *   that was freed.
 * - A list that is being built is updated like the others. Building therefore only adds existing records and
 *   can visit a record twice.
 * - Lists are derived from the graph: a list for which the memory is not sufficient is abandoned, and
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
import type { Regions } from '#engine/shared-index/memory/regions.ts'
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
  /** The attribute; `null` if the list is of another kind. */
  readonly attribute: string | null
  /** Contains only that attribute. */
  readonly only: ListedNames
  readonly slot: number
  /** State of the construction; `null` if the list can be read. */
  building: Building | null
  /** True if the memory was not sufficient for the list. */
  isGivenUp: boolean
}

/** Lists of one type, and the attributes that they index. */
interface TypeLists {
  readonly all: readonly KeptList[]
  readonly byAttribute: readonly KeptList[]
  readonly attributes: ListedNames
}

/** Progress of a construction. */
interface Building {
  partition: number
  slot: number
  /**
   * The partition when its scan began, and the number of its records removed until then. If it has changed
   * since, its scan starts again.
   */
  ptr: number
  meta: number
  removals: number
}

/** Chunks freed per step. */
const CHUNKS_FREED = 256

export class PostingLists {
  readonly #regions: Regions
  readonly #hashes: AttributeHashes
  /** By type id. */
  readonly #byType = new Map<number, TypeLists>()
  readonly #dropped: KeptList[] = []
  readonly #text = new ValueWords()
  /** Number of removed records by partition of the string table, while a list is being built. */
  readonly #removals = new Int32Array(L.PARTITION_COUNT)
  #isBuilding = false

  constructor(regions: Regions) {
    this.#regions = regions
    this.#hashes = new AttributeHashes(regions)
  }

  /**
   * Keeps lists with these names and drops all others. If a list is dropped, those that lacked memory are
   * tried again. Returns false if more memory will be available after dropped lists have been freed. Requires
   * a critical section. O(lists).
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

  /** Returns whether changes of records of the type must be reported. */
  has(type: number): boolean {
    return this.#byType.size > 0 && this.#byType.has(type)
  }

  /**
   * Runs `change`, which changes attributes of the record, and updates the lists. Requires a critical
   * section.
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

  /** Adds a new record with its tenant and attributes. Requires a critical section. */
  added(line: number): void {
    this.#each(line, (list, hash) => this.#insert(list, hash, line))
  }

  /** Removes a record that is about to be deleted and can still be read. Requires a critical section. */
  removed(line: number): void {
    if (this.#byType.size === 0) return
    if (this.#isBuilding) this.#removals[this.#partitionOf(line)]! += 1
    this.#each(line, (list, hash) => this.#remove(list, hash, line))
  }

  /** Visits all entries of the record in the lists of its type. */
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
   * Continues building, or frees dropped lists: processes about `records` records. Needs no critical section,
   * because no thread reads these lists. Returns a completed list to publish, and whether work remains.
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

  /** Returns the hash in a list that is not by an attribute. */
  #hashOfPlace({ name }: KeptList, line: number): number {
    return name === ALL ? HASH_OF_ALL : this.#regions.graph[(line << L.LINE_WORDS_LOG2) + L.I_TENANT]!
  }

  #insert(list: KeptList, hash: number, line: number): void {
    if (list.isGivenUp || insert(this.#list(list), hash, line)) return
    // Runs in a critical section, or the list is not read yet.
    list.isGivenUp = true
    this.#memory.graph[list.slot + SLOT.state] = BUILDING
    this.#dropped.push({ ...list })
  }

  #remove(list: KeptList, hash: number, line: number): void {
    if (!list.isGivenUp) remove(this.#list(list), hash, line)
  }

  /** Returns `null` if there is no free slot or not enough memory. */
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

  /** The list is no longer read; its memory is freed later. */
  #drop(list: KeptList): void {
    const { graph } = this.#memory
    graph[list.slot + SLOT.state] = BUILDING
    if (!list.isGivenUp) this.#dropped.push(list)
    // An abandoned list has kept its slot; its memory is already freed or will be soon.
    else if (!this.#dropped.some(({ slot }) => slot === list.slot)) graph[list.slot + SLOT.state] = FREE
    list.isGivenUp = true
  }

  /** Frees some more chunks. Returns true when all of it is free, including slot and name. */
  #freed(list: KeptList): boolean {
    const memory = this.#memory
    if (!clear(this.#list(list), CHUNKS_FREED)) return false
    const { graph } = memory
    const text = graph[list.slot + SLOT.name]!
    if (text !== 0) release(memory, text, Math.max(1, log2Ceil(1 + ((graph[text]! + 3) >>> 2))))
    graph[list.slot + SLOT.name] = 0
    // A list for which the memory was not sufficient keeps its slot, so that its construction is not
    // repeated.
    if (!this.#isKept(list)) graph[list.slot + SLOT.state] = FREE
    return true
  }

  #isKept({ type, slot }: KeptList): boolean {
    return this.#byType.get(type)?.all.some(list => list.slot === slot) ?? false
  }

  /** Adds the entities in some more slots of the string table. Returns true at the end of the table. */
  #goOn(list: KeptList, building: Building, records: number): boolean {
    const { header } = this.#regions
    for (let left = records; left > 0;) {
      if (building.partition === L.PARTITION_COUNT) return true
      const at = L.H_PARTITIONS + 2 * building.partition
      const isSame =
        header[at] === building.ptr &&
        // Only removals and growth move records.
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
