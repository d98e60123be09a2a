/**
 * The writer's half of the lists of owners (`list-directory.ts`): it keeps those that the rules want, builds new ones in idle moments, and
 * changes all of them with the records.
 *
 * Invariants:
 * - A list that can be read has every owner of its type that is alive, under all its hashes, and no record that was freed.
 * - A list that is being built is changed like the others. So building it only adds what is there, and may look at a record twice.
 * - Lists are made from the graph: one that finds no room is given up, and who searches scans instead.
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
import { ListedNames, OwnerHashes } from './owner-hashes.ts'

/** A list of the writer. */
interface KeptList {
  readonly type: number
  readonly name: string
  /** The attribute; `null`: it is of another kind. */
  readonly attribute: string | null
  /** That attribute alone. */
  readonly only: ListedNames
  readonly slot: number
  /** What is to be built yet; `null`: it can be read. */
  building: Building | null
  /** There was no room for it. */
  isGivenUp: boolean
}

/** Those of one type, and the attributes that they are by. */
interface TypeLists {
  readonly all: readonly KeptList[]
  readonly byAttribute: readonly KeptList[]
  readonly attributes: ListedNames
}

/** Where building has come to. */
interface Building {
  partition: number
  slot: number
  /** The partition as it was found, and how many records had left it then: where it has changed, it is begun anew. */
  ptr: number
  meta: number
  removals: number
}

/** Chunks freed in one step. */
const CHUNKS_FREED = 256

export class OwnerLists {
  readonly #regions: Regions
  readonly #hashes: OwnerHashes
  /** By type id. */
  readonly #byType = new Map<number, TypeLists>()
  readonly #dropped: KeptList[] = []
  readonly #text = new ValueWords()
  /** Of records, by partition of the string table, while something is built. */
  readonly #removals = new Int32Array(L.PARTITION_COUNT)
  #isBuilding = false

  constructor(regions: Regions) {
    this.#regions = regions
    this.#hashes = new OwnerHashes(regions)
  }

  /**
   * Keeps lists with these names, and no others. One that had found no room is begun anew where another makes some. False: there will be
   * room for more when what was dropped is freed. In a section. O(lists).
   */
  keep(wanted: readonly { readonly type: number; readonly name: string }[]): boolean {
    const names = new Set(wanted.map(nameOf))
    const before = [...this.#byType.values()].flatMap(({ all }) => all)
    const isRoomMade = before.some(list => !list.isGivenUp && !names.has(nameOf(list)))
    for (const [type, { all }] of this.#byType) {
      const kept = all.filter(list => names.has(nameOf(list)) && !(list.isGivenUp && isRoomMade))
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

  /** Whether changes of records of the type are to be told. */
  has(type: number): boolean {
    return this.#byType.size > 0 && this.#byType.has(type)
  }

  /** Runs `change`, which changes attributes of the record, and moves it in the lists. In a section. */
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

  /** A new record, with its tenant and attributes. In a section. */
  added(line: number): void {
    this.#each(line, (list, hash) => this.#insert(list, hash, line))
  }

  /** The record is about to die; it can still be read. In a section. */
  removed(line: number): void {
    if (this.#byType.size === 0) return
    if (this.#isBuilding) this.#removals[this.#partitionOf(line)]! += 1
    this.#each(line, (list, hash) => this.#remove(list, hash, line))
  }

  /** Where the record stands, in all lists of its type. */
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
   * Goes on building, or frees what was dropped: about `records` records. Not in a section, since nobody reads it. Returns a list that is
   * whole and can be published, and whether there is more to do.
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

  /** In a list that is by no attribute. */
  #hashOfPlace({ name }: KeptList, line: number): number {
    return name === ALL ? HASH_OF_ALL : this.#regions.graph[(line << L.LINE_WORDS_LOG2) + L.I_TENANT]!
  }

  #insert(list: KeptList, hash: number, line: number): void {
    if (list.isGivenUp || insert(this.#list(list), hash, line)) return
    // In a section, or not to be read yet.
    list.isGivenUp = true
    this.#memory.graph[list.slot + SLOT.state] = BUILDING
    this.#dropped.push({ ...list })
  }

  #remove(list: KeptList, hash: number, line: number): void {
    if (!list.isGivenUp) remove(this.#list(list), hash, line)
  }

  /** `null`: there is no slot, or no room for it. */
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

  /** Nobody reads it any more; its memory is freed later. */
  #drop(list: KeptList): void {
    const { graph } = this.#memory
    graph[list.slot + SLOT.state] = BUILDING
    if (!list.isGivenUp) this.#dropped.push(list)
    // One that was given up has kept its slot, and is freed already or about to be.
    else if (!this.#dropped.some(({ slot }) => slot === list.slot)) graph[list.slot + SLOT.state] = FREE
    list.isGivenUp = true
  }

  /** Some chunks more; true when all of it is free, slot and name with it. */
  #freed(list: KeptList): boolean {
    const memory = this.#memory
    if (!clear(this.#list(list), CHUNKS_FREED)) return false
    const { graph } = memory
    const text = graph[list.slot + SLOT.name]!
    if (text !== 0) release(memory, text, Math.max(1, log2Ceil(1 + ((graph[text]! + 3) >>> 2))))
    graph[list.slot + SLOT.name] = 0
    // A list that found no room keeps its slot, so that it is not begun again and again.
    if (!this.#isKept(list)) graph[list.slot + SLOT.state] = FREE
    return true
  }

  #isKept({ type, slot }: KeptList): boolean {
    return this.#byType.get(type)?.all.some(list => list.slot === slot) ?? false
  }

  /** Adds the owners in some more slots of the string table; true when it has come to its end. */
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
