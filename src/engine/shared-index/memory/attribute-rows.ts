/**
 * Stores the attributes of an entity in a form that every thread reads in place. Most are stored as a row:
 *
 *   │ sign bit · attributes · words │ name and head of each, by insertion │ the words after the heads │
 *
 * Names are numbers (`attribute-names.ts`); heads and words are those of `values.ts`. Attributes without such
 * a form, because of their names or their size, are stored as JSON text:
 *
 *   │ bytes │ JSON in UTF-8 │
 *
 * A row takes about half the space of that text. Objects within a row are texts, which are parsed when a
 * condition reads them.
 */
import { type AttributeNames, NAMES_MAX } from './attribute-names.ts'
import {
  HEAD_BITS,
  HEAD_MASK,
  jsonIn,
  LIST,
  NO_FORM,
  KIND_SHIFT,
  PAYLOAD_MASK,
  textIn,
  ValueWords,
  wordsBehind,
} from './values.ts'
import type { Attributes } from '#model/change.ts'

const WORDS_BITS = 18
const WORDS_MASK = (1 << WORDS_BITS) - 1
/**
 * Limit of the number of words of a row. No entity has this number of words; a larger number comes from a
 * torn read.
 */
const WORDS_MAX = 1 << 23
const COUNT_MASK = 0x1fff
const ROW = 1 << 31

/** Creates rows. Each call reuses the words of the previous one. */
export class RowWriter {
  readonly #row = new ValueWords()

  /**
   * Returns the attributes as a row, or `null` if they must be stored as JSON. `numberOf` returns the number
   * of a name, or -1 if it has none. O(size).
   */
  row(attributes: Attributes, numberOf: (name: string) => number): Int32Array | null {
    const row = this.#row
    const names = Object.keys(attributes).filter(name => attributes[name] !== undefined)
    if (names.length > Math.min(COUNT_MASK, NAMES_MAX)) return null
    row.length = 0
    row.reserve(1 + names.length)
    row.length = 1 + names.length
    for (const [index, name] of names.entries()) {
      const number = numberOf(name)
      if (number < 0) return null
      const head = put(row, attributes[name])
      // Accesses `row.words` again, because `put` might have replaced it by a larger array.
      row.words[1 + index] = (number << HEAD_BITS) | head
    }
    if (row.length > WORDS_MASK) return null
    row.words[0] = ROW | (names.length << WORDS_BITS) | row.length
    return row.words.subarray(0, row.length)
  }
}

function put(row: ValueWords, value: unknown): number {
  if (typeof value === 'number' && !Number.isFinite(value)) return row.scalar(null)
  // A `bigint` is stored as text, because responses contain its exact digits.
  if (typeof value === 'bigint') return row.json(String(value))
  const head = row.scalar(value)
  if (head !== NO_FORM) return head
  return (Array.isArray(value) && putList(row, value)) || row.json(JSON.stringify(value))
}

/**
 * Appends a list and returns its head. Returns 0 if the list cannot be encoded in words. Lists with fractions
 * are stored as text, which is shorter.
 */
function putList(row: ValueWords, values: readonly unknown[]): number {
  const isPlain = (value: unknown): boolean =>
    typeof value === 'number'
      ? Number.isInteger(value)
      : value === null || (typeof value !== 'object' && typeof value !== 'bigint')
  if (values.length > PAYLOAD_MASK || !values.every(isPlain)) return 0
  const from = row.length
  row.reserve(1 + values.length)
  row.length += 1 + values.length
  for (const [index, value] of values.entries()) {
    const head = row.scalar(value)
    if (head === NO_FORM) {
      row.length = from
      return 0
    }
    row.words[from + 1 + index] = head
  }
  row.words[from] = row.length - from
  return (LIST << KIND_SHIFT) | values.length
}

/** Returns the number of words of a block of attributes, given its first word. */
export function blockWords(first: number): number {
  return first < 0 ? first & WORDS_MASK : 1 + ((first + 3) >>> 2)
}

export function isRow(first: number): boolean {
  return first < 0
}

/** Position of an attribute in a row: its head, and the word after the head. */
export interface AttributePosition {
  head: number
  at: number
}

/**
 * Searches the row for an attribute by the number of its name, and sets `found`. Returns false if the row
 * does not have it. O(attributes of the entity).
 */
export function findInRow(words: Int32Array, row: number, number: number, found: AttributePosition): boolean {
  const count = (words[row]! >>> WORDS_BITS) & COUNT_MASK
  let at = row + 1 + count
  for (let index = row + 1; index <= row + count; index++) {
    const entry = words[index]!
    const head = entry & HEAD_MASK
    if (entry >>> HEAD_BITS === number) {
      found.head = head
      found.at = at
      return true
    }
    // This position is correct for most attributes, because most kinds have no words after the head.
    at += wordsBehind(head, words, at)
  }
  return false
}

/** Returns the number of attributes of a row. */
export function countInRow(words: Int32Array, row: number): number {
  return (words[row]! >>> WORDS_BITS) & COUNT_MASK
}

/**
 * Returns the attributes in a block as JSON. The block must have been copied to words of this thread.
 * O(words).
 */
export function textOfBlock(words: Int32Array, block: number, names: AttributeNames): string {
  if (!isRow(words[block]!)) return textIn(words, block + 1, words[block]!)
  const count = countInRow(words, block)
  const members: string[] = []
  let at = block + 1 + count
  for (let index = block + 1; index <= block + count; index++) {
    const entry = words[index]!
    const head = entry & HEAD_MASK
    members.push(`${JSON.stringify(names.textOf(entry >>> HEAD_BITS))}:${jsonIn(head, words, at)}`)
    at += wordsBehind(head, words, at)
  }
  return `{${members.join(',')}}`
}

/**
 * Copies the block at this word of the graph and returns its position. Returns 0 if there is no block or the
 * read was torn. Position 0 of `into` must already be in use.
 */
export function copyBlock(graph: Int32Array, block: number, into: ValueWords): number {
  const first = graph[block]
  if (!(block > 0) || first === undefined) return 0
  const words = blockWords(first)
  if (words > WORDS_MAX || block + words > graph.length) return 0
  return into.copy(graph, block, words)
}
