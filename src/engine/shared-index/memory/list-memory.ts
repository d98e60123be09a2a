/**
 * Memory for the attribute index (`attribute-index/`), separate from the graph. The attribute index is
 * derived from the graph, so parts of it can be discarded if memory is low. It therefore uses none of the
 * capacity reserved for commits, and index snapshots do not contain it.
 *
 * It is an arena (`allocator.ts`) with its own header. Readers use it like the graph: their results are valid
 * if the sequence of the index has not changed.
 */
import { AuthzError } from '#model/errors.ts'
import type { Arena } from './allocator.ts'
import * as L from './layout.ts'

/** The buffers of the memory. They can be sent to another thread with `postMessage`. */
export interface ListBuffers {
  readonly listHeader: SharedArrayBuffer
  readonly lists: SharedArrayBuffer
}

/** Size of the address space. It is sufficient for about 100 million entries. */
const LIST_BYTES_MAX = 2 ** 30
const LIST_BYTES_MIN = 1 << 12
const GROWTH_BYTES_MIN = 1 << 16

export class ListMemory implements Arena {
  readonly header: Int32Array
  graph: Int32Array
  readonly #buffer: SharedArrayBuffer

  /** Creates the buffers. Tests set `bytesMax` to reach the limit sooner. */
  static buffers(bytesMax = LIST_BYTES_MAX): ListBuffers {
    const listHeader = new SharedArrayBuffer(L.HEADER_WORDS * L.WORD_BYTES)
    const lists = new SharedArrayBuffer(LIST_BYTES_MIN, { maxByteLength: bytesMax })
    const header = new Int32Array(listHeader)
    // Line 0 is not used: 0 means "none".
    header[L.H_GRAPH_TOP] = L.LINE_WORDS
    header[L.H_GRAPH_WORDS] = LIST_BYTES_MIN / L.WORD_BYTES
    return { listHeader, lists }
  }

  constructor({ listHeader, lists }: ListBuffers) {
    this.header = new Int32Array(listHeader)
    this.#buffer = lists
    this.graph = new Int32Array(lists, 0, this.header[L.H_GRAPH_WORDS]!)
  }

  get graphWordsMax(): number {
    return this.#buffer.maxByteLength / L.WORD_BYTES
  }

  /** Creates a new view if the memory has grown. Call it before each read. */
  refresh(): void {
    const words = this.header[L.H_GRAPH_WORDS]!
    if (words !== this.graph.length) this.graph = new Int32Array(this.#buffer, 0, words)
  }

  /** Grows the memory by an eighth, and at least to `words`. */
  growGraph(words: number): void {
    const { maxByteLength, byteLength } = this.#buffer
    const needed = words * L.WORD_BYTES
    if (needed > maxByteLength) {
      throw new AuthzError(
        'LIMIT_EXCEEDED',
        `the inverted index of attribute values has at most ${maxByteLength} bytes`,
      )
    }
    const step = Math.max(GROWTH_BYTES_MIN, byteLength >>> 3)
    const wanted = Math.max(byteLength + step, needed)
    const bytes = Math.min(maxByteLength, Math.ceil(wanted / GROWTH_BYTES_MIN) * GROWTH_BYTES_MIN)
    this.#buffer.grow(bytes)
    this.header[L.H_GRAPH_WORDS] = bytes / L.WORD_BYTES
    this.refresh()
  }

  /** Number of open bytes. */
  get bytes(): number {
    return this.#buffer.byteLength + this.header.byteLength
  }
}
