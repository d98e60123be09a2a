/**
 * What a thread holds URLs against: a copy of the compiled mapping rules (`mapping-code.ts`).
 *
 * A URL leads along the tree of segments, at each node by its text and by what stands for any text. So it meets each node at most once,
 * and those alone whose rules fit it so far. A part of the tree whose best rule counts less than what is found is left out.
 */
import type { MappedRequest } from '#engine/engine.ts'
import { unpackArrays } from '#engine/shared-index/memory/packed-arrays.ts'
import {
  MAPPING_METHODS,
  decodedOfQuery,
  readRequestUrl,
  type RequestUrl,
  visitMembers,
} from '#model/mapping-urls.ts'
import { ANY, NO_NODE, NODE, UNIT, UNIT_ARRAYS } from './mapping-code.ts'

/** Copies words of the unit; null: another schema is coming into force. */
type UnitSource = (from: number, to: number) => Int32Array | null

const NOT_FOUND = -1

export class MappingView {
  readonly stamp: number
  readonly atomFrom: Int32Array
  readonly nodes: Int32Array
  readonly edges: Int32Array
  readonly ends: Int32Array
  readonly ruleFrom: Int32Array
  readonly rules: Int32Array
  readonly #characters: Uint16Array

  /** `known`: the view before, which is kept where nothing was compiled since: rules change less often than the schema beside them. */
  static of(source: UnitSource, words: number, known: MappingView | null): MappingView | null {
    const stamp = source(UNIT_ARRAYS, UNIT_ARRAYS + 1)
    if (stamp === null) return null
    if (known?.stamp === stamp[0]) return known
    const unit = source(0, words)
    return unit && new MappingView(unit)
  }

  constructor(unit: Int32Array) {
    const arrays = unpackArrays(unit, UNIT_ARRAYS)
    this.stamp = arrays[UNIT.stamp]![0]!
    this.atomFrom = arrays[UNIT.atomFrom]!
    this.nodes = arrays[UNIT.nodes]!
    this.edges = arrays[UNIT.edges]!
    this.ends = arrays[UNIT.ends]!
    this.ruleFrom = arrays[UNIT.ruleFrom]!
    this.rules = arrays[UNIT.rules]!
    const { buffer, byteOffset, length } = arrays[UNIT.characters]!
    this.#characters = new Uint16Array(buffer, byteOffset, 2 * length)
  }

  /** `null`: no rule fits, or it cannot be told which. O(parts of the URL × log of all texts + nodes and rules that fit it). */
  find(method: string, url: string): MappedRequest | null {
    const root = (MAPPING_METHODS as readonly string[]).indexOf(method.toLowerCase())
    const read = root < 0 ? null : readRequestUrl(url)
    return read && new Match(this, read).from(root)
  }

  /** The atom of a text; -1 where no rule has it. */
  atomOf(text: string): number {
    let from = 0
    for (let to = this.atomFrom.length - 1; from < to;) {
      const middle = (from + to) >>> 1
      const order = this.#compare(middle, text)
      if (order === 0) return middle
      if (order < 0) from = middle + 1
      else to = middle
    }
    return NOT_FOUND
  }

  textOf(atom: number): string {
    let text = ''
    for (let at = this.atomFrom[atom]!; at < this.atomFrom[atom + 1]!; at++) {
      text += String.fromCharCode(this.#characters[at]!)
    }
    return text
  }

  #compare(atom: number, text: string): number {
    const from = this.atomFrom[atom]!
    const length = this.atomFrom[atom + 1]! - from
    const shared = Math.min(length, text.length)
    for (let index = 0; index < shared; index++) {
      const difference = this.#characters[from + index]! - text.charCodeAt(index)
      if (difference !== 0) return difference
    }
    return length - text.length
  }
}

/** What a request's query says under a name that some rule knows. */
interface Said {
  readonly value: string
  /** The atoms of its values, of each that is one. */
  readonly atoms: Set<number>
  /** Whether it comes with several values: whoever is behind the gateway may read any of them. */
  isAmbiguous: boolean
}

/** One URL that is held against the rules. */
class Match {
  readonly #view: MappingView
  readonly #url: RequestUrl
  /** By segment, once it was looked up. */
  readonly #atoms: (number | undefined)[] = []
  #query: ReadonlyMap<number, Said> | null = null
  /** Whether there is more in the query than is looked at. */
  #isCutShort = false
  #found = Number.POSITIVE_INFINITY
  #isAmbiguous = false

  constructor(view: MappingView, url: RequestUrl) {
    this.#view = view
    this.#url = url
  }

  from(root: number): MappedRequest | null {
    this.#visit(root, 0)
    return this.#found === Number.POSITIVE_INFINITY || this.#isAmbiguous ? null : this.#request(this.#found)
  }

