/**
 * Words of the compiled rules that change in place: blocks, each behind a word with its class, and rows of numbers. A block that is freed
 * is used again by one of its class. The writer's; readers copy all of it.
 */
const WORDS_MIN = 64
/** Classes up to this one have as many words as their number says. Above, eight classes double the words. */
const EXACT_CLASSES = 16
/** Freed words that are kept in any program. */
const SPARE_WORDS = 1 << 14

export class Program {
  words = new Int32Array(WORDS_MIN)
  /** No block begins at 0. */
  #length = 1
  #freed = 0
  #freedAtFirst = 0
  readonly #free: number[][] = []

  /** Words up to the end of the last block. */
  get used(): Int32Array {
    return this.words.subarray(0, this.#length)
  }

  /** Whether so much has been freed since `settle`, and not used again, that a new program would be a third smaller. */
  get isWasteful(): boolean {
    return this.#freed - this.#freedAtFirst > Math.max(SPARE_WORDS, this.#length / 3)
  }

  /** To be called when a new program has been filled, because filling frees words. */
  settle(): void {
    this.#freedAtFirst = this.#freed
  }

  /** The position of a block with room for at least so many words, which are anything. */
  alloc(words: number): number {
    const size = classOf(words)
    const room = roomOf(size)
    const free = this.#free[size]?.pop()
    if (free !== undefined) {
      this.#freed -= room + 1
      return free
    }
    const at = this.#length + 1
    this.#length += room + 1
    if (this.#length > this.words.length) this.words = grown(this.words, this.#length)
    this.words[at - 1] = size
    return at
  }

  /** Does nothing for 0. */
  free(at: number): void {
    if (at === 0) return
    const size = this.words[at - 1]!
    ;(this.#free[size] ??= []).push(at)
    this.#freed += roomOf(size) + 1
  }

  /** A block with these words. */
  add(words: ArrayLike<number>): number {
    const at = this.alloc(words.length)
    this.words.set(words, at)
    return at
  }

  /**
   * The block with room for so many words: itself, or a larger one with its first words, for which it is freed. 0: none yet, and it gets
   * no more room than that.
   */
  extended(at: number, length: number, wanted: number): number {
    if (at !== 0 && roomOf(this.words[at - 1]!) >= wanted) return at
    const larger = this.alloc(at === 0 ? wanted : wanted + (wanted >>> 1))
    this.words.copyWithin(larger, at, at + length)
    this.free(at)
    return larger
  }
}

/** Numbers one behind the other. */
export class Row {
  #words = new Int32Array(WORDS_MIN)
  length = 0

  get used(): Int32Array {
    return this.#words.subarray(0, this.length)
  }

  get(index: number): number {
    return this.#words[index]!
  }

  /** Those in between are 0. */
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

function roomOf(size: number): number {
  if (size < EXACT_CLASSES) return size
  return (8 + (size & 7)) << ((size - 8) >>> 3)
}
