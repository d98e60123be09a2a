/**
 * The regions of one index and a thread's views of them. `SharedIndexHandle` is what crosses `postMessage`: a new
 * thread attaches by making views, nothing is copied.
 *
 * Invariant: views have an explicit length (length-tracking views of growable buffers read 17 times slower), so a
 * thread whose views are older than the layout epoch makes new ones before it reads anything else.
 *
 * Regions grow and never shrink: what is freed is used again by the same index. Small ones are growable buffers. Those of a
 * large index are buffers as long as they may ever be, of which more and more is opened: memory that was never touched is
 * only address space, and a buffer that does not grow comes from the C library's allocator, which asks the kernel for huge
 * pages where it is told to (`start.js`). Random reads of millions of facts spend a third of their time on looking up
 * small pages.
 */
import type { IndexHandle } from '#engine/index-handle.ts'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import * as L from './layout.ts'
import { isRetired } from './sequence.ts'

/** What is in a handle. */
interface RegionBuffers {
  readonly header: SharedArrayBuffer
  readonly graph: SharedArrayBuffer
  readonly closures: SharedArrayBuffer
  readonly schema: SharedArrayBuffer
  /** The compiled schema is in one of the two, which `H_SCHEMA_IN` tells; the next one is written into the other. */
  readonly otherSchema: SharedArrayBuffer
}

/** A handle as the engine sees it. */
export type SharedIndexHandle = IndexHandle & RegionBuffers

/** A region as it is kept: of the schema there is one. */
export type RegionName = 'header' | 'graph' | 'closures' | 'schema'

/** How many bytes of each region count. */
export type RegionBytes = Readonly<Record<RegionName, number>>

/** Where a compiled schema stands in its buffer, in words. */
export interface SchemaLocation {
  readonly head: number
  /** All of it; the head ends with it. */
  readonly words: number
}

/** Sizes, in bytes, of the regions that grow with what is in an environment; for tests, which reach small ones sooner. */
export interface RegionSizes {
  readonly closureBytesMax?: number | undefined
  readonly graphBytesMax?: number | undefined
  /** A graph from that size on gets all its address space at once. */
  readonly largeGraphBytes?: number | undefined
}

/** The secrets of the key hash. Drawn at random per index; a test may choose a multiplier of 0, and all keys collide. */
export interface HashSecrets {
  readonly start: number
  readonly multiplier: number
}

/** Address space, not memory: a region takes what it has grown to. 2^26 lines of 64 bytes. */
const GRAPH_BYTES_MAX = 2 ** 32
const CLOSURE_BYTES_MAX = 2 ** 31
const SCHEMA_BYTES_MAX = 2 ** 28
const GRAPH_BYTES_MIN = 1 << 15
const CLOSURE_BYTES_MIN = 1 << 13
const SCHEMA_BYTES_MIN = 1 << 12
const GROWTH_BYTES_MIN = 1 << 16
const PAGE_WORDS = 1_024
/** Two huge pages of closures: those that are built between two commits hardly ever take more. */
export const CLOSURE_WORDS_AHEAD = 1 << 20
/** What the C library notes about memory before it begins: the rest of its page is ours. */
const ALLOCATION_NOTE_BYTES = 16
/** So that lines are lines of the cache: where they were not, bulks took a sixth more. */
const LARGE_FIRST_LINE_AT = L.LINE_WORDS * L.WORD_BYTES - ALLOCATION_NOTE_BYTES
/** Less than a huge page of its address space is left over. */
export const LARGE_GRAPH_BYTES = 2 ** 24

export class Regions {
  #handle: SharedIndexHandle
  readonly header: Int32Array
  graph: Int32Array
  closures: Int32Array
  /** The writer's: descriptors of large slabs that are mostly empty, with their width (`replacements.ts`). */
  readonly sparse = new Map<number, 0 | 1>()
  #epoch: number
  /** The writer's: up to these words, or the tops where those are higher, pages have come into being. */
  #graphPrefaulted = 0
  #closuresTouched = 0
  /** The system gives no such address space. */
  #isMoveRefused = false
  readonly #largeGraphBytes: number

