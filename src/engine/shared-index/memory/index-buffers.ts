/**
 * Buffers of one index (its regions: their sizes, growth and limits) and a thread's views of them.
 * `SharedIndexHandle` can be sent with `postMessage`: another thread attaches to the index by creating views,
 * without copying.
 *
 * Invariant: views have an explicit length, because reads through length-tracking views of growable buffers
 * are 17 times slower. If the views of a thread are older than the layout epoch, the thread therefore creates
 * new views before any other read.
 *
 * Regions grow and never shrink, because the index reuses freed blocks. Small regions are growable buffers.
 * The regions of a large index are buffers of maximum length that are opened step by step; memory that was
 * never touched only takes address space. The C library allocates a buffer that does not grow, and it can
 * request huge pages from the kernel (`start.js`). With small pages, random reads of millions of facts spend
 * a third of their time on address translation.
 */
import type { IndexHandle } from '#engine/index-handle.ts'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { AttributeNames } from './attribute-names.ts'
import * as L from './layout.ts'
import { type ListBuffers, ListMemory } from './list-memory.ts'
import { isRetired } from './sequence.ts'

/** The buffers that a handle contains. */
interface RegionBuffers extends ListBuffers {
  readonly header: SharedArrayBuffer
  readonly graph: SharedArrayBuffer
  readonly closures: SharedArrayBuffer
  readonly schema: SharedArrayBuffer
  /**
   * `schema` and `otherSchema` alternate: one contains the current schema (`H_SCHEMA_IN`), and the next
   * schema is written into the other.
   */
  readonly otherSchema: SharedArrayBuffer
}

/** A handle whose content is known. Only the engine uses this type. */
export type SharedIndexHandle = IndexHandle & RegionBuffers

/** A region in an index snapshot. The snapshot contains only the current one of the two schema buffers. */
export type RegionName = 'header' | 'graph' | 'closures' | 'schema'

/** Used bytes of each region. */
export type RegionBytes = Readonly<Record<RegionName, number>>

/** Position of a compiled schema in its buffer, in words. */
export interface SchemaLocation {
  readonly head: number
  /** Number of words of the whole schema. The head is its last part. */
  readonly words: number
}

/** Size limits of the regions in bytes. Tests set them to reach the limits sooner. */
export interface RegionSizes {
  readonly closureBytesMax?: number | undefined
  readonly graphBytesMax?: number | undefined
  readonly listBytesMax?: number | undefined
  /** Size from which a graph receives its whole address space immediately. */
  readonly largeGraphBytes?: number | undefined
}

/**
 * Secrets of the key hash, chosen at random for each index. Some tests use a multiplier of 0, with which all
 * keys collide.
 */
export interface HashSecrets {
  readonly start: number
  readonly multiplier: number
}

/**
 * Limits of the address space. A region only takes the memory of the size to which it has grown. The graph
 * has up to 2^26 lines of 64 bytes.
 */
const GRAPH_BYTES_MAX = 2 ** 32
const CLOSURE_BYTES_MAX = 2 ** 31
const SCHEMA_BYTES_MAX = 2 ** 28
const GRAPH_BYTES_MIN = 1 << 15
const CLOSURE_BYTES_MIN = 1 << 13
const SCHEMA_BYTES_MIN = 1 << 12
const GROWTH_BYTES_MIN = 1 << 16
const PAGE_WORDS = 1_024
/**
 * Number of words of closures that are prefaulted: two huge pages. Closures that are built between two
 * commits rarely take more.
 */
export const CLOSURE_WORDS_AHEAD = 1 << 20
/** Number of bytes that the C library uses at the start of an allocation. */
const ALLOCATION_NOTE_BYTES = 16
/**
 * Offset of the first line in a large buffer. It aligns the lines of the index with cache lines. Without it,
 * bulks take an eighth longer.
 */
const LARGE_FIRST_LINE_AT = L.LINE_WORDS * L.WORD_BYTES - ALLOCATION_NOTE_BYTES
/**
 * Minimum size of a large graph. A large graph wastes less than one huge page, which is little compared to
 * this size.
 */
export const LARGE_GRAPH_BYTES = 2 ** 24

