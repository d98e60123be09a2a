/**
 * Creates records with their keys and attributes, and frees them. `facts.ts` sets the other words of a record
 * (`layout.ts`).
 *
 * Writing functions require the lock and a critical section.
 */
import type { Attributes } from '#model/change.ts'
import { allocate, allocateZeroed, log2Ceil, release } from './allocator.ts'
import { blockWords, copyBlock, RowWriter, textOfBlock } from './attribute-rows.ts'
import type { Key } from './key.ts'
import * as L from './layout.ts'
import { numberedName } from './numbered-names.ts'
import type { Regions } from './index-buffers.ts'
import { ValueWords } from './values.ts'

/** Without `ignoreBOM`, the decoder would remove U+FEFF from the beginning of a key. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const encoder = new TextEncoder()
/** Scratch memory of this thread. */
const copied = new ValueWords()
const rows = new RowWriter()

/**
 * Creates a record that contains only this key, and returns the line of the record. `linesLog2` is 1 for
 * users and 0 for other records.
 */
export function newRecord(regions: Regions, key: Key, type: number, linesLog2: number): number {
  const record = allocateZeroed(regions, L.LINE_WORDS_LOG2 + linesLog2)
  regions.graph[record] = (type << L.TYPE_SHIFT) | (key.bytes << L.KEY_BYTES_SHIFT)
  storeKey(regions, record, key.words, (key.bytes + 3) >>> 2, L.R_KEY_WORDS)
  return record >>> L.LINE_WORDS_LOG2
}

/**
 * Creates a container and returns its word. Only the first line is set to zero, because the words after it
 * are not read unless a head refers to them.
 */
export function newContainer(regions: Regions): number {
  const container = allocate(regions, L.LINE_WORDS_LOG2 + L.CONTAINER_LINES_LOG2)
  regions.graph.fill(0, container, container + L.LINE_WORDS)
  return container
}

/** Frees the record, its key and its attributes. The caller frees its slabs. */
export function releaseRecord(regions: Regions, line: number, linesLog2: number): void {
  const record = line << L.LINE_WORDS_LOG2
  dropAttributes(regions, record)
  dropExternalKey(regions, record)
  release(regions, record, L.LINE_WORDS_LOG2 + linesLog2)
}

export function typeOf(graph: Int32Array, line: number): number {
  return graph[line << L.LINE_WORDS_LOG2]! >>> L.TYPE_SHIFT
}

export function isDead(graph: Int32Array, line: number): boolean {
  return (graph[line << L.LINE_WORDS_LOG2]! & L.FLAG_DEAD) !== 0
}

/** Returns the descriptor of that out-edge list of the container which contains edges to this object. */
export function outListOf(graph: Int32Array, container: number, object: number): number {
  const isContainer = graph[(object << L.LINE_WORDS_LOG2) + L.I_CONTAINER] !== 0
  return (container << L.LINE_WORDS_LOG2) + (isContainer ? L.C_OUT_CONTAINERS : L.C_OUT_OTHERS)
}

/** Returns the word at which the key begins. */
export function keyStart(graph: Int32Array, record: number): number {
  return (graph[record]! & L.FLAG_EXTERNAL) === 0 ? record + L.R_KEY : graph[record + L.R_KEY]! + 1
}

export function keyBytes(graph: Int32Array, record: number): number {
  return (graph[record]! >>> L.KEY_BYTES_SHIFT) & L.KEY_BYTES_MASK
}

/** Returns the key as text. Allocates memory, so it is used only for listings. */
export function keyText(graph: Int32Array, line: number): string {
  const record = line << L.LINE_WORDS_LOG2
  return textAt(graph, keyStart(graph, record), keyBytes(graph, record))
}

/**
 * Returns the word at which the attributes of a record begin (`attribute-rows.ts`). Returns 0 if the record
 * has no attributes, or if they are `{}`.
 */
export function attributesBlock(graph: Int32Array, line: number): number {
  const record = line << L.LINE_WORDS_LOG2
  return (graph[record]! & L.FLAG_ATTRIBUTES) === 0 ? 0 : graph[attributesSlot(graph, record)]!
}

/** Returns the number of bytes in which the attributes are stored. */
export function attributesBytes(graph: Int32Array, line: number): number {
  const block = attributesBlock(graph, line)
  return block === 0 ? 0 : Int32Array.BYTES_PER_ELEMENT * blockWords(graph[block] ?? 0)
}

/** Returns the attributes as JSON. Allocates memory, so it is used only for listings. */
export function attributesText({ graph, attributeNames }: Regions, line: number): string | null {
  const record = line << L.LINE_WORDS_LOG2
  const head = graph[record]!
  if ((head & L.FLAG_EMPTY_ATTRIBUTES) !== 0) return '{}'
  if ((head & L.FLAG_ATTRIBUTES) === 0) return null
  // Skips position 0, because it means that there is no block.
  copied.length = 1
  const block = copyBlock(graph, graph[attributesSlot(graph, record)]!, copied)
  return block === 0 ? '' : textOfBlock(copied.words, block, attributeNames)
}

