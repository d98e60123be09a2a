/**
 * Manages the words of the compiled rules, which are modified in place: blocks, each preceded by a word with
 * its size class, and rows of numbers. A freed block is reused by a block of its class. Used only by the
 * writer; readers copy all of it.
 */
const WORDS_MIN = 64
/**
 * Size classes up to this one have as many words as their number. Above it, the size doubles every eight
 * classes.
 */
const EXACT_CLASSES = 16
/** Number of freed words that any program can keep. */
const SPARE_WORDS = 1 << 14

export class Program {
  words = new Int32Array(WORDS_MIN)
  /** Position 0 means absent, so no block begins there. */
  #length = 1
  #freed = 0
  #freedAtFirst = 0
  readonly #free: number[][] = []

  /** Returns the words up to the end of the last block. */
  get used(): Int32Array {
    return this.words.subarray(0, this.#length)
  }

  /**
   * Returns whether so many words were freed since `settle`, and not reused, that a new program would be a
   * third smaller.
   */
  get isWasteful(): boolean {
    return this.#freed - this.#freedAtFirst > Math.max(SPARE_WORDS, this.#length / 3)
  }

  /** Call it when a new program has been filled, because filling frees words. */
  settle(): void {
    this.#freedAtFirst = this.#freed
  }

  /** Returns the position of a block of at least this many words. Their content is undefined. */
  alloc(words: number): number {
    const size = classOf(words)
    const capacity = capacityOf(size)
    const free = this.#free[size]?.pop()
    if (free !== undefined) {
      this.#freed -= capacity + 1
      return free
    }
    const at = this.#length + 1
    this.#length += capacity + 1
    if (this.#length > this.words.length) this.words = grown(this.words, this.#length)
    this.words[at - 1] = size
    return at
  }

  /** Does nothing for 0. */
  free(at: number): void {
    if (at === 0) return
    const size = this.words[at - 1]!
    ;(this.#free[size] ??= []).push(at)
    this.#freed += capacityOf(size) + 1
  }

  /** Allocates a block with these words. */
  add(words: ArrayLike<number>): number {
    const at = this.alloc(words.length)
    this.words.set(words, at)
    return at
  }

  /**
   * Returns a block with capacity for this many words: the same block, or a larger one with a copy of its
   * first words, in which case the old one is freed. 0: no block yet, and the new one has exactly that
   * capacity.
   */
  extended(at: number, length: number, wanted: number): number {
    if (at !== 0 && capacityOf(this.words[at - 1]!) >= wanted) return at
    const larger = this.alloc(at === 0 ? wanted : wanted + (wanted >>> 1))
    this.words.copyWithin(larger, at, at + length)
    this.free(at)
    return larger
  }
}

/** A growable array of numbers. */
export class ProgramRow {
  #words = new Int32Array(WORDS_MIN)
  length = 0

  get used(): Int32Array {
    return this.#words.subarray(0, this.length)
  }

  get(index: number): number {
    return this.#words[index]!
  }

  /** Elements in between are set to 0. */
  set(index: number, word: number): void {
    this.length = Math.max(this.length, index + 1)
    if (this.length > this.#words.length) this.#words = grown(this.#words, this.length)
    this.#words[index] = word
  }
}

function grown(words: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(Math.max(length, 2 * words.length))
  larger.set(words)
  return larger
}

function classOf(words: number): number {
  if (words < EXACT_CLASSES) return words
  const shift = 28 - Math.clz32(words)
  const eighths = Math.ceil(words / 2 ** shift)
  return 8 * shift + eighths
}

function capacityOf(size: number): number {
  if (size < EXACT_CLASSES) return size
  return (8 + (size & 7)) << ((size - 8) >>> 3)
}
