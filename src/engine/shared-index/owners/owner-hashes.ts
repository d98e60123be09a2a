/** Under which hashes an owner stands in a list of an attribute: that of its value, or those of the elements of a list. */
import { findInRow, type Found, isRow, textOfBlock } from '#engine/shared-index/memory/attribute-rows.ts'
import type { AttributeNames } from '#engine/shared-index/memory/attribute-names.ts'
import { attributesBlock } from '#engine/shared-index/memory/records.ts'
import type { Regions } from '#engine/shared-index/memory/regions.ts'
import {
  forEachElement,
  hashOfScalar,
  JSON_TEXT,
  kindOf,
  LIST,
  NO_FORM,
  valueIn,
  ValueWords,
} from '#engine/shared-index/memory/values.ts'
import { ELEMENTS_LISTED_MAX, HASH_OF_UNLISTED } from './list-directory.ts'

const NONE: readonly number[] = []
const UNLISTED: readonly number[] = [HASH_OF_UNLISTED]

/** One for each thread that writes. */
export class OwnerHashes {
  readonly #regions: Regions
  readonly #names: AttributeNames
  readonly #found: Found = { head: 0, at: 0 }
  readonly #scratch = new ValueWords()

  constructor(regions: Regions) {
    this.#regions = regions
    this.#names = regions.attributeNames
  }

  /** Of the attribute of the record on that line, as it is stored. Each once. O(attributes of the owner + elements). */
  of(line: number, name: string): readonly number[] {
    const { graph } = this.#regions
    const block = attributesBlock(graph, line)
    if (block === 0) return NONE
    if (!isRow(graph[block]!)) return this.#ofText(block, name)
    const number = this.#names.numberOf(name)
    if (number < 0 || !findInRow(graph, block, number, this.#found)) return NONE
    const { head, at } = this.#found
    const kind = kindOf(head)
    if (kind < LIST) return [hashOfScalar(head, graph, at)]
    if (kind === JSON_TEXT) return this.#ofValue(valueIn(head, graph, at))
    const hashes = new Set<number>()
    forEachElement(head, graph, at, (element, from) => {
      if (hashes.size <= ELEMENTS_LISTED_MAX) hashes.add(hashOfScalar(element, graph, from))
    })
    return hashes.size > ELEMENTS_LISTED_MAX ? UNLISTED : [...hashes]
  }

  /** Of attributes that are kept as a text. */
  #ofText(block: number, name: string): readonly number[] {
    const attributes = JSON.parse(textOfBlock(this.#regions.graph, block, this.#names)) as Readonly<
      Record<string, unknown>
    >
    return Object.hasOwn(attributes, name) ? this.#ofValue(attributes[name]) : NONE
  }

  /** What has no form, such as an object, is found by no value: nobody looks for it. */
  #ofValue(value: unknown): readonly number[] {
    if (!Array.isArray(value)) {
      const hash = hashOfValue(value, this.#scratch)
      return hash === null ? NONE : [hash]
    }
    const hashes = new Set<number>()
    for (const element of value) {
      const hash = hashOfValue(element, this.#scratch)
      if (hash !== null) hashes.add(hash)
      if (hashes.size > ELEMENTS_LISTED_MAX) return UNLISTED
    }
    return [...hashes]
  }
}

/** Of a scalar; `null`: it has no form. */
function hashOfValue(value: unknown, scratch: ValueWords): number | null {
  scratch.length = 0
  const head = scratch.scalar(value)
  return head === NO_FORM ? null : hashOfScalar(head, scratch.words, 0)
}