  private constructor(handle: SharedIndexHandle, largeGraphBytes = LARGE_GRAPH_BYTES) {
    this.#handle = handle
    this.#largeGraphBytes = largeGraphBytes
    this.header = new Int32Array(handle.header)
    // Acquire: the lengths read next are at least those the epoch was published with.
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
      largeGraphBytes,
    }: RegionSizes = {},
  ): Regions {
    const handle = handleOf({
      header: new SharedArrayBuffer(L.HEADER_WORDS * L.WORD_BYTES),
      graph: new SharedArrayBuffer(GRAPH_BYTES_MIN, { maxByteLength: graphBytesMax }),
      closures: new SharedArrayBuffer(CLOSURE_BYTES_MIN, { maxByteLength: closureBytesMax }),
      schema: new SharedArrayBuffer(SCHEMA_BYTES_MIN, { maxByteLength: SCHEMA_BYTES_MAX }),
      otherSchema: new SharedArrayBuffer(SCHEMA_BYTES_MIN, { maxByteLength: SCHEMA_BYTES_MAX }),
    })
    const sizes = new Int32Array(handle.header)
    sizes[L.H_GRAPH_WORDS] = GRAPH_BYTES_MIN / L.WORD_BYTES
    sizes[L.H_CLOSURE_WORDS] = CLOSURE_BYTES_MIN / L.WORD_BYTES
    const regions = new Regions(handle, largeGraphBytes)
    const { header } = regions
    header[L.H_VERSION] = L.LAYOUT_VERSION
    header[L.H_HASH_START] = secrets.start
    header[L.H_HASH_MULTIPLIER] = secrets.multiplier
    // Line 0 stays unused: 0 is "none".
    header[L.H_GRAPH_TOP] = L.LINE_WORDS
    header[L.H_CLOSURE_TOP] = L.LINE_WORDS
    // Release: whoever sees the magic sees the header.
    Atomics.store(header, L.H_MAGIC, L.MAGIC)
    return regions
  }

  /** Empty regions, for what was kept of an index that had so many bytes in each, and has to be read into them. */
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
    })
  }

  /** The regions of what was read into such a handle. Little more is open than was in use: nothing is there beyond it. */
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
    assert(header[L.H_VERSION] === L.LAYOUT_VERSION, 'reader and writer agree on the layout')
    return new Regions(handle)
  }

  /**
   * To be called while nobody else has the handle, and no view is in use: gives a graph that has become large all its address
   * space, and moves it there. Stays as it is where the system does not give that much.
   */
  moveIfLarge(): void {
    const { handle } = this
    const isLarge = handle.graph.byteLength >= this.#largeGraphBytes
    if (!isLarge || !handle.graph.growable || this.#isMoveRefused) return
    const large = largeBuffers(handle.closures.maxByteLength, handle.graph.maxByteLength)
    // Asked once: a refusal costs several full collections.
    this.#isMoveRefused = large === null
    if (large === null) return
    this.#handle = { ...handle, ...large }
    const { graph, closures } = this
    this.#view()
    this.graph.set(graph)
    this.closures.set(closures)
  }

  /**
   * Makes new views if a region has grown. To be called after the sequence was read, before any data is. Throws
   * `ENVIRONMENT_CLOSED` when the index was retired.
   */
  refresh(): void {
    // Acquire: pairs with the additions in `#open` and `retire`.
    const epoch = Atomics.load(this.header, L.H_LAYOUT_EPOCH)
    if (epoch === this.#epoch) return
    // Not noted, so that the next one looks again.
    if (isRetired(this.header)) throw indexRetired()
    this.#epoch = epoch
    this.#view()
  }

  /**
   * Lock held. Grows the graph by an eighth, at least to `words`. Touches nothing: see `touchAhead`. Throws `LIMIT_EXCEEDED` beyond
   * what there may be of it.
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

  /** Words there may be of the graph. */
  get graphWordsMax(): number {
    const { graph } = this.handle
    return (graph.maxByteLength - firstLineAt(graph)) / L.WORD_BYTES
  }

  /**
   * Lock held, inside a section or followed by one before a block in the new part is published: a reader that began
   * before would look for it beyond the end of its view.
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
   * Has the pages come into being that so many words more of the graph will lie in, and those of the closures that come
   * next. That is done when they are first written, of a huge page in 5 to 7 ms where the hypervisor has to find it
   * first: better spent where nobody waits. What a load opened beyond its own end has never been written either. For
   * the writer, no lock needed: somebody may have been given a block there.
   */
  prefault(graphWords: number): void {
    const top = this.header[L.H_GRAPH_TOP]!
    const end = Math.min(top + graphWords, this.graph.length)
    this.#graphPrefaulted = touch(this.graph, Math.max(top, this.#graphPrefaulted), end)
    this.#prefaultClosures()
  }

  /** Builders append in other threads. Pages of a growable buffer are small, and come into being in no time. */
  #prefaultClosures(): void {
    const { closures } = this.handle
    const top = this.header[L.H_CLOSURE_TOP]!
    if (closures.growable || this.#closuresTouched - top > CLOSURE_WORDS_AHEAD / 2) return
    // Beyond what is open: they open more by themselves.
    const all = wordsOf(closures, this.closureWordsMax())
    const end = Math.min(top + CLOSURE_WORDS_AHEAD, all.length)
    this.#closuresTouched = touch(all, Math.max(top, this.#closuresTouched), end)
  }

  /** The buffer that the next schema is to be written into, of so many words. Nobody reads it. Throws `LIMIT_EXCEEDED`. */
  spareSchema(words: number): Int32Array {
    const bytes = words * L.WORD_BYTES
    const buffer = this.#schemaBuffer(1)
    if (bytes > SCHEMA_BYTES_MAX) throw schemaTooLarge(bytes)
    if (bytes > buffer.byteLength) buffer.grow(grownBytes(buffer.byteLength, words, SCHEMA_BYTES_MAX, 2))
    return new Int32Array(buffer, 0, words)
  }

  /** Lock held, in a section. The schema that has been written there is the one that stands. */
  publishSchema({ head, words }: SchemaLocation): void {
    const { header } = this
    header[L.H_SCHEMA_IN] = header[L.H_SCHEMA_IN]! ^ 1
    header[L.H_SCHEMA_BYTES] = words * L.WORD_BYTES
    header[L.H_SCHEMA_HEAD] = head
    // Release: who sees the version after reading sees that what was read may be another's (`isSchemaVersion`).
    Atomics.store(header, L.H_SCHEMA_VERSION, (header[L.H_SCHEMA_VERSION]! + 1) | 0)
  }

  /** The schema that stands, in place. It stays as it is as long as its version does. */
  currentSchema(): Int32Array {
    const buffer = this.#schemaBuffer(0)
    const bytes = Math.min(Math.max(this.header[L.H_SCHEMA_BYTES]!, 0), buffer.byteLength)
    return new Int32Array(buffer, 0, bytes / L.WORD_BYTES)
  }

  /** Whether the schema is that version still, so that all read of it before is of that version. */
  isSchemaVersion(version: number): boolean {
    // Acquire does not keep earlier plain loads before it; on x86 the hardware does, elsewhere readers hold the lock.
    return Atomics.load(this.header, L.H_SCHEMA_VERSION) === version
  }

  #schemaBuffer(other: 0 | 1): SharedArrayBuffer {
    const { schema, otherSchema } = this.handle
    return (this.header[L.H_SCHEMA_IN]! ^ other) === 0 ? schema : otherSchema
  }

  /** Bytes of all regions, as far as they are open. */
  bytes(): { header: number; graph: number; closures: number; schema: number; total: number } {
    const header = this.handle.header.byteLength
    const graph = this.graph.byteLength
    const closures = this.closures.byteLength
    const schema = this.handle.schema.byteLength + this.handle.otherSchema.byteLength
    return { header, graph, closures, schema, total: header + graph + closures + schema }
  }

  #open(buffer: SharedArrayBuffer, words: number, bytes: number): void {
    // It may have grown already, by a thread that ended before it could say so.
    if (buffer.growable && bytes > buffer.byteLength) buffer.grow(bytes)
    this.header[words] = bytes / L.WORD_BYTES
    // Release: who sees the new epoch sees the new lengths.
    this.#epoch = Atomics.add(this.header, L.H_LAYOUT_EPOCH, 1) + 1
    this.#view()
  }

  #view(): void {
    this.graph = wordsOf(this.handle.graph, this.header[L.H_GRAPH_WORDS]!)
    this.closures = wordsOf(this.handle.closures, this.header[L.H_CLOSURE_WORDS]!)
  }
}

