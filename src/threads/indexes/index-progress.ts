/**
 * How far an index is: the epoch of its history, and the sequence of the newest commit in it. The sequence is in a shared
 * cell: the main thread writes it, the threads that decide read it and wait on it.
 */
import { formatRevision, type Revision } from '#model/revision.ts'

/** The form in which the main thread hands it to the threads. */
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

/** Publishes that the index has the commit. Called after the commit is in the index. */
export function publishProgress({ cell }: ProgressHandle, sequence: number): void {
  // Release: whoever reads the new sequence finds the commit in the index.
  Atomics.store(cell, SEQUENCE, BigInt(sequence))
  Atomics.notify(cell, SEQUENCE)
}

/** The sequence of the newest commit in the index. */
export function publishedSequence({ cell }: ProgressHandle): number {
  return Number(Atomics.load(cell, SEQUENCE))
}

/** The revision that an index is at. */
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
    // Acquire: the thread then sees what was in the index before the sequence was published.
    return publishedSequence(this.#handle) >= sequence
  }

  /** Resolves to whether the index has, or reaches in time, that sequence. Every waiter is woken at every commit. */
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
