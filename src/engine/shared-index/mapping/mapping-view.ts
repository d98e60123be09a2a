/**
 * A thread's copy of the compiled mapping rules (`mapping-code.ts`), against which URLs are matched
 * (`mapping-match.ts`).
 */
import { type UnitSource, unpackArrays } from '#engine/shared-index/memory/packed-arrays.ts'
import { UNIT, UNIT_ARRAYS } from './mapping-code.ts'

export class MappingView {
  readonly stamp: number
  readonly atomFrom: Int32Array
  readonly nodes: Int32Array
  readonly edges: Int32Array
  readonly ends: Int32Array
  readonly ruleFrom: Int32Array
  readonly rules: Int32Array
  /**
   * Whether some rule is case-sensitive. The keys of case-sensitive rules come first among the atoms, after
   * the empty text.
   */
  readonly hasExactKeys: boolean
  readonly #characters: Uint16Array

  /**
   * Reads the unit. Reuses the previous view `known` if the rules have not been compiled since then. Rules
   * change less often than the rest of the schema.
   */
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
    this.hasExactKeys = this.#characters[0] === 0
  }

  /** Returns the atom of a text, or -1 if no rule contains the text. */
  atomOf(text: string): number {
    let from = 0
    for (let to = this.atomFrom.length - 1; from < to;) {
      const middle = (from + to) >>> 1
      const order = this.compare(middle, text)
      if (order === 0) return middle
      if (order < 0) from = middle + 1
      else to = middle
    }
    return -1
  }

  textOf(atom: number): string {
    let text = ''
    for (let at = this.atomFrom[atom]!; at < this.atomFrom[atom + 1]!; at++) {
      text += String.fromCharCode(this.#characters[at]!)
    }
    return text
  }

  /** Compares the text of an atom with `text`. The result is negative if the text of the atom comes first. */
  compare(atom: number, text: string): number {
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
