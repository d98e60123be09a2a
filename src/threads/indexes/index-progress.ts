/**
 * How far an index is: its history's epoch, and the sequence of the newest commit in it, in one shared cell that main writes
 * and the threads that decide read and wait on.
 */
import { formatRevision, type Revision } from '#model/revision.ts'

/** What goes from main to the threads. */
export interface ProgressHandle {
  readonly epoch: string
  readonly cell: BigInt64Array
}

const SEQUENCE = 0

/** The cell of an index that is at `revision`. */
export function createProgress({ epoch, sequence }: Revision): ProgressHandle {
  const cell = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT))
  cell[SEQUENCE] = BigInt(sequence)
  return { epoch, cell }
}

/** Says that the index has that commit; called after it has. */
export function publishProgress({ cell }: ProgressHandle, sequence: number): void {
  // Release: whoever reads the new sequence finds the commit in the index.
  Atomics.store(cell, SEQUENCE, BigInt(sequence))
  Atomics.notify(cell, SEQUENCE)
}

/** Of the newest commit in the index. */
export function publishedSequence({ cell }: ProgressHandle): number {
  return Number(Atomics.load(cell, SEQUENCE))
}

/** Where an index is. */
export function revisionAt(handle: ProgressHandle): Revision {
  return { epoch: handle.epoch, sequence: publishedSequence(handle) }
}

export class IndexProgress {
  readonly #handle: ProgressHandle

  constructor(handle: ProgressHandle) {
    this.#handle = handle
  }

  get epoch(): string {
    return this.#handle.epoch
  }

  /** The revision, in its wire form. */
  get revision(): string {
    return formatRevision(revisionAt(this.#handle))
  }

  /** Whether the index has that sequence. */
  has(sequence: number): boolean {
    // Acquire: what was in the index before the sequence was published is seen.
    return publishedSequence(this.#handle) >= sequence
  }

  /** The same, or whether it comes to it in time. Everyone who waits looks at every commit. */
  async reaches(sequence: number, withinMs: number): Promise<boolean> {
    const until = performance.now() + withinMs
    for (;;) {
      const present = Atomics.load(this.#handle.cell, SEQUENCE)
      if (present >= BigInt(sequence)) return true
      const leftMs = until - performance.now()
      if (leftMs <= 0) return false
      const waiting = Atomics.waitAsync(this.#handle.cell, SEQUENCE, present, leftMs)
      if (waiting.async) await waiting.value
    }
  }
}
