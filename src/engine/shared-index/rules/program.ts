/**
 * Manages the words of the compiled rules, which are modified in place. They consist of blocks, each preceded
 * by a word with its size class, and of rows of numbers. A freed block is reused for the next block of its
 * class. Only the writer uses this module; readers copy all words.
 */
const WORDS_MIN = 64
/**
 * Each size class up to this one contains blocks whose number of words equals the number of the class. In the
 * larger classes, the size doubles every eight classes.
 */
const EXACT_CLASSES = 16
/** Number of freed words that are acceptable in a program of any size. */
const SPARE_WORDS = 1 << 14

export class Program {
  words = new Int32Array(WORDS_MIN)
  /** The first word is not used, because position 0 means that a block does not exist. */
  #length = 1
  #freed = 0
  #freedAtFirst = 0
  readonly #free: number[][] = []

  /** Returns all words up to the end of the last block. */
  get used(): Int32Array {
    return this.words.subarray(0, this.#length)
  }

  /**
   * Returns whether a newly created program would be at least a third smaller, because of words that were
   * freed since `settle` and not reused.
   */
  get isWasteful(): boolean {
    return this.#freed - this.#freedAtFirst > Math.max(SPARE_WORDS, this.#length / 3)
  }

  /**
   * Call it after a new program has been filled. Filling also frees words; these are not counted as waste.
   */
  settle(): void {
    this.#freedAtFirst = this.#freed
  }

  /**
   * Allocates a block of at least this many words and returns its position. The content of the words is
   * undefined.
   */
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

  /** Frees a block. Does nothing if the position is 0. */
  free(at: number): void {
    if (at === 0) return
    const size = this.words[at - 1]!
    ;(this.#free[size] ??= []).push(at)
    this.#freed += capacityOf(size) + 1
  }

  /** Allocates a block with these words and returns its position. */
  add(words: ArrayLike<number>): number {
    const at = this.alloc(words.length)
    this.words.set(words, at)
    return at
  }

  /**
   * Returns a block with capacity for `wanted` words. If the given block is too small, returns a larger one
   * that contains a copy of its first `length` words, and frees the given block. If `at` is 0, there is no
   * block yet, and the new one has exactly that capacity.
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

  /** Sets an element. If the index is beyond the end, the elements in between are set to 0. */
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
