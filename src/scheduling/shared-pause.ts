/**
 * Longest time for which a pool thread processed no other job, in shared memory. The thread notes its pauses,
 * and the thread that owns the pool reads and resets the longest one.
 */
export class SharedPause {
  /** Contains microseconds. */
  readonly cell: Int32Array<ArrayBufferLike>

  constructor(
    cell: Int32Array<ArrayBufferLike> = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)),
  ) {
    this.cell = cell
  }

  readonly note = (ms: number): void => {
    const pause = Math.round(ms * 1_000)
    for (let longest = Atomics.load(this.cell, 0); pause > longest; longest = Atomics.load(this.cell, 0))
      Atomics.compareExchange(this.cell, 0, longest, pause)
  }

  takeMs(): number {
    return Atomics.exchange(this.cell, 0, 0) / 1_000
  }

  /** Runs `work` and notes its time. */
  during<Result>(work: () => Result): Result {
    const from = performance.now()
    try {
      return work()
    } finally {
      this.note(performance.now() - from)
    }
  }
}

/** Part of the `workerData` of a pool thread. */
export interface PauseData {
  readonly pauseCell: Int32Array
}