  #visit(node: number, depth: number): void {
    const { nodes } = this.#view
    const at = node * NODE.words
    const { segments } = this.#url
    if (depth === segments.length) {
      this.#try(nodes[at + NODE.endsFrom]!, nodes[at + NODE.words + NODE.endsFrom]!)
      return
    }
    const any = segments[depth] === '' ? NO_NODE : nodes[at + NODE.any]!
    const exact = this.#edge(nodes[at + NODE.edgesFrom]!, nodes[at + NODE.words + NODE.edgesFrom]!, depth)
    // What may hold the better rule comes first, so that the other may be left out.
    const isAnyFirst = any !== NO_NODE && this.#bestOf(any) < this.#bestOf(exact)
    for (const next of isAnyFirst ? [any, exact] : [exact, any]) {
      if (next !== NO_NODE && this.#bestOf(next) < this.#found) this.#visit(next, depth + 1)
    }
  }

  #bestOf(node: number): number {
    return node === NO_NODE ? Number.POSITIVE_INFINITY : this.#view.nodes[node * NODE.words + NODE.best]!
  }

  /** Where the edge of a segment leads. */
  #edge(edgesFrom: number, edgesTo: number, depth: number): number {
    if (edgesFrom === edgesTo) return NO_NODE
    const atom = (this.#atoms[depth] ??= this.#view.atomOf(this.#url.segments[depth]!))
    const { edges } = this.#view
    let from = edgesFrom
    for (let to = edgesTo; from < to;) {
      const middle = (from + to) >>> 1
      if (edges[2 * middle]! < atom) from = middle + 1
      else to = middle
    }
    return from < edgesTo && edges[2 * from] === atom ? edges[2 * from + 1]! : NO_NODE
  }

  /** Tries the rules that end in a node. */
  #try(from: number, to: number): void {
    for (let end = from; end < to; end++) {
      const rule = this.#view.ends[end]!
      if (rule >= this.#found) return
      const isAmbiguous = this.#ambiguityOf(rule)
      if (isAmbiguous === null) continue
      this.#found = rule
      this.#isAmbiguous = isAmbiguous
      return
    }
  }

  /** Whether the query fits the rule in one reading of it and not in another; `null`: it does not in any. */
  #ambiguityOf(rule: number): boolean | null {
    const { rules } = this.#view
    const from = this.#membersFrom(rule)
    const end = from + 1 + 2 * rules[from]!
    if (end === from + 1) return false
    const query = this.#said()
    if (this.#isCutShort) return true
    let isAmbiguous = false
    for (let at = from + 1; at < end; at += 2) {
      const said = query.get(rules[at]!)
      const value = rules[at + 1]!
      if (said === undefined || (value !== ANY && !said.atoms.has(value))) return null
      if (said.isAmbiguous) isAmbiguous = true
    }
    return isAmbiguous
  }

  /** Where the count of a rule's query members stands. */
  #membersFrom(rule: number): number {
    const { ruleFrom, rules } = this.#view
    const at = ruleFrom[rule]! + 2
    return at + 1 + 2 * rules[at]!
  }

  /** What the query says, by the atom of the name. Read when a rule first asks for it. */
  #said(): ReadonlyMap<number, Said> {
    if (this.#query !== null) return this.#query
    const query = new Map<number, Said>()
    const isWhole = visitMembers(this.#url.query, (name, rawValue) => {
      const atom = this.#view.atomOf(name)
      if (atom === NOT_FOUND) return
      const value = decodedOfQuery(rawValue)
      const known = query.get(atom)
      const said = known ?? { value, atoms: new Set<number>(), isAmbiguous: false }
      if (known === undefined) query.set(atom, said)
      else if (known.value === value) return
      else known.isAmbiguous = true
      const valueAtom = this.#view.atomOf(value)
      if (valueAtom !== NOT_FOUND) said.atoms.add(valueAtom)
    })
    this.#query = query
    this.#isCutShort = !isWhole
    return query
  }

  #request(rule: number): MappedRequest {
    const { ruleFrom, rules } = this.#view
    const at = ruleFrom[rule]!
    const captures = rules[at + 2]!
    const members = this.#membersFrom(rule)
    const attributes: [name: string, value: string][] = []
    for (let capture = 0; capture < captures; capture++) {
      const place = rules[at + 4 + 2 * capture]!
      const value =
        place < 0 ? this.#said().get(rules[members + 1 + 2 * ~place]!)!.value : this.#url.segments[place]!
      attributes.push([this.#view.textOf(rules[at + 3 + 2 * capture]!), value])
    }
    // `fromEntries` makes a member of `__proto__`, where an assignment would not.
    return {
      type: this.#view.textOf(rules[at]!),
      action: this.#view.textOf(rules[at + 1]!),
      attributes: Object.fromEntries(attributes),
    }
  }
}
