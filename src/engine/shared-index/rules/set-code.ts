/**
 * Compiles condition sets (`rule-code.ts` defines the form). A part that occurs in several sets is stored
 * once.
 */
import type { Condition, Test } from '#conditions/condition.ts'
import { mentions, mentionsRoot } from '#conditions/mentions.ts'
import { rankOf } from '#conditions/nodes/ordering.ts'
import type { Literal, Reference } from '#conditions/values/operands.ts'
import type { Path } from '#conditions/values/paths.ts'
import { isRefused, readCondition } from '#conditions/read-condition.ts'
import { log2Ceil } from '#engine/shared-index/memory/allocator.ts'
import { hashOfScalar, NO_FORM, ValueWords } from '#engine/shared-index/memory/values.ts'
import type { ConditionSetPut } from '#model/change.ts'
import { Program, ProgramRow } from './program.ts'
import {
  ALL_OF,
  ANY_OF,
  freeSlot,
  LEAF,
  LENGTH_RELATIONS,
  NO_PARENT,
  NOT,
  RELATIONS,
  UNREADABLE,
} from './rule-code.ts'

/** An attribute that must have one of a few values wherever the set is true. */
export interface Demand {
  readonly path: number
  /** The values as constants. Each consists of a head and its words. */
  readonly values: readonly Int32Array[]
}

export interface SetCode {
  readonly put: ConditionSetPut
  /** Number of the set: its index in the arrays of the unit, for as long as the set exists. */
  readonly number: number
  /** Demands of the set's own conditions, without those of its ancestors. */
  readonly demands: readonly Demand[]
  readonly readsRoles: boolean
  readonly readsTenants: boolean
  /** Number of different tests in the set. */
  readonly leaves: number
}

/** Maximum number of values of a demand. A rule is stored under each of them. */
const DEMANDED_VALUES_MAX = 4
/** Maximum number of tests with the same hash that are compared with a new test. */
const ALIKE_MAX = 16
const HASH_MULTIPLIER = 0x2c1b3c6d
/** Number by which unused tests may outnumber the used ones before they are removed. */
const SPARE_LEAVES = 1_024

export class SetCompiler {
  readonly #program: Program
  readonly #texts: Program
  readonly #sets = new Map<string, SetCode>()
  readonly #freeNumbers: number[] = []
  #live = 0
  readonly #paths = new Map<string, number>()
  readonly #leaves = new Map<number, readonly number[]>()
  readonly #wordsOfLeaves: Int32Array[] = []
  readonly #scratch = new ValueWords()
  /** Arrays of the unit (`rule-code.ts`). */
  readonly pathFrom = new ProgramRow()
  readonly leafFrom = new ProgramRow()
  readonly setFrom = new ProgramRow()
  readonly setParent = new ProgramRow()
  readonly setText = new ProgramRow()

  constructor(program: Program, texts: Program) {
    this.#program = program
    this.#texts = texts
  }

  /**
   * Returns whether most tests and paths belong to removed sets. A new compiler would contain none of those.
   */
  get isWasteful(): boolean {
    return Math.max(this.leafFrom.length, this.pathFrom.length) > SPARE_LEAVES + 2 * this.#live
  }

  get(key: string): SetCode | undefined {
    return this.#sets.get(key)
  }

