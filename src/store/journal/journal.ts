/**
 * The journal of one store's tables: what was written since the tables on disk were last brought level. Two segments, files that
 * are used in turns. Records go into the present one; what is in the other is being written into the tables (a checkpoint).
 *
 * Records that come while the disk is busy are written together (group commit). A record is answered when it and all before it
 * are on disk. When the disk refuses a write that had room, nobody can say what is there: callers are told so, nothing more is taken,
 * and the same bytes are written again until that succeeds.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { LINEAGE_BYTES, SEGMENT_HEAD_BYTES } from './journal-format.ts'
import { Memtable } from './memtable.ts'
import type { SegmentFile } from './segment-file.ts'

/** A segment takes a record that would make it longer than that only if it is the first: the next segment takes it. */
const SEGMENT_BYTES_MAX = 4 * 1024 * 1024
const RETRY_MS = 500

interface Segment {
  readonly file: SegmentFile
  readonly memtable: Memtable
}

/** Records that are written at once. */
interface Batch {
  readonly segment: Segment
  readonly start: number
  end: number
  readonly written: PromiseWithResolvers<void>
}

export class Journal {
  /** Stands in the segments and in the tables: segments of another run, or of other tables, are none of these tables'. */
  readonly lineage: Uint8Array = randomBytes(LINEAGE_BYTES)
  readonly #files: readonly [SegmentFile, SegmentFile]
  readonly #tableNames: readonly string[]
  #segment: Segment
  /** The batch that takes further records; null: none has come since the last was begun. */
  #open: Batch | null = null
  readonly #batches: Batch[] = []
  #isWriting = false
  #last: Promise<void> = Promise.resolve()
  #failure: AuthzError | null = null
  #isClosed = false

  /** `tableNames` has the names of tables by their numbers, and may grow. */
  constructor(files: readonly [SegmentFile, SegmentFile], tableNames: readonly string[]) {
    this.#files = files
    this.#tableNames = tableNames
    this.#segment = this.#begin(1, 0)
  }

  /** What is in the present segment. Records are written into it, and then appended. */
  get memtable(): Memtable {
    return this.#segment.memtable
  }

  /** Whether the next record begins a batch: it is written after all records before it are on disk. */
  get beginsBatch(): boolean {
    return this.#open === null
  }

  /** Why nothing is taken at present; null: something is. */
  get failure(): AuthzError | null {
    return this.#failure
  }

  /** Whether the present segment may have so many bytes, the last of them those of a record from `start` on. */
  mayTake(start: number, end: number): boolean {
    return end <= SEGMENT_BYTES_MAX || start === SEGMENT_HEAD_BYTES
  }

  /** Whether the file of the present segment has so many bytes. */
  hasRoom(bytes: number): boolean {
    return bytes <= this.#segment.file.roomBytes
  }

  /** Makes the file of the present segment so long. Throws what the disk says. */
  async makeRoom(bytes: number): Promise<void> {
    await this.#segment.file.makeRoom(bytes)
  }

  /**
   * Takes the record that begins at `start` in the memtable and is its last; the file has room for it. Resolves when it is on
   * disk. Throws `STORE_UNAVAILABLE` when that is not known.
   */
  append(start: number): Promise<void> {
    const segment = this.#segment
    const end = segment.memtable.endBytes
    assert(this.hasRoom(end), 'a record is appended where there is room for it')
    if (this.#open === null) {
      const written = Promise.withResolvers<void>()
      written.promise.catch(() => undefined)
      // The first record brings the head of the segment along.
      this.#open = { segment, start: start === SEGMENT_HEAD_BYTES ? 0 : start, end, written }
      this.#batches.push(this.#open)
      this.#last = written.promise
    }
    this.#open.end = end
    if (!this.#isWriting) void this.#writeAll()
    return this.#open.written.promise
  }

  /** Resolves when all records so far are on disk. Rejects as `append`. */
  async flushed(): Promise<void> {
    if (this.#batches.length > 0) await this.#last
  }

  /** Lets further records go into the other segment, of which nothing is needed any more. */
  rotate(): void {
    this.#open = null
    const { generation, endBytes } = this.#segment.memtable
    this.#segment = this.#begin(generation + 1, endBytes)
  }

  /** Mends the segment before the present one if it is not what was written to it. All of it was on disk. */
  async mend(memtable: Memtable): Promise<void> {
    await this.#files[memtable.generation % 2]!.mend(memtable.bytes(0, memtable.endBytes))
  }

  /** Ends the writing. What is on disk stays there, and whoever waits for more is told that it is not known. */
  async close(): Promise<void> {
    await this.flushed().catch(() => undefined)
    this.#isClosed = true
    for (const { written } of this.#batches) written.reject(this.#failure)
    for (const file of this.#files) await file.close()
  }

  /** Nothing of it is needed any more: all is in the tables. */
  async remove(): Promise<void> {
    for (const file of this.#files) await file.remove()
  }

  #begin(generation: number, previousEndBytes: number): Segment {
    const { lineage } = this
    const memtable = new Memtable({ generation, lineage, previousEndBytes, tableNames: this.#tableNames })
    return { file: this.#files[generation % 2]!, memtable }
  }

  /** Writes one batch after the other. Records that come meanwhile make the next one. */
  async #writeAll(): Promise<void> {
    this.#isWriting = true
    // What is appended in the same turn goes with it.
    await Promise.resolve()
    for (let batch = this.#batches[0]; batch !== undefined; batch = this.#batches[0]) {
      if (this.#open === batch) this.#open = null
      const { segment, start, end, written } = batch
      try {
        await segment.file.write(segment.memtable.bytes(start, end), start)
        this.#batches.shift()
        this.#failure = null
        written.resolve()
      } catch (cause) {
        this.#failure ??= new AuthzError(
          'STORE_UNAVAILABLE',
          'the disk of the data directory refused a write: whether it was made is not known yet. It is tried again',
          { cause },
        )
        // Nobody waits for records behind it either.
        for (const each of this.#batches) each.written.reject(this.#failure)
        await pause(RETRY_MS, undefined, { ref: false })
        if (this.#isClosed) return
      }
    }
    this.#isWriting = false
  }
}
