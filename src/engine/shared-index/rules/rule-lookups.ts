/**
 * Manages the lookups of one plan: tables from values of attributes to rules (`rule-code.ts`). The tables are
 * modified in place. Only the writer uses this module.
 */
import { log2Ceil } from '#engine/shared-index/memory/allocator.ts'
import { hashOfScalar, isSameScalar, wordsBehind } from '#engine/shared-index/memory/values.ts'
import type { Program } from './program.ts'
import { freeSlot, LOOKUP_WORDS, PROBES_MAX } from './rule-code.ts'
import type { Demand } from './set-code.ts'

/** The two sides of a rule, encoded as in `rule-code.ts`. */
export interface Sides {
  readonly user: number
  readonly resource: number
}

interface LookupTable {
  /** Position of the table in the program. */
  table: number
  /** Number of entries in the table, including entries without rules. */
  entries: number
  /** Number of rules in all entries together. */
  rules: number
}

/**
 * Number of slots per entry in a new table. When more than half of the slots are used, the table is enlarged.
 */
const SLOTS_PER_ENTRY = 3

export class RuleLookups {
  readonly #program: Program
  readonly #byPath = new Map<number, LookupTable>()
  /** Whether paths or positions of tables have changed since the last call of `write`. */
  #isMoved = false
  /**
   * Rules of values for which an enlarged table has no slot. Each query must evaluate these rules. The caller
   * takes them out of this list.
   */
  readonly overflown: Sides[] = []

  constructor(program: Program) {
    this.#program = program
  }

  get size(): number {
    return this.#byPath.size
  }

  /** Returns whether `write` has to be called. */
  get isMoved(): boolean {
    return this.#isMoved
  }

  /**
   * Writes the paths and the positions of their tables into the block, or into a larger block. Returns the
   * position of the block.
   */
  write(at: number): number {
    const program = this.#program
    const block = program.extended(at, 0, this.size * LOOKUP_WORDS)
    let to = block
    for (const [path, { table }] of this.#byPath) {
      program.words[to] = path
      program.words[to + 1] = table
      to += LOOKUP_WORDS
    }
    this.#isMoved = false
    return block
  }

  /**
   * Returns two numbers by which demands are compared; smaller is better. The first is the number of rules
   * that a query with one of the demanded values already evaluates. The second is the negated number of
   * values that the lookup already has.
   */
  burden({ path, values }: Demand): readonly [rules: number, others: number] {
    const lookup = this.#byPath.get(path)
    if (lookup === undefined) return [0, 0]
    const { words } = this.#program
    let rules = 0
    for (const value of values) {
      const entry = words[this.#slot(lookup, value)]!
      if (entry !== 0) rules = Math.max(rules, words[countIn(words, entry)]!)
    }
    return [rules, -lookup.entries]
  }

  /**
   * Adds a rule under each value of a demand. If the table has no slot for one of the values, adds nothing
   * and returns false.
   */
  add(demand: Demand, sides: Sides): boolean {
    const { path, values } = demand
    let lookup = this.#byPath.get(path)
    if (lookup === undefined) {
      lookup = { table: this.#newTable(1), entries: 0, rules: 0 }
      this.#byPath.set(path, lookup)
      this.#isMoved = true
    }
    const slots = 1 << this.#program.words[lookup.table]!
    if (2 * (lookup.entries + values.length) > slots) this.#enlarge(lookup, values.length)
    const hasCapacity = values.every(value => this.#hasEntry(lookup, value))
    if (hasCapacity) for (const value of values) this.#push(lookup, value, sides)
    this.#dropIfEmpty(path, lookup)
    return hasCapacity
  }

  /**
   * Removes a rule from each value of a demand. Returns false if the rule might also be among the rules to
   * which no lookup leads.
   */
  remove({ path, values }: Demand, sides: Sides): boolean {
    const lookup = this.#byPath.get(path)
    if (lookup === undefined) return false
    const { words } = this.#program
    let areAllFound = true
    for (const value of values) {
      const slot = this.#slot(lookup, value)
      const entry = words[slot]!
      const count = entry === 0 ? 0 : countIn(words, entry)
      if (count === 0 || !dropPair(words, count + 1, words[count]!, sides)) {
        areAllFound = false
        continue
      }
      words[count]! -= 1
      lookup.rules -= 1
    }
    this.#dropIfEmpty(path, lookup)
    return areAllFound
  }

  clear(): void {
    for (const lookup of this.#byPath.values()) this.#free(lookup)
    this.#byPath.clear()
    this.#isMoved = true
  }

  #free({ table }: LookupTable): void {
    const { words } = this.#program
    for (const slot of slotsOf(words, table)) this.#program.free(words[slot]!)
    this.#program.free(table)
  }

  #dropIfEmpty(path: number, lookup: LookupTable): void {
    if (lookup.rules > 0) return
    this.#free(lookup)
    this.#byPath.delete(path)
    this.#isMoved = true
  }

  #newTable(log2: number): number {
    const table = this.#program.alloc(1 + (1 << log2))
    const { words } = this.#program
    words[table] = log2
    words.fill(0, table + 1, table + 1 + (1 << log2))
    return table
  }

  /**
   * Returns the slot of the entry for a value. If there is no entry, returns a free slot for it. If no free
   * slot is near enough, returns 0.
   */
  #slot({ table }: LookupTable, value: Int32Array): number {
    const { words } = this.#program
    const log2 = words[table]!
    const mask = (1 << log2) - 1
    const home = hashOfScalar(value[0]!, value, 1) >>> (32 - log2)
    for (let probe = 0; probe < PROBES_MAX; probe++) {
      const slot = table + 1 + ((home + probe) & mask)
      const entry = words[slot]!
      if (entry === 0 || isSameScalar(value[0]!, value, 1, words[entry]!, words, entry + 1)) return slot
    }
    return 0
  }

