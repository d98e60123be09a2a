/**
 * Progress of an index: its epoch and the sequence of the newest commit in it. The sequence is in a shared
 * cell. The main thread writes it, and the threads that make decisions read it and wait for it.
 */
import { formatRevision, type Revision } from '#model/revision.ts'

/** Form in which the main thread sends the progress to other threads. */
export interface ProgressHandle {
  readonly epoch: string
  readonly cell: BigInt64Array
}

const SEQUENCE = 0

/** Creates the cell of an index whose revision is `revision`. */
export function createProgress({ epoch, sequence }: Revision): ProgressHandle {
  const cell = new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT))
  cell[SEQUENCE] = BigInt(sequence)
  return { epoch, cell }
}

/** Publishes that the index contains the commit. Must be called after the commit has been applied. */
export function publishProgress({ cell }: ProgressHandle, sequence: number): void {
  // Release order: a thread that reads the new sequence finds the commit in the index.
  Atomics.store(cell, SEQUENCE, BigInt(sequence))
  Atomics.notify(cell, SEQUENCE)
}

/** Sequence of the newest commit in the index. */
export function publishedSequence({ cell }: ProgressHandle): number {
  return Number(Atomics.load(cell, SEQUENCE))
}

/** Revision of an index. */
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

  /** The revision in its wire form. */
  get revision(): string {
    return formatRevision(revisionAt(this.#handle))
  }

  /** Whether the index contains that sequence. */
  has(sequence: number): boolean {
    // Acquire order: the thread then sees everything that was in the index before the sequence was published.
    return publishedSequence(this.#handle) >= sequence
  }

  /**
   * Resolves to true if the index reaches that sequence within the time limit. Every commit wakes all
   * waiters.
   */
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