  /** Returns all existing sets in their source form. */
  *puts(): Iterable<ConditionSetPut> {
    for (const { put } of this.#sets.values()) yield put
  }

  /**
   * Compiles a set. Replaces the earlier set with the same key, if there is one. Call `link` after the parent
   * of the set has also been put.
   */
  put(put: ConditionSetPut): SetCode {
    const known = this.#sets.get(put.set)
    const number = known?.number ?? this.#freeNumbers.pop() ?? this.setFrom.length
    if (known !== undefined) this.#forget(known)
    const code = this.#compiled(put, number)
    this.#sets.set(put.set, code)
    this.#live += code.leaves
    return code
  }

  link({ put, number }: SetCode): void {
    this.setParent.set(number, put.parent === null ? NO_PARENT : this.#sets.get(put.parent)!.number)
  }

  /** Removes a set. Call it when nothing refers to the number of the set any more. */
  remove(key: string): void {
    const code = this.#sets.get(key)
    if (code === undefined) return
    this.#forget(code)
    this.#sets.delete(key)
    const { number } = code
    for (const from of [this.setFrom, this.setText]) from.set(number, 0)
    this.setParent.set(number, NO_PARENT)
    this.#freeNumbers.push(number)
  }

  #forget({ number, leaves }: SetCode): void {
    this.#program.free(this.setFrom.get(number))
    this.#texts.free(this.setText.get(number))
    this.#live -= leaves
  }

  #compiled(put: ConditionSetPut, number: number): SetCode {
    const condition = readCondition(put.conditions, [])
    const text = this.#textWords(JSON.stringify([put.set, put.type, put.conditions]))
    this.setText.set(number, this.#texts.add(text))
    if (isRefused(condition)) {
      this.setFrom.set(number, this.#program.add([UNREADABLE]))
      return { put, number, demands: [], readsRoles: false, readsTenants: false, leaves: 0 }
    }
    const code: number[] = []
    this.#node(condition, put.conditions, code)
    this.setFrom.set(number, this.#program.add(code))
    return {
      put,
      number,
      demands: this.#demandsOf(condition),
      readsRoles: mentions(condition, 'user', 'roles') || mentionsRoot(condition, 'tenant'),
      readsTenants: mentions(condition, 'user', 'tenants'),
      leaves: new Set(code.filter(word => word >= 0)).size,
    }
  }

  #node(condition: Condition, raw: unknown, code: number[]): void {
    switch (condition.kind) {
      case 'all-of':
      case 'any-of': {
        const from = code.length
        code.push(condition.kind === 'all-of' ? ALL_OF : ANY_OF, 0)
        for (const item of condition.items) this.#node(item, raw, code)
        code[from + 1] = code.length - from
        return
      }
      case 'not': {
        const from = code.length
        code.push(NOT, 0)
        this.#node(condition.item, raw, code)
        code[from + 1] = code.length - from
        return
      }
      case 'between': {
        const { low, high } = condition
        if (low.kind !== 'literal' || high.kind !== 'literal') break
        // Compiles the test as the conjunction of two orderings, because neither bound can be missing.
        const from = code.length
        code.push(ALL_OF, 0)
        const shared = { path: condition.path, operator: condition.operator, at: condition.at }
        code.push(
          this.#leaf({ kind: 'ordering', ...shared, relation: 'above-or-equal', operand: low }, raw),
          this.#leaf({ kind: 'ordering', ...shared, relation: 'below-or-equal', operand: high }, raw),
        )
        code[from + 1] = code.length - from
        return
      }
      default:
    }
    code.push(this.#leaf(condition as Test, raw))
  }

  #leaf(test: Test, raw: unknown): number {
    const words = this.#leafWords(test) ?? this.#treeWords(test, raw)
    // Tests are looked up by hash, because a name for each test would be larger than the test.
    const hash = hashOfWords(words)
    const alike = this.#leaves.get(hash) ?? []
    const known = alike.find(leaf => isSameWords(this.#wordsOfLeaves[leaf]!, words))
    if (known !== undefined) return known
    const leaf = this.#wordsOfLeaves.length
    // If even more tests have the same hash, a caller must have chosen them. These tests are stored but not
    // shared.
    if (alike.length < ALIKE_MAX) this.#leaves.set(hash, [...alike, leaf])
    this.#wordsOfLeaves.push(words)
    this.leafFrom.set(leaf, this.#program.add(words))
    return leaf
  }

  /** Returns the words of a test, or `null` if the test has no compiled form and must be stored as text. */
  #leafWords(test: Test): Int32Array | null {
    if (test.path.root === 'member') return null
    const path = this.#path(test.path)
    switch (test.kind) {
      case 'existence':
        return Int32Array.of(LEAF.exists, path, test.isWanted ? 1 : 0)
      case 'equality':
        return this.#withOperand([LEAF.equals, LEAF.equalsRef], path, [test.isNegated ? 1 : 0], test.operand)
      case 'ordering': {
        const relation = RELATIONS.indexOf(test.relation)
        if (test.operand.kind === 'literal' && rankOf(test.operand.value) === null) return null
        return this.#withOperand([LEAF.ordered, LEAF.orderedRef], path, [relation], test.operand)
      }
      case 'membership': {
        const { operand } = test
        if (operand.kind === 'ref') return Int32Array.of(LEAF.isInRef, path, this.#path(operand.path))
        return operand.kind === 'literal' ? this.#listWords(path, operand.value as readonly unknown[]) : null
      }
      case 'array-contains':
        return this.#withOperand([LEAF.hasElement, LEAF.hasElementRef], path, [], test.operand)
      case 'array-length': {
        const relation = LENGTH_RELATIONS.indexOf(test.relation)
        if (test.operand.kind === 'ref') return null
        return this.#withOperand([LEAF.length, 0], path, [relation], test.operand)
      }
      default:
        return null
    }
  }

  #withOperand(
    [constant, ref]: readonly [number, number],
    path: number,
    more: readonly number[],
    operand: Literal | Reference | { readonly kind: 'list' },
  ): Int32Array | null {
    if (operand.kind === 'list') return null
    if (operand.kind === 'ref') return Int32Array.of(ref, path, ...more, this.#path(operand.path))
    const words = this.#constant(operand.value)
    return words && Int32Array.of(constant, path, ...more, ...words)
  }

  #listWords(path: number, values: readonly unknown[]): Int32Array | null {
    const all = values.map(value => this.#constant(value))
    if (!all.every(words => words !== null)) return null
    const constants = [...new Map(all.map(words => [words.join(), words])).values()]
    const log2 = Math.max(1, log2Ceil(constants.length + (constants.length >>> 1) + 1))
    const from = 3 + (1 << log2)
    const slots = new Int32Array(1 << log2)
    const starts: number[] = []
    let length = from
    for (const words of constants) {
      starts.push(length)
      length += words.length
    }
    for (const [index, words] of constants.entries()) {
      const slot = freeSlot(slots, 0, hashOfScalar(words[0]!, words, 1), log2)
      if (slot === null) return null
      slots[slot] = starts[index]!
    }
    const leaf = new Int32Array(length)
    leaf.set([LEAF.isIn, path, log2])
    leaf.set(slots, 3)
    for (const [index, words] of constants.entries()) leaf.set(words, starts[index])
    return leaf
  }

  /** Returns the head and the words of a scalar, or `null` if it has no encoding. */
  #constant(value: unknown): Int32Array | null {
    const scratch = this.#scratch
    scratch.length = 1
    const head = scratch.scalar(value)
    if (head === NO_FORM) return null
    scratch.words[0] = head
    return scratch.words.slice(0, scratch.length)
  }

  #treeWords(test: Test, raw: unknown): Int32Array {
    let operand = raw
    for (const step of test.at) operand = (operand as Readonly<Record<string | number, unknown>>)[step]
    // Builds the object from entries, because the name can be `__proto__`.
    const leaf = Object.fromEntries([[test.path.text, Object.fromEntries([[test.operator, operand]])]])
    return Int32Array.of(LEAF.tree, 0, ...this.#textWords(JSON.stringify(leaf)))
  }

  /** Returns the number of bytes, followed by the words of the UTF-8 text. */
  #textWords(text: string): Int32Array {
    const scratch = this.#scratch
    scratch.length = 0
    scratch.json(text)
    return scratch.words.slice(0, scratch.length)
  }

  #path({ root, names }: Path): number {
    const text = `${root}.${names.join('.')}`
    let path = this.#paths.get(text)
    if (path === undefined) {
      path = this.#paths.size
      this.#paths.set(text, path)
      this.pathFrom.set(path, this.#program.add(this.#textWords(text)))
    }
    return path
  }

  #demandsOf(condition: Condition): readonly Demand[] {
    switch (condition.kind) {
      case 'all-of':
        return condition.items.flatMap(item => this.#demandsOf(item))
      case 'equality':
        return condition.isNegated || condition.operand.kind !== 'literal'
          ? []
          : this.#demand(condition, [condition.operand.value])
      case 'membership':
        return condition.operand.kind === 'literal'
          ? this.#demand(condition, condition.operand.value as readonly unknown[])
          : []
      default:
        return []
    }
  }

  #demand({ path }: Test, values: readonly unknown[]): readonly Demand[] {
    if (path.root === 'member' || values.length > DEMANDED_VALUES_MAX) return []
    const constants = values.map(value => this.#constant(value))
    return constants.every(words => words !== null) ? [{ path: this.#path(path), values: constants }] : []
  }
}

/**
 * Returns whether a rule is planned in the same way with either set, so that it need not be planned again.
 */
export function isPlannedAlike(one: SetCode, other: SetCode): boolean {
  return (
    one.put.type === other.put.type &&
    one.put.parent === other.put.parent &&
    one.readsRoles === other.readsRoles &&
    one.readsTenants === other.readsTenants &&
    one.demands.length === other.demands.length &&
    one.demands.every((demand, index) => isSameDemand(demand, other.demands[index]!))
  )
}

function isSameDemand(one: Demand, other: Demand): boolean {
  return (
    one.path === other.path &&
    one.values.length === other.values.length &&
    one.values.every((value, index) => isSameWords(value, other.values[index]!))
  )
}

function hashOfWords(words: Int32Array): number {
  let hash = words.length
  for (const word of words) {
    hash = Math.imul(hash ^ word, HASH_MULTIPLIER)
    hash ^= hash >>> 15
  }
  return hash
}

function isSameWords(one: Int32Array, other: Int32Array): boolean {
  return one.length === other.length && one.every((word, index) => word === other[index])
}
