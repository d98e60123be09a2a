/**
 * Compiles mapping rules into the unit that readers use (`mapping-code.ts`), in steps, on the writer thread.
 */
import { packArrays } from '#engine/shared-index/memory/packed-arrays.ts'
import type { MappingPut } from '#model/change.ts'
import { compareRules, type ReadRule, readRule } from '#model/mapping-order.ts'
import { MAPPING_METHODS, type MappingMethod, type MappingPart } from '#model/mapping-urls.ts'
import { ANY, NO_NODE, NODE, placeOfMember, UNIT, UNIT_ARRAYS } from './mapping-code.ts'
import { sortedInSteps } from './sorting.ts'

/** Limits of a step: rules, nodes and words that are compiled. A step takes some tenths of a millisecond. */
const RULES_A_STEP = 64
const NODES_A_STEP = 1_024
const WORDS_A_STEP = 8_192
/**
 * Limit of the number of atoms. There is a limit because the key of an edge combines a node and an atom in
 * one number.
 */
const ATOMS_MAX = 2 ** 24

/**
 * Compiles the rules into a unit; returns an empty array if there are no rules. `stamp` must differ for each
 * published unit. O(length of all URLs × log of their parts), in steps of some tenths of a millisecond.
 */
export function* compileMapping(configs: readonly MappingPut[], stamp: number): Generator<void, Int32Array> {
  const rules = yield* inOrder(configs)
  if (rules.length === 0) return new Int32Array(0)
  const tree = new PathTree()
  for (const [number, rule] of rules.entries()) {
    tree.add(rule)
    if (number % RULES_A_STEP === 0) yield
  }
  const arrays = yield* tree.arrays()
  arrays[UNIT.stamp] = Int32Array.of(stamp)
  return packArrays(arrays)
}

/**
 * Returns the rules in the order of their precedence. Omits rules that this release cannot parse, which
 * another release might have written.
 */
function* inOrder(configs: readonly MappingPut[]): Generator<void, ReadRule[]> {
  const byAge = configs.toSorted(
    (one, other) => one.createdAt - other.createdAt || (one.config < other.config ? -1 : 1),
  )
  const read: ReadRule[] = []
  let seen = 0
  for (const rule of byAge.flatMap(({ rules }) => rules)) {
    const readable = readRule(rule)
    if (readable !== null) read.push(readable)
    if (++seen % RULES_A_STEP === 0) yield
  }
  // The sort is stable, so rules of equal precedence stay in the order of their age.
  return yield* sortedInSteps(read, compareRules)
}

/** The tree of path pieces. Rules are added in the order of their numbers. */
class PathTree {
  /** Number of each text, in the order of their first occurrence. */
  readonly #atoms = new Map<string, number>()
  /** Target node of each edge, by node and atom. */
  readonly #edges = new Map<number, number>()
  /**
   * For each node: the next node for any text, the edges as pairs (atom, node), the rules that end in the
   * node, and the best rule that ends in the node or below it.
   */
  readonly #any: number[] = []
  readonly #edgesOf: (number[] | undefined)[] = []
  readonly #endsOf: (number[] | undefined)[] = []
  readonly #best: number[] = []
  /**
   * Words of the rules as in the unit, but with preliminary numbers of atoms. `isAtom` marks the words that
   * are atoms.
   */
  readonly #rules: { readonly words: readonly number[]; readonly isAtom: readonly boolean[] }[] = []

  constructor() {
    for (const _ of MAPPING_METHODS) this.#newNode()
  }