export class Regions {
  #handle: SharedIndexHandle
  readonly header: Int32Array
  graph: Int32Array
  closures: Int32Array
  /**
   * Used by the writer: descriptors of large slabs that are mostly empty, with their width
   * (`replacements.ts`).
   */
  readonly sparse = new Map<number, 0 | 1>()
  readonly lists: ListMemory
  /** The attribute names with numbers that this thread has read. */
  readonly attributeNames = new AttributeNames(this)
  #epoch: number
  /**
   * Used by the writer: for each region, the word up to which the pages have been prefaulted. If the used
   * part of a region ends at a higher word, the pages up to that word have also been prefaulted.
   */
  #graphPrefaulted = 0
  #closuresTouched = 0
  /** True if the operating system refused the address space for a large graph. */
  #isMoveRefused = false
  readonly #largeGraphBytes: number

  private constructor(handle: SharedIndexHandle, largeGraphBytes = LARGE_GRAPH_BYTES) {
    this.#handle = handle
    this.#largeGraphBytes = largeGraphBytes
    this.header = new Int32Array(handle.header)
    this.lists = new ListMemory(handle)
    // Acquire: the lengths that are read next are at least as large as those published with this epoch.
    this.#epoch = Atomics.load(this.header, L.H_LAYOUT_EPOCH)
    this.graph = wordsOf(handle.graph, this.header[L.H_GRAPH_WORDS]!)
    this.closures = wordsOf(handle.closures, this.header[L.H_CLOSURE_WORDS]!)
  }

  get handle(): SharedIndexHandle {
    return this.#handle
  }

  static create(
    secrets: HashSecrets,
    {
      closureBytesMax = CLOSURE_BYTES_MAX,
      graphBytesMax = GRAPH_BYTES_MAX,
      listBytesMax,
      largeGraphBytes,
    }: RegionSizes = {},
  ): Regions {
    const handle = handleOf({
      header: new SharedArrayBuffer(L.HEADER_WORDS * L.WORD_BYTES),
      graph: new SharedArrayBuffer(GRAPH_BYTES_MIN, { maxByteLength: graphBytesMax }),
      closures: new SharedArrayBuffer(CLOSURE_BYTES_MIN, { maxByteLength: closureBytesMax }),
      schema: new SharedArrayBuffer(SCHEMA_BYTES_MIN, { maxByteLength: SCHEMA_BYTES_MAX }),
      otherSchema: new SharedArrayBuffer(SCHEMA_BYTES_MIN, { maxByteLength: SCHEMA_BYTES_MAX }),
      ...ListMemory.buffers(listBytesMax),
    })
    const sizes = new Int32Array(handle.header)
    sizes[L.H_GRAPH_WORDS] = GRAPH_BYTES_MIN / L.WORD_BYTES
    sizes[L.H_CLOSURE_WORDS] = CLOSURE_BYTES_MIN / L.WORD_BYTES
    const regions = new Regions(handle, largeGraphBytes)
    const { header } = regions
    header[L.H_VERSION] = L.LAYOUT_VERSION
    header[L.H_HASH_START] = secrets.start
    header[L.H_HASH_MULTIPLIER] = secrets.multiplier
    // Line 0 is not used: 0 means "none".
    header[L.H_GRAPH_TOP] = L.LINE_WORDS
    header[L.H_CLOSURE_TOP] = L.LINE_WORDS
    // Release: a reader that sees the magic number also sees the rest of the header.
    Atomics.store(header, L.H_MAGIC, L.MAGIC)
    return regions
  }

  /** Creates empty regions into which an index snapshot of these sizes can be read. */
  static emptyHandle(bytes: RegionBytes): SharedIndexHandle {
    const large = bytes.graph < LARGE_GRAPH_BYTES ? null : largeBuffers()
    return handleOf({
      header: new SharedArrayBuffer(bytes.header),
      graph:
        large?.graph ??
        new SharedArrayBuffer(openGraphBytes(bytes.graph), { maxByteLength: GRAPH_BYTES_MAX }),
      closures:
        large?.closures ??
        new SharedArrayBuffer(openBytes(bytes.closures), { maxByteLength: CLOSURE_BYTES_MAX }),
      schema: new SharedArrayBuffer(openBytes(bytes.schema), { maxByteLength: SCHEMA_BYTES_MAX }),
      otherSchema: new SharedArrayBuffer(SCHEMA_BYTES_MIN, { maxByteLength: SCHEMA_BYTES_MAX }),
      // Index snapshots do not contain the attribute index, so its buffers are empty. The index is built
      // again.
      ...ListMemory.buffers(),
    })
  }