/** Replaces the attributes of a record. */
export function setAttributes(regions: Regions, line: number, attributes: Attributes | null): void {
  const record = line << L.LINE_WORDS_LOG2
  dropAttributes(regions, record)
  if (attributes === null) return
  const row = rows.row(attributes, name => numberedName(regions, name))
  const bytes = row === null ? encoder.encode(JSON.stringify(attributes)) : null
  if (row?.length === 1) {
    regions.graph[record] = regions.graph[record]! | L.FLAG_EMPTY_ATTRIBUTES
    return
  }
  const size = row === null ? 1 + ((bytes!.length + 3) >>> 2) : row.length
  const block = allocate(regions, Math.max(1, log2Ceil(size)))
  const { graph } = regions
  if (row !== null) graph.set(row, block)
  else {
    graph[block] = bytes!.length
    bytesAt(graph, block + 1, bytes!.length).set(bytes!)
  }
  makeRoomForAttributes(regions, record)
  regions.graph[attributesSlot(regions.graph, record)] = block
  regions.graph[record] = regions.graph[record]! | L.FLAG_ATTRIBUTES
}

/**
 * Returns the maximum number of words that the attributes can take, as a row or as JSON. It is not known yet
 * which names will have numbers, and therefore which form will be used. O(size).
 */
export function attributesWordsMax(attributes: Attributes): number {
  const row = rows.row(attributes, () => 0)
  return Math.max(row?.length ?? 0, 1 + ((encoder.encode(JSON.stringify(attributes)).length + 3) >>> 2))
}

function dropAttributes(regions: Regions, record: number): void {
  const { graph } = regions
  if ((graph[record]! & L.FLAG_ATTRIBUTES) !== 0) {
    const slot = attributesSlot(graph, record)
    const block = graph[slot]!
    release(regions, block, Math.max(1, log2Ceil(blockWords(graph[block]!))))
    graph[slot] = 0
  }
  graph[record] = graph[record]! & ~(L.FLAG_ATTRIBUTES | L.FLAG_EMPTY_ATTRIBUTES)
}

/** Returns the word that contains the pointer to the attributes. */
function attributesSlot(graph: Int32Array, record: number): number {
  return (graph[record]! & L.FLAG_EXTERNAL) === 0 ? record + L.R_ATTRIBUTES : graph[record + L.R_KEY]!
}

/**
 * Moves a key of 33 to 36 bytes out of the record, because the pointer to the attributes needs the last word.
 */
function makeRoomForAttributes(regions: Regions, record: number): void {
  const { graph } = regions
  const words = (keyBytes(graph, record) + 3) >>> 2
  if ((graph[record]! & L.FLAG_EXTERNAL) !== 0 || words <= L.R_KEY_WORDS_BESIDE_ATTRIBUTES) return
  storeKey(regions, record, graph.slice(record + L.R_KEY, record + L.R_KEY + words), words, 0)
}

function storeKey(
  regions: Regions,
  record: number,
  key: Int32Array,
  words: number,
  roomInPlace: number,
): void {
  const isExternal = words > roomInPlace
  const block = isExternal ? allocateZeroed(regions, log2Ceil(1 + words)) : 0
  const { graph } = regions
  const to = isExternal ? block + 1 : record + L.R_KEY
  for (let word = 0; word < words; word++) graph[to + word] = key[word]!
  if (!isExternal) return
  graph[record + L.R_KEY] = block
  graph[record] = graph[record]! | L.FLAG_EXTERNAL
}

function dropExternalKey(regions: Regions, record: number): void {
  const { graph } = regions
  if ((graph[record]! & L.FLAG_EXTERNAL) === 0) return
  release(regions, graph[record + L.R_KEY]!, log2Ceil(1 + ((keyBytes(graph, record) + 3) >>> 2)))
}

/**
 * Copies the bytes first, because a decoder rejects shared memory. If the bounds are torn, the text is empty
 * or wrong, but no error is thrown.
 */
function textAt(graph: Int32Array, from: number, bytes: number): string {
  if (!(from > 0 && bytes >= 0 && from * L.WORD_BYTES + bytes <= graph.byteLength)) return ''
  return decoder.decode(bytesAt(graph, from, bytes).slice())
}

/**
 * Returns the bytes that start at a word of the graph. Word 0 is not necessarily at the start of its buffer
 * (`firstLineAt`).
 */
function bytesAt(graph: Int32Array, word: number, bytes: number): Uint8Array<SharedArrayBuffer> {
  return new Uint8Array(graph.buffer as SharedArrayBuffer, graph.byteOffset + word * L.WORD_BYTES, bytes)
}
