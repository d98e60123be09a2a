/**
 * Sorts rows by creation order with bounded memory (external merge sort): rows arrive in any order, are
 * sorted in memory in runs, stored in files, and merged. The memory does not grow with the number of rows.
 *
 *     DIRECTORY/<number>    ([created f64][length u32][stored row])…, ascending
 */
import { closeSync, mkdirSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { assert } from '#model/assert.ts'
import { PackedItems } from '#store/keyspace/packed-items.ts'
import { decodeRow, encodeRow } from '#store/keyspace/row-codec.ts'
import type { Row } from '#store/ledger.ts'

const RUN_BYTES_MAX = 32 * 1_024 * 1_024
/** Number of bytes that are read from a run or written to it at a time. */
const PIECE_BYTES = 256 * 1_024
const LENGTH_AT = 8
const HEAD_BYTES = 12

/**
 * A row in the form in which the view stores it (`row-codec.ts`). The bytes are valid until the next row is
 * requested.
 */
export interface StoredRow {
  readonly created: number
  readonly bytes: Uint8Array
}

export class RowRuns {
  readonly #directory: string
  readonly #runBytesMax: number
  #run = new PackedItems()
  #runBytes = 0
  #runs = 0
  #count = 0

  /**
   * `directory` is created when it is needed, and must not be used for anything else. `runBytesMax` limits
   * the bytes of rows in a run. Sorting a run takes twice this amount of memory.
   */
  constructor(directory: string, runBytesMax = RUN_BYTES_MAX) {
    this.#directory = directory
    this.#runBytesMax = runBytesMax
  }

  /** Number of rows that were added, including repeated ones. */
  get count(): number {
    return this.#count
  }

  add(row: Row): void {
    const bytes = encodeRow(row)
    this.#run.add({ bytes, keyStart: 0, keyEnd: 0, rank: row.created })
    this.#runBytes += bytes.length
    this.#count += 1
    if (this.#runBytes >= this.#runBytesMax) this.#endRun()
  }

  /**
   * Yields each row once. If several versions of a row were added, yields only the newest. Call this method
   * once, after all rows were added; it removes the files. O(rows × runs), and there are few runs.
   */
  *inOrder(): Iterable<StoredRow> {
    this.#endRun()
    const last = { created: -1, bytes: new Uint8Array() }
    for (const row of this.#merged()) {
      const isNext = row.created !== last.created
      if (isNext && last.created >= 0) yield last
      if (!isNext && versionOf(last) >= versionOf(row)) continue
      last.created = row.created
      last.bytes = Uint8Array.from(row.bytes)
    }
    if (last.created >= 0) yield last
  }

  /** Yields the rows of all runs. The bytes of a row are valid until the next row is requested. */
  *#merged(): Iterable<StoredRow> {
    const runs = Array.from({ length: this.#runs }, (_, number) => new RunReader(this.#path(number)))
    try {
      const open = runs.filter(run => run.next())
      while (open.length > 0) {
        let first = open[0]!
        for (const run of open) if (run.created < first.created) first = run
        yield first
        if (!first.next()) open.splice(open.indexOf(first), 1)
      }
    } finally {
      for (const run of runs) run.close()
      rmSync(this.#directory, { recursive: true, force: true })
    }
  }

  #endRun(): void {
    const run = this.#run
    if (run.count === 0) return
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
    const file = openSync(this.#path(this.#runs++), 'w', 0o600)
    try {
      let piece = Buffer.allocUnsafe(PIECE_BYTES)
      let used = 0
      for (const index of run.byRank()) {
        const bytes = run.bytes(index)
        const end = used + HEAD_BYTES + bytes.length
        if (end > piece.length) {
          writeSync(file, piece, 0, used)
          used = 0
          if (HEAD_BYTES + bytes.length > piece.length) piece = Buffer.allocUnsafe(HEAD_BYTES + bytes.length)
        }
        piece.writeDoubleLE(run.rank(index), used)
        piece.writeUInt32LE(bytes.length, used + LENGTH_AT)
        piece.set(bytes, used + HEAD_BYTES)
        used += HEAD_BYTES + bytes.length
      }
      writeSync(file, piece, 0, used)
    } finally {
      closeSync(file)
    }
    this.#run = new PackedItems()
    this.#runBytes = 0
  }

  #path(number: number): string {
    return join(this.#directory, String(number))
  }
}

/** Reads one run, row by row. */
class RunReader implements StoredRow {
  created = 0
  bytes: Uint8Array = new Uint8Array()
  readonly #file: number
  #piece = Buffer.allocUnsafe(PIECE_BYTES)
  /** Offset in the buffer. The bytes before it have already been returned. */
  #from = 0
  #to = 0

  constructor(path: string) {
    this.#file = openSync(path, 'r')
  }

  /** Advances to the next row; returns false at the end. */
  next(): boolean {
    if (!this.#has(HEAD_BYTES)) return false
    const length = this.#piece.readUInt32LE(this.#from + LENGTH_AT)
    assert(this.#has(HEAD_BYTES + length), 'a run ends after a row')
    this.created = this.#piece.readDoubleLE(this.#from)
    const start = this.#from + HEAD_BYTES
    this.bytes = this.#piece.subarray(start, start + length)
    this.#from = start + length
    return true
  }

  close(): void {
    closeSync(this.#file)
  }

  /** Returns whether the file contains this number of further bytes. If so, loads them into the buffer. */
  #has(bytes: number): boolean {
    if (this.#to - this.#from >= bytes) return true
    const rest = this.#piece.subarray(this.#from, this.#to)
    const piece = bytes > this.#piece.length ? Buffer.allocUnsafe(bytes) : this.#piece
    piece.set(rest)
    this.#piece = piece
    this.#from = 0
    this.#to = rest.length
    while (this.#to < bytes) {
      const read = readSync(this.#file, piece, this.#to, piece.length - this.#to, null)
      if (read === 0) return false
      this.#to += read
    }
    return true
  }
}

function versionOf({ created, bytes }: StoredRow): number {
  return decodeRow(created, bytes).version
}
