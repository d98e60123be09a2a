/**
 * Attributes of an owner, where every thread reads them in place. Most are a row:
 *
 *   │ sign bit · attributes · words │ name and head of each, in the order in which they were put │ the words behind the heads │
 *
 * Names are numbers (`attribute-names.ts`), heads and words those of `values.ts`. What has no such form, because of its names or its
 * size, is the text as it was stored:
 *
 *   │ bytes │ JSON in UTF-8 │
 *
 * A row takes about half of that text. Objects within a row are texts, which are parsed when a condition asks for them.
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

const WORDS_BITS = 18
const WORDS_MASK = (1 << WORDS_BITS) - 1
/** More than the attributes of any owner: whoever reads more reads torn words. */
const WORDS_MAX = 1 << 23
const COUNT_MASK = 0x1fff
const ROW = 1 << 31

type Attributes = Readonly<Record<string, unknown>>

/** Makes rows, each in words that the next one takes again. */
export class RowWriter {
  readonly #row = new ValueWords()

  /** `null`: it has to be kept as JSON. `numberOf`: of a name, -1 where it has none. O(size). */
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
      // The words may have been replaced by more of them.
      row.words[1 + index] = (number << HEAD_BITS) | head
    }
    if (row.length > WORDS_MASK) return null
    row.words[0] = ROW | (names.length << WORDS_BITS) | row.length
    return row.words.subarray(0, row.length)
  }
}

function put(row: ValueWords, value: unknown): number {
  if (typeof value === 'number' && !Number.isFinite(value)) return row.scalar(null)
  // With its digits, which are answered.
  if (typeof value === 'bigint') return row.json(String(value))
  const head = row.scalar(value)
  if (head !== NO_FORM) return head
  return (Array.isArray(value) && putList(row, value)) || row.json(JSON.stringify(value))
}

/** 0: it has no form. Lists of fractions are shorter as text. */
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

/** Words of the block of an owner, by its first word. */
export function blockWords(first: number): number {
  return first < 0 ? first & WORDS_MASK : 1 + ((first + 3) >>> 2)
}

export function isRow(first: number): boolean {
  return first < 0
}

/** Where an attribute of a row was found: its head, and the word behind. */
export interface Found {
  head: number
  at: number
}

/** Looks for a name; false: it is not there. O(attributes of the owner). */
export function findInRow(words: Int32Array, row: number, number: number, found: Found): boolean {
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
    // Of most kinds there is nothing behind the head.
    at += wordsBehind(head, words, at)
  }
  return false
}

/** How many attributes it has. */
export function countInRow(words: Int32Array, row: number): number {
  return (words[row]! >>> WORDS_BITS) & COUNT_MASK
}

/** The attributes as JSON, of a block in words of this thread. O(words). */
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

/** Copies the block at this word of the graph; 0: there is none, or the read is torn. `into` has something at 0 already. */
export function copyBlock(graph: Int32Array, block: number, into: ValueWords): number {
  const first = graph[block]
  if (!(block > 0) || first === undefined) return 0
  const words = blockWords(first)
  if (words > WORDS_MAX || block + words > graph.length) return 0
  return into.copy(graph, block, words)
}