  /**
   * Opens the regions after a snapshot has been read into them. Opens only slightly more than the used size.
   */
  static restored(handle: SharedIndexHandle): Regions {
    const header = new Int32Array(handle.header)
    header[L.H_SCHEMA_IN] = 0
    header[L.H_GRAPH_WORDS] = openGraphBytes(header[L.H_GRAPH_TOP]! * L.WORD_BYTES) / L.WORD_BYTES
    header[L.H_CLOSURE_WORDS] = openBytes(header[L.H_CLOSURE_TOP]! * L.WORD_BYTES) / L.WORD_BYTES
    return Regions.attach(handle)
  }

  static attach(sealed: IndexHandle): Regions {
    const handle = opened(sealed)
    const header = new Int32Array(handle.header)
    if (isRetired(header)) throw indexRetired()
    assert(Atomics.load(header, L.H_MAGIC) === L.MAGIC, 'a shared index begins with its magic number')
    assert(header[L.H_VERSION] === L.LAYOUT_VERSION, 'reader and writer use the same layout version')
    return new Regions(handle)
  }

  /**
   * Moves a graph that has become large into a buffer with the whole address space. Does nothing if the
   * operating system refuses the address space. Call it only while no other thread has the handle and no view
   * is in use.
   */
  moveIfLarge(): void {
    const { handle } = this
    const isLarge = handle.graph.byteLength >= this.#largeGraphBytes
    if (!isLarge || !handle.graph.growable || this.#isMoveRefused) return
    const large = largeBuffers(handle.closures.maxByteLength, handle.graph.maxByteLength)
    // Tries this only once, because each refusal of the operating system causes several full garbage
    // collections.
    this.#isMoveRefused = large === null
    if (large === null) return
    this.#handle = { ...handle, ...large }
    const { graph, closures } = this
    this.#view()
    this.graph.set(graph)
    this.closures.set(closures)
  }

  /**
   * Creates new views if a region has grown. Call it after the sequence has been read and before any data is
   * read. Throws `ENVIRONMENT_CLOSED` if the index has been retired.
   */
  refresh(): void {
    // Acquire: pairs with the atomic additions in `#open` and `retire`.
    const epoch = Atomics.load(this.header, L.H_LAYOUT_EPOCH)
    if (epoch === this.#epoch) return
    // The epoch of a retired index is not stored, so that the next call checks again.
    if (isRetired(this.header)) throw indexRetired()
    this.#epoch = epoch
    this.#view()
  }

  /**
   * Grows the graph by an eighth, and at least to `words`. Touches no page; see `prefault`. Throws
   * `LIMIT_EXCEEDED` above its limit. Requires the lock.
   */
  growGraph(words: number): void {
    const { graph } = this.handle
    const bytesMax = this.graphWordsMax * L.WORD_BYTES
    if (words * L.WORD_BYTES > bytesMax) {
      const message = `an environment has at most ${bytesMax} bytes of facts and attributes in its index`
      throw new AuthzError('LIMIT_EXCEEDED', message)
    }
    this.#open(graph, L.H_GRAPH_WORDS, grownBytes(this.graph.byteLength, words, bytesMax, 8))
  }

  /** Maximum number of words of the graph. */
  get graphWordsMax(): number {
    const { graph } = this.handle
    return (graph.maxByteLength - firstLineAt(graph)) / L.WORD_BYTES
  }

  /**
   * Grows the closure region. Requires the lock. Must run in a critical section. It can also run before a
   * critical section, if no block in the new part is published before this section. Otherwise a reader that
   * began earlier would access the block beyond the end of its view.
   */
  growClosures(words: number): void {
    const { closures } = this.handle
    const bytes = grownBytes(this.closures.byteLength, words, this.closureWordsMax() * L.WORD_BYTES, 16)
    this.#open(closures, L.H_CLOSURE_WORDS, bytes)
  }

  closureWordsMax(): number {
    const { closures } = this.handle
    return (closures.maxByteLength - firstLineAt(closures)) / L.WORD_BYTES
  }

  /**
   * Prefaults the pages of the next `graphWords` words of the graph, and those of the next closures. The
   * first write to a page causes a page fault, which takes 5 to 7 ms for a huge page if the hypervisor has to
   * find memory first. This time should be spent while no reader waits. Prefaulting is also useful after a
   * load, because the memory beyond the loaded data has not been written yet. Only the writer calls this
   * method. It needs no lock, because it changes no word.
   */
  prefault(graphWords: number): void {
    const top = this.header[L.H_GRAPH_TOP]!
    const end = Math.min(top + graphWords, this.graph.length)
    this.#graphPrefaulted = touch(this.graph, Math.max(top, this.#graphPrefaulted), end)
    this.#prefaultClosures()
  }

  /**
   * Prefaults the closure region, to which builders in other threads also append. A growable buffer has small
   * pages, whose faults are short, so it is skipped.
   */
  #prefaultClosures(): void {
    const { closures } = this.handle
    const top = this.header[L.H_CLOSURE_TOP]!
    if (closures.growable || this.#closuresTouched - top > CLOSURE_WORDS_AHEAD / 2) return
    // Also prefaults words beyond the open part, because builders will open them themselves.
    const all = wordsOf(closures, this.closureWordsMax())
    const end = Math.min(top + CLOSURE_WORDS_AHEAD, all.length)
    this.#closuresTouched = touch(all, Math.max(top, this.#closuresTouched), end)
  }

  /**
   * Returns the buffer for the next schema, with at least `words` words. No thread reads this buffer. Throws
   * `LIMIT_EXCEEDED` if the schema is too large.
   */
  spareSchema(words: number): Int32Array {
    const bytes = words * L.WORD_BYTES
    const buffer = this.#schemaBuffer(1)
    if (bytes > SCHEMA_BYTES_MAX) throw schemaTooLarge(bytes)
    if (bytes > buffer.byteLength) buffer.grow(grownBytes(buffer.byteLength, words, SCHEMA_BYTES_MAX, 2))
    return new Int32Array(buffer, 0, words)
  }

  /** Makes the schema in the other buffer the current one. Requires the lock and a critical section. */
  publishSchema({ head, words }: SchemaLocation): void {
    const { header } = this
    header[L.H_SCHEMA_IN] = header[L.H_SCHEMA_IN]! ^ 1
    header[L.H_SCHEMA_BYTES] = words * L.WORD_BYTES
    header[L.H_SCHEMA_HEAD] = head
    // Release: a reader that sees the new version knows that its earlier reads might belong to the previous
    // one (`isSchemaVersion`).
    Atomics.store(header, L.H_SCHEMA_VERSION, (header[L.H_SCHEMA_VERSION]! + 1) | 0)
  }

  /**
   * Returns the current schema in place, without copying. Its words do not change while the schema version
   * stays the same.
   */
  currentSchema(): Int32Array {
    const buffer = this.#schemaBuffer(0)
    const bytes = Math.min(Math.max(this.header[L.H_SCHEMA_BYTES]!, 0), buffer.byteLength)
    return new Int32Array(buffer, 0, bytes / L.WORD_BYTES)
  }

  /**
   * Returns whether the schema still has this version. If so, all preceding reads of the schema belong to
   * this version.
   */
  isSchemaVersion(version: number): boolean {
    // Acquire does not keep earlier plain loads before this load. On x86, the hardware does; on other
    // processors, readers hold the lock.
    return Atomics.load(this.header, L.H_SCHEMA_VERSION) === version
  }

  #schemaBuffer(other: 0 | 1): SharedArrayBuffer {
    const { schema, otherSchema } = this.handle
    return (this.header[L.H_SCHEMA_IN]! ^ other) === 0 ? schema : otherSchema
  }

  /** Returns the number of open bytes of each region and of all regions. */
  bytes(): { header: number; graph: number; closures: number; schema: number; lists: number; total: number } {
    const header = this.handle.header.byteLength
    const graph = this.graph.byteLength
    const closures = this.closures.byteLength
    const schema = this.handle.schema.byteLength + this.handle.otherSchema.byteLength
    const lists = this.lists.bytes
    return { header, graph, closures, schema, lists, total: header + graph + closures + schema + lists }
  }

  #open(buffer: SharedArrayBuffer, words: number, bytes: number): void {
    // The buffer can already be larger: a thread might have grown it and died before it published the new
    // size.
    if (buffer.growable && bytes > buffer.byteLength) buffer.grow(bytes)
    this.header[words] = bytes / L.WORD_BYTES
    // Release: a reader that sees the new epoch also sees the new lengths.
    this.#epoch = Atomics.add(this.header, L.H_LAYOUT_EPOCH, 1) + 1
    this.#view()
  }