function indexRetired(): AuthzError {
  return new AuthzError('ENVIRONMENT_CLOSED', 'this environment cannot be decided on just now')
}

function schemaTooLarge(bytes: number): AuthzError {
  return new AuthzError(
    'LIMIT_EXCEEDED',
    `the compiled schema takes ${bytes} bytes, of ${SCHEMA_BYTES_MAX} at most`,
  )
}

function handleOf(buffers: RegionBuffers): SharedIndexHandle {
  return buffers as SharedIndexHandle
}

/** What is in a handle that others have passed on. */
export function opened(handle: IndexHandle): SharedIndexHandle {
  return handle as SharedIndexHandle
}

/** Null where the system gives no such address space: a small machine, or one that promises only what it has. */
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

/** Where the lines of a graph, or of closures, begin in their buffer, in bytes. Those that grow begin on a page by themselves. */
export function firstLineAt(buffer: SharedArrayBuffer): number {
  return buffer.growable ? 0 : LARGE_FIRST_LINE_AT
}

function wordsOf(buffer: SharedArrayBuffer, words: number): Int32Array {
  return new Int32Array(buffer, firstLineAt(buffer), words)
}

/** What is opened of a region for so many bytes. */
function openBytes(bytes: number): number {
  return Math.ceil(Math.max(bytes, 1) / GRAPH_BYTES_MIN) * GRAPH_BYTES_MIN
}

/** The same of the graph, with what is open behind its top. */
function openGraphBytes(bytes: number): number {
  return openBytes(bytes + L.OPEN_BEHIND_TOP * L.WORD_BYTES)
}

function grownBytes(now: number, wordsNeeded: number, max: number, fraction: number): number {
  const step = Math.max(GROWTH_BYTES_MIN, Math.ceil(now / fraction))
  const wanted = Math.max(now + step, wordsNeeded * L.WORD_BYTES)
  return Math.min(max, Math.ceil(wanted / GROWTH_BYTES_MIN) * GROWTH_BYTES_MIN)
}

/** Has these pages come into being, where they have not, and changes nothing; returns where it got to. */
function touch(words: Int32Array, from: number, to: number): number {
  for (let word = from; word < to; word += PAGE_WORDS) Atomics.or(words, word, 0)
  if (to > from) Atomics.or(words, to - 1, 0)
  return Math.max(from, to)
}