  add({ rule, url: { segments, pieces, query } }: ReadRule): void {
    const number = this.#rules.length
    let node = rootOf(rule.method)
    this.#note(node, number)
    for (const key of pieces) {
      if (key === null) {
        if (this.#any[node] === NO_NODE) this.#any[node] = this.#newNode()
        node = this.#any[node]!
      } else node = this.#follow(node, this.#atomOf(key))
      this.#note(node, number)
    }
    const ends = this.#endsOf[node]
    if (ends === undefined) this.#endsOf[node] = [number]
    else ends.push(number)
    const words: number[] = []
    const isAtom: boolean[] = []
    const put = (word: number): void => {
      words.push(word)
      isAtom.push(false)
    }
    const putAtom = (text: string): void => {
      words.push(this.#atomOf(text))
      isAtom.push(true)
    }
    const putPart = (part: MappingPart): void => ('name' in part ? put(ANY) : putAtom(part.text))
    putAtom(rule.type)
    putAtom(rule.action ?? rule.method)
    put(rule.encodedSlashes === 'literal' ? segments.filter(isNotEmpty).length : 0)
    const captures = [
      ...segments.map((part, index) => ({ part, place: index })),
      ...query.map(({ value }, index) => ({ part: value, place: placeOfMember(index) })),
    ]
    const captureCountAt = words.length
    put(0)
    for (const { part, place } of captures) {
      if (!('name' in part)) continue
      words[captureCountAt]! += 1
      putAtom(part.name)
      put(place)
    }
    put(segments.length)
    for (const part of segments) putPart(part)
    put(query.length)
    for (const { member, value, spelledMember, spelledValue } of query) {
      putAtom(member)
      putPart(value)
      putAtom(spelledMember)
      if (spelledValue === null) put(ANY)
      else putAtom(spelledValue)
    }
    this.#rules.push({ words, isAtom })
  }

  /** Returns all arrays of the unit except the stamp. */
  *arrays(): Generator<void, Int32Array[]> {
    const texts = yield* sortedInSteps([...this.#atoms.keys()], (one, other) =>
      one < other ? -1 : one > other ? 1 : 0,
    )
    const atomAt = new Int32Array(texts.length)
    for (const [sorted, text] of texts.entries()) {
      atomAt[this.#atoms.get(text)!] = sorted
      if (sorted % WORDS_A_STEP === 0) yield
    }
    const arrays: Int32Array[] = Array.from({ length: UNIT_ARRAYS }, () => new Int32Array(0))
    yield* putTexts(arrays, texts)
    yield* this.#putNodes(arrays, atomAt)
    yield* this.#putRules(arrays, atomAt)
    return arrays
  }

  *#putNodes(arrays: Int32Array[], atomAt: Int32Array): Generator<void> {
    const count = this.#any.length
    const nodes = new Int32Array((count + 1) * NODE.words)
    const edges = new Int32Array(this.#edges.size * 2)
    const ends = new Int32Array(this.#rules.length)
    let edgeCount = 0
    let endCount = 0
    for (let node = 0; node <= count; node++) {
      const at = node * NODE.words
      nodes[at + NODE.edgesFrom] = edgeCount
      nodes[at + NODE.endsFrom] = endCount
      if (node === count) break
      nodes[at + NODE.any] = this.#any[node]!
      nodes[at + NODE.best] = this.#best[node]!
      const ofNode = this.#edgesOf[node] ?? []
      const pairs: (readonly [atom: number, to: number])[] = []
      for (let edge = 0; edge < ofNode.length; edge += 2) {
        pairs.push([atomAt[ofNode[edge]!]!, ofNode[edge + 1]!])
      }
      const sorted = pairs.length < 2 ? pairs : yield* sortedInSteps(pairs, ([one], [other]) => one - other)
      for (const [atom, to] of sorted) {
        edges[2 * edgeCount] = atom
        edges[2 * edgeCount + 1] = to
        edgeCount += 1
      }
      for (const rule of this.#endsOf[node] ?? []) ends[endCount++] = rule
      if (node % NODES_A_STEP === 0) yield
    }
    arrays[UNIT.nodes] = nodes
    arrays[UNIT.edges] = edges
    arrays[UNIT.ends] = ends
  }

  *#putRules(arrays: Int32Array[], atomAt: Int32Array): Generator<void> {
    const from = new Int32Array(this.#rules.length)
    const rules = new Int32Array(this.#rules.reduce((sum, { words }) => sum + words.length, 0))
    let at = 0
    for (const [number, { words, isAtom }] of this.#rules.entries()) {
      from[number] = at
      for (const [index, word] of words.entries()) rules[at++] = isAtom[index] ? atomAt[word]! : word
      if (number % RULES_A_STEP === 0) yield
    }
    arrays[UNIT.ruleFrom] = from
    arrays[UNIT.rules] = rules
  }

  #newNode(): number {
    this.#any.push(NO_NODE)
    this.#edgesOf.push(undefined)
    this.#endsOf.push(undefined)
    this.#best.push(Number.NaN)
    return this.#any.length - 1
  }

  /** Rules are added in the order of their numbers, so the first rule at a node is the best. */
  #note(node: number, rule: number): void {
    if (Number.isNaN(this.#best[node])) this.#best[node] = rule
  }

  #follow(node: number, atom: number): number {
    const edge = node * ATOMS_MAX + atom
    let to = this.#edges.get(edge)
    if (to === undefined) {
      this.#edges.set(edge, (to = this.#newNode()))
      const edges = this.#edgesOf[node]
      if (edges === undefined) this.#edgesOf[node] = [atom, to]
      else edges.push(atom, to)
    }
    return to
  }

  #atomOf(text: string): number {
    let atom = this.#atoms.get(text)
    if (atom === undefined) this.#atoms.set(text, (atom = this.#atoms.size))
    return atom
  }
}

function isNotEmpty(part: MappingPart): boolean {
  return 'name' in part || part.text !== ''
}

function* putTexts(arrays: Int32Array[], texts: readonly string[]): Generator<void> {
  const from = new Int32Array(texts.length + 1)
  for (const [atom, text] of texts.entries()) from[atom + 1] = from[atom]! + text.length
  yield
  const characters = new Int32Array((from[texts.length]! + 1) >>> 1)
  const units = new Uint16Array(characters.buffer)
  let written = 0
  for (const [atom, text] of texts.entries()) {
    for (let index = 0; index < text.length; index++) units[from[atom]! + index] = text.charCodeAt(index)
    written += text.length
    if (written < WORDS_A_STEP) continue
    written = 0
    yield
  }
  arrays[UNIT.atomFrom] = from
  arrays[UNIT.characters] = characters
}

/** Returns the root node for the rules of a method. */
export function rootOf(method: MappingMethod): number {
  return MAPPING_METHODS.indexOf(method)
}
