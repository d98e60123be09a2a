/**
 * Computes the hashes under which the list of an attribute contains an entity. A scalar value has one hash. A
 * list value has one hash per element.
 */
import { countInRow, isRow, textOfBlock } from '#engine/shared-index/memory/attribute-rows.ts'
import type { AttributeNames } from '#engine/shared-index/memory/attribute-names.ts'
import { attributesBlock } from '#engine/shared-index/memory/records.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import {
  forEachElement,
  hashOfScalar,
  HEAD_BITS,
  HEAD_MASK,
  JSON_TEXT,
  kindOf,
  LIST,
  NO_FORM,
  valueIn,
  ValueWords,
  wordsBehind,
} from '#engine/shared-index/memory/values.ts'
import { parsedJson } from '#model/text/json-numbers.ts'
import { ELEMENTS_LISTED_MAX, HASH_OF_UNLISTED } from './list-directory.ts'

const NONE: readonly number[] = []
const UNLISTED: readonly number[] = [HASH_OF_UNLISTED]

/**
 * The attributes for which the entities of one type have lists. Maps the number of an attribute name to the
 * position of the attribute's list; names without a number have no entry.
 */
export class ListedNames {
  readonly names: readonly string[]
  #byNumber: ReadonlyMap<number, number> = new Map()
  #known = -1

  constructor(names: readonly string[]) {
    this.names = names
  }

  byNumber(names: AttributeNames): ReadonlyMap<number, number> {
    names.refresh()
    if (names.known !== this.#known) {
      this.#known = names.known
      this.#byNumber = new Map(this.names.map((name, position) => [names.numberOf(name), position]))
    }
    return this.#byNumber
  }
}

/** Each thread that writes has its own instance. */
export class AttributeHashes {
  readonly #regions: Regions
  readonly #names: AttributeNames
  readonly #scratch = new ValueWords()

  constructor(regions: Regions) {
    this.#regions = regions
    this.#names = regions.attributeNames
  }

  /**
   * Returns the hashes of the stored attributes of the record on this line: one array per listed name, which
   * contains each hash once. O(size of the attributes).
   */
  of(line: number, listed: ListedNames): readonly (readonly number[])[] {
    const { graph } = this.#regions
    const hashes: (readonly number[])[] = listed.names.map(() => NONE)
    const block = attributesBlock(graph, line)
    if (block === 0 || hashes.length === 0) return hashes
    if (!isRow(graph[block]!)) {
      const attributes = parsedJson(textOfBlock(graph, block, this.#names)) as Readonly<
        Record<string, unknown>
      >
      for (const [position, name] of listed.names.entries()) {
        if (Object.hasOwn(attributes, name)) hashes[position] = this.#ofValue(attributes[name])
      }
      return hashes
    }
    const positions = listed.byNumber(this.#names)
    const count = countInRow(graph, block)
    let at = block + 1 + count
    for (let index = block + 1; index <= block + count; index++) {
      const head = graph[index]! & HEAD_MASK
      const position = positions.get(graph[index]! >>> HEAD_BITS)
      if (position !== undefined) hashes[position] = this.#ofWords(head, at)
      at += wordsBehind(head, graph, at)
    }
    return hashes
  }

  #ofWords(head: number, at: number): readonly number[] {
    const { graph } = this.#regions
    const kind = kindOf(head)
    if (kind < LIST) return [hashOfScalar(head, graph, at)]
    if (kind === JSON_TEXT) return this.#ofValue(valueIn(head, graph, at))
    const hashes = new Set<number>()
    forEachElement(head, graph, at, (element, from) => {
      if (hashes.size <= ELEMENTS_LISTED_MAX) hashes.add(hashOfScalar(element, graph, from))
    })
    return hashes.size > ELEMENTS_LISTED_MAX ? UNLISTED : [...hashes]
  }

  /** A value without an encoding, such as an object, is not indexed: no search looks it up. */
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

/** Returns the hash of a scalar, or `null` if the scalar has no encoding. */
function hashOfValue(value: unknown, scratch: ValueWords): number | null {
  scratch.length = 0
  const head = scratch.scalar(value)
  return head === NO_FORM ? null : hashOfScalar(head, scratch.words, 0)
}