  /**
   * Ensures that there is an entry for a value; creates one without rules if necessary. Returns false if
   * there is no slot for it.
   */
  #hasEntry(lookup: LookupTable, value: Int32Array): boolean {
    const slot = this.#slot(lookup, value)
    if (slot === 0) return false
    if (this.#program.words[slot] !== 0) return true
    // Words of the entry: the constant, the number of rules, and space for two sides.
    const entry = this.#program.alloc(value.length + 3)
    const { words } = this.#program
    words.set(value, entry)
    words[entry + value.length] = 0
    words[slot] = entry
    lookup.entries += 1
    return true
  }

  /**
   * Moves the entries that have rules into a larger table. If the larger table has no slot for an entry, the
   * rules of this entry are added to `overflown`.
   */
  #enlarge(lookup: LookupTable, more: number): void {
    const program = this.#program
    const entries: number[] = []
    for (const slot of slotsOf(program.words, lookup.table)) {
      const entry = program.words[slot]!
      if (entry === 0) continue
      if (program.words[countIn(program.words, entry)] === 0) program.free(entry)
      else entries.push(entry)
    }
    const log2 = Math.max(1, log2Ceil(SLOTS_PER_ENTRY * (entries.length + more)))
    program.free(lookup.table)
    lookup.table = this.#newTable(log2)
    lookup.entries = 0
    this.#isMoved = true
    const { words } = program
    for (const entry of entries) {
      const slot = freeSlot(words, lookup.table + 1, hashOfScalar(words[entry]!, words, entry + 1), log2)
      if (slot === null) {
        this.#overflow(lookup, entry)
        continue
      }
      words[lookup.table + 1 + slot] = entry
      lookup.entries += 1
    }
  }

  #overflow(lookup: LookupTable, entry: number): void {
    const { words } = this.#program
    const count = countIn(words, entry)
    for (let at = count + 1; at < count + 1 + 2 * words[count]!; at += 2) {
      this.overflown.push({ user: words[at]!, resource: words[at + 1]! })
    }
    lookup.rules -= words[count]!
    this.#program.free(entry)
  }

  #push(lookup: LookupTable, value: Int32Array, { user, resource }: Sides): void {
    const program = this.#program
    const slot = this.#slot(lookup, value)
    const entry = program.words[slot]!
    const length = value.length + 1 + 2 * program.words[entry + value.length]!
    const room = program.extended(entry, length, length + 2)
    const { words } = program
    words[slot] = room
    words[room + length] = user
    words[room + length + 1] = resource
    words[room + value.length]! += 1
    lookup.rules += 1
  }
}

/**
 * Removes the pair of these sides from `count` pairs, and moves the later pairs up. Returns false if there is
 * no such pair.
 */
export function dropPair(words: Int32Array, from: number, count: number, { user, resource }: Sides): boolean {
  const end = from + 2 * count
  for (let at = from; at < end; at += 2) {
    if (words[at] !== user || words[at + 1] !== resource) continue
    words.copyWithin(at, at + 2, end)
    return true
  }
  return false
}

/** Returns the position of the word that contains the number of rules of an entry. */
function countIn(words: Int32Array, entry: number): number {
  return entry + 1 + wordsBehind(words[entry]!, words, entry + 1)
}

function* slotsOf(words: Int32Array, table: number): Iterable<number> {
  for (let slot = table + 1; slot <= table + (1 << words[table]!); slot++) yield slot
}