  #view(): void {
    this.graph = wordsOf(this.handle.graph, this.header[L.H_GRAPH_WORDS]!)
    this.closures = wordsOf(this.handle.closures, this.header[L.H_CLOSURE_WORDS]!)
  }
}

function indexRetired(): AuthzError {
  return new AuthzError(
    'ENVIRONMENT_CLOSED',
    'decisions for this environment are not available at the moment',
  )
}

function schemaTooLarge(bytes: number): AuthzError {
  return new AuthzError(
    'LIMIT_EXCEEDED',
    `the compiled schema takes ${bytes} bytes, at most ${SCHEMA_BYTES_MAX} are possible`,
  )
}

function handleOf(buffers: RegionBuffers): SharedIndexHandle {
  return buffers as SharedIndexHandle
}

/** Opens a handle that was received from another thread. */
export function opened(handle: IndexHandle): SharedIndexHandle {
  return handle as SharedIndexHandle
}

/**
 * Creates the buffers of a large index. Returns null if the operating system refuses the address space, as on
 * a small machine or without overcommit.
 */
function largeBuffers(
  closureBytes = CLOSURE_BYTES_MAX,
  graphBytes = GRAPH_BYTES_MAX,
): Pick<SharedIndexHandle, 'graph' | 'closures'> | null {
  try {
    return {
      graph: new SharedArrayBuffer(graphBytes + LARGE_FIRST_LINE_AT),
      closures: new SharedArrayBuffer(closureBytes + LARGE_FIRST_LINE_AT),
    }
  } catch {
    return null
  }
}

