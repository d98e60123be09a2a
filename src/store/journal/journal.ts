/**
 * The journal (write-ahead log) of one store's tables: all writes since the last checkpoint. The journal has
 * two segments, which are files that are used alternately. Records are appended to the current segment. In
 * the meantime, a checkpoint writes the content of the other segment to the tables.
 *
 * Records that arrive while the disk is busy are written together (group commit). A record is acknowledged
 * when this record and all earlier ones are on disk. If the disk rejects a write to allocated space, the
 * outcome of this write is unknown. Callers then receive an error, no more records are accepted, and the same
 * bytes are written again until the disk accepts them.
 */
import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { assert } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { LINEAGE_BYTES, SEGMENT_HEAD_BYTES } from './journal-format.ts'
import { Memtable } from './memtable.ts'
import type { SegmentFile } from './segment-file.ts'

/**
 * Maximum length of a segment. A record that would exceed it goes into the next segment, unless it is the
 * first one.
 */
const SEGMENT_BYTES_MAX = 4 * 1024 * 1024
const RETRY_MS = 500

interface Segment {
  readonly file: SegmentFile
  readonly memtable: Memtable
}

/** Records that are written together. */
interface RecordBatch {
  readonly segment: Segment
  readonly start: number
  end: number
  readonly written: PromiseWithResolvers<void>
}

export class Journal {
  /**
   * Random id of this journal, stored in its segments and in the tables. Segments with another id belong to
   * another journal or to other tables.
   */
  readonly lineage: Uint8Array = randomBytes(LINEAGE_BYTES)
  readonly #files: readonly [SegmentFile, SegmentFile]
  readonly #tableNames: readonly string[]
  #segment: Segment
  /** The batch that accepts further records; null if no record has arrived since the last batch started. */
  #open: RecordBatch | null = null
  readonly #batches: RecordBatch[] = []
  #isWriting = false
  #last: Promise<void> = Promise.resolve()
  #failure: AuthzError | null = null
  #isClosed = false

  /** `tableNames` contains the names of tables by their numbers, and can grow. */
  constructor(files: readonly [SegmentFile, SegmentFile], tableNames: readonly string[]) {
    this.#files = files
    this.#tableNames = tableNames
    this.#segment = this.#begin(1, 0)
  }

  /** Content of the current segment. Records are written to it and then appended. */
  get memtable(): Memtable {
    return this.#segment.memtable
  }

  /**
   * Whether the next record begins a batch. Such a record is written after all earlier records are on disk.
   */
  get beginsBatch(): boolean {
    return this.#open === null
  }

  /** Reason why no records are accepted at the moment; null if they are accepted. */
  get failure(): AuthzError | null {
    return this.#failure
  }

  /** Whether the current segment can grow to `end` bytes with a last record that begins at `start`. */
  mayTake(start: number, end: number): boolean {
    return end <= SEGMENT_BYTES_MAX || start === SEGMENT_HEAD_BYTES
  }

  /** Whether the file of the current segment has at least this number of allocated bytes. */
  hasCapacity(bytes: number): boolean {
    return bytes <= this.#segment.file.allocatedBytes
  }

  /** Extends the file of the current segment to this length. Throws the error of the disk. */
  async makeRoom(bytes: number): Promise<void> {
    await this.#segment.file.makeRoom(bytes)
  }

  /**
   * Appends the last record of the memtable, which begins at `start`; the file must have space for it.
   * Resolves when the record is on disk. Rejects with `STORE_UNAVAILABLE` if it is not known whether the
   * record is on disk.
   */
  append(start: number): Promise<void> {
    const segment = this.#segment
    const end = segment.memtable.endBytes
    assert(this.hasCapacity(end), 'a record fits into its segment')
    if (this.#open === null) {
      const written = Promise.withResolvers<void>()
      written.promise.catch(() => undefined)
      // The first record is written together with the head of the segment.
      this.#open = { segment, start: start === SEGMENT_HEAD_BYTES ? 0 : start, end, written }
      this.#batches.push(this.#open)
      this.#last = written.promise
    }
    this.#open.end = end
    if (!this.#isWriting) void this.#writeAll()
    return this.#open.written.promise
  }

  /** Resolves when all records so far are on disk. Rejects like `append`. */
  async flushed(): Promise<void> {
    if (this.#batches.length > 0) await this.#last
  }

  /** Directs further records to the other segment, whose content is no longer needed. */
  rotate(): void {
    this.#open = null
    const { generation, endBytes } = this.#segment.memtable
    this.#segment = this.#begin(generation + 1, endBytes)
  }

  /**
   * Rewrites the file of the previous segment if its content differs from `memtable`. Must be called only
   * after the whole segment was on disk.
   */
  async mend(memtable: Memtable): Promise<void> {
    await this.#files[memtable.generation % 2]!.mend(memtable.bytes(0, memtable.endBytes))
  }

  /**
   * Stops writing. Records that are on disk stay there. Callers that wait for other records receive an error
   * that states an unknown outcome.
   */
  async close(): Promise<void> {
    await this.flushed().catch(() => undefined)
    this.#isClosed = true
    for (const { written } of this.#batches) written.reject(this.#failure)
    for (const file of this.#files) await file.close()
  }

  /** Removes the files. Their content is no longer needed because all of it is in the tables. */
  async remove(): Promise<void> {
    for (const file of this.#files) await file.remove()
  }

  #begin(generation: number, previousEndBytes: number): Segment {
    const { lineage } = this
    const memtable = new Memtable({ generation, lineage, previousEndBytes, tableNames: this.#tableNames })
    return { file: this.#files[generation % 2]!, memtable }
  }

  /** Writes one batch after the other. Records that arrive in the meantime form the next batch. */
  async #writeAll(): Promise<void> {
    this.#isWriting = true
    // Waits for the end of the current task, so that the batch includes all records that this task appends.
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
          'the disk of the data directory rejected a write. It is not known whether the write was made. The write is retried',
          { cause },
        )
        // Later records are not acknowledged either.
        for (const each of this.#batches) each.written.reject(this.#failure)
        await pause(RETRY_MS, undefined, { ref: false })
        if (this.#isClosed) return
      }
    }
    this.#isWriting = false
  }
}