/**
 * Returns the offset in bytes at which the lines of a graph or of closures begin in their buffer. The memory
 * of a growable buffer always begins on a page.
 */
export function firstLineAt(buffer: SharedArrayBuffer): number {
  return buffer.growable ? 0 : LARGE_FIRST_LINE_AT
}

function wordsOf(buffer: SharedArrayBuffer, words: number): Int32Array {
  return new Int32Array(buffer, firstLineAt(buffer), words)
}

/** Returns the number of bytes to open for a region that needs `bytes`. */
function openBytes(bytes: number): number {
  return Math.ceil(Math.max(bytes, 1) / GRAPH_BYTES_MIN) * GRAPH_BYTES_MIN
}

/** Like `openBytes`, for the graph: includes the words that are open after its top. */
function openGraphBytes(bytes: number): number {
  return openBytes(bytes + L.OPEN_BEHIND_TOP * L.WORD_BYTES)
}

function grownBytes(now: number, wordsNeeded: number, max: number, fraction: number): number {
  const step = Math.max(GROWTH_BYTES_MIN, Math.ceil(now / fraction))
  const wanted = Math.max(now + step, wordsNeeded * L.WORD_BYTES)
  return Math.min(max, Math.ceil(wanted / GROWTH_BYTES_MIN) * GROWTH_BYTES_MIN)
}

/** Faults these pages in without changing them. Returns the end of the prefaulted part. */
function touch(words: Int32Array, from: number, to: number): number {
  for (let word = from; word < to; word += PAGE_WORDS) Atomics.or(words, word, 0)
  if (to > from) Atomics.or(words, to - 1, 0)
  return Math.max(from, to)
}
