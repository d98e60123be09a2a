/**
 * Orders records by the UTF-8 bytes of their keys (native.md D-46), without copying the keys.
 *
 * Sorting reads each key once. It takes the four bytes after the common prefix of all keys as a number, and
 * radix-sorts these numbers. Lines with equal numbers form a *run*. A long run is sorted in the same way by
 * its next bytes. A short run is sorted when a page needs it.
 */
import type { Key } from '#engine/shared-index/memory/key.ts'
import { bytesSwapped, compareKeys, compareWithKey } from '#engine/shared-index/memory/key-comparison.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { keyBytes, keyStart } from '#engine/shared-index/memory/records.ts'

/** Maximum length of a short run, which is sorted when a page needs it. */
const SHORT_RUN = 64
const PREFIX_BYTES = 4
const SAMPLE = 64
/** Number of records that are prefetched together (see `batch-check.ts`). */
const STAGE = 64
const RADIX_BITS = 11

export class KeyOrder {
  readonly lines: Int32Array
  /**
   * Stores a value that depends on all prefetching loads, so that the compiler does not remove the loads. The
   * value has no meaning.
   */
  prefetchSink = 0
  /** For each line, 1 if a run begins there. A run of a single line needs no sorting. */
  readonly #begins: Uint8Array

  /** Sorts the lines, in the array that was passed. O(n log n); reads each key once. */
  constructor(graph: Int32Array, lines: Int32Array) {
    this.lines = lines
    this.#begins = new Uint8Array(lines.length + 1).fill(1)
    const pending: [number, number, number][] = [[0, lines.length, 0]]
    for (let range = pending.pop(); range; range = pending.pop()) this.#sortRange(graph, range, pending)
  }

  /** Returns the number of lines whose keys are not greater than this key. O(log n). */
  countUpTo(graph: Int32Array, key: Key): number {
    let low = 0
    let high = this.lines.length
    while (low < high) {
      const middle = (low + high) >>> 1
      this.#sortRunAt(graph, middle)
      if (compareWithKey(graph, this.lines[middle]!, key) > 0) high = middle
      else low = middle + 1
    }
    return low
  }

  /** Returns the lines from `from` to `to` in key order. Sorts the short runs among them first. */
  slice(graph: Int32Array, from: number, to: number): Int32Array {
    for (let at = from; at < Math.min(to, this.lines.length); at++) this.#sortRunAt(graph, at)
    return this.lines.subarray(from, to)
  }

  /**
   * Sorts a range of lines by the next four bytes of their keys. All keys of the range agree in at least
   * their first `known` bytes. If keys also agree in the next bytes, they form a run. Long runs are added to
   * `pending`, and the caller sorts them by later bytes.
   */
  #sortRange(
    graph: Int32Array,
    [from, to, known]: [number, number, number],
    pending: [number, number, number][],
  ): void {
    const count = to - from
    // Keys that agree over the maximum length differ only in trailing zeros. Such a run is compared and
    // sorted later, like a short run.
    if (count <= SHORT_RUN || known >= L.KEY_BYTES_MAX) {
      this.#begins.fill(0, from + 1, to)
      return
    }
    const lines = this.lines.subarray(from, to)
    const prefixes = new Int32Array(count)
    // Assumes that all keys have the common prefix of a sample. If a key does not, the prefix is shortened.
    let common = commonBytes(graph, lines.subarray(0, SAMPLE), known)
    let done = this.#readPrefixes(graph, lines, { common, known }, prefixes)
    while (done < count) {
      common = commonBytes(graph, Int32Array.of(lines[0]!, lines[done]!), known)
      done = this.#readPrefixes(graph, lines, { common, known }, prefixes)
    }
    radixSort(prefixes, lines)
    let begin = 0
    for (let i = 1; i < count; i++) {
      if (prefixes[i] === prefixes[i - 1]) this.#begins[from + i] = 0
      else {
        this.#leaveRun(from + begin, from + i, common + PREFIX_BYTES, pending)
        begin = i
      }
    }
    this.#leaveRun(from + begin, to, common + PREFIX_BYTES, pending)
  }

  /**
   * Reads the number of each key. Returns the index of the first line whose key does not have the common
   * prefix, or the number of lines if all keys have it.
   */
  #readPrefixes(
    graph: Int32Array,
    lines: Int32Array,
    { common, known }: { common: number; known: number },
    prefixes: Int32Array,
  ): number {
    const first = lines[0]!
    for (let from = 0; from < lines.length; from += STAGE) {
      const to = Math.min(from + STAGE, lines.length)
      let sink = 0
      // This loop only loads records. They are scattered over memory, and in such a loop, as many cache
      // misses as possible overlap.
      for (let i = from; i < to; i++) sink ^= graph[lines[i]! << L.LINE_WORDS_LOG2]!
      this.prefetchSink ^= sink
      for (let i = from; i < to; i++) {
        if (common > known && !agree(graph, lines[i]!, first, common)) return i
        prefixes[i] = prefixAfter(graph, lines[i]!, common)
      }
    }
    return lines.length
  }

  #leaveRun(from: number, to: number, known: number, pending: [number, number, number][]): void {
    if (to - from <= SHORT_RUN) return
    this.#begins.fill(1, from, to)
    pending.push([from, to, known])
  }

  /** Sorts the short run that contains this position. */
  #sortRunAt(graph: Int32Array, at: number): void {
    if (this.#begins[at] === 1 && this.#begins[at + 1] === 1) return
    let from = at
    let to = at + 1
    while (this.#begins[from] === 0) from--
    while (this.#begins[to] === 0) to++
    this.lines.subarray(from, to).sort((a, b) => compareKeys(graph, a, b))
    this.#begins.fill(1, from, to)
  }
}

/** Returns the length of the common prefix of these keys. The keys agree in at least `known` bytes. */
function commonBytes(graph: Int32Array, lines: Int32Array, known: number): number {
  let common = keyBytes(graph, lines[0]! << L.LINE_WORDS_LOG2)
  for (const line of lines) {
    while (common > known && !agree(graph, line, lines[0]!, common)) common -= 1
  }
  return Math.max(common, known)
}

/** Returns whether both keys have at least `bytes` bytes and agree in them. Compares whole words first. */
function agree(graph: Int32Array, left: number, right: number, bytes: number): boolean {
  if (keyBytes(graph, left << L.LINE_WORDS_LOG2) < bytes) return false
  const a = keyStart(graph, left << L.LINE_WORDS_LOG2)
  const b = keyStart(graph, right << L.LINE_WORDS_LOG2)
  const words = bytes >>> 2
  for (let word = 0; word < words; word++) if (graph[a + word] !== graph[b + word]) return false
  const rest = bytes & 3
  return rest === 0 || ((graph[a + words]! ^ graph[b + words]!) & ((1 << (rest << 3)) - 1)) === 0
}

/**
 * Returns the four bytes after the first `skip` bytes of the key, as a number that sorts like the key. Bytes
 * after the end of the key count as zero.
 */
function prefixAfter(graph: Int32Array, line: number, skip: number): number {
  const record = line << L.LINE_WORDS_LOG2
  const left = keyBytes(graph, record) - skip
  if (left <= 0) return 0
  const at = keyStart(graph, record) + (skip >>> 2)
  const shift = (skip & 3) << 3
  // Reads the next word only if the key extends into it. Otherwise the word belongs to other data.
  const high = shift === 0 || left <= 4 - (skip & 3) ? 0 : graph[at + 1]! << (32 - shift)
  return bytesSwapped((graph[at]! >>> shift) | high) | 0
}

/** Sorts unsigned numbers, and the lines together with them, in three stable passes of 11 bits. */
function radixSort(numbers: Int32Array, lines: Int32Array): void {
  let [fromNumbers, fromLines] = [numbers, lines]
  let toNumbers: Int32Array = new Int32Array(numbers.length)
  let toLines: Int32Array = new Int32Array(lines.length)
  for (let shift = 0; shift < 32; shift += RADIX_BITS) {
    const starts = new Int32Array(1 << RADIX_BITS)
    const mask = (1 << RADIX_BITS) - 1
    for (let i = 0; i < numbers.length; i++) starts[(fromNumbers[i]! >>> shift) & mask]! += 1
    for (let digit = 0, sum = 0; digit <= mask; digit++) {
      const count = starts[digit]!
      starts[digit] = sum
      sum += count
    }
    for (let i = 0; i < numbers.length; i++) {
      const digit = (fromNumbers[i]! >>> shift) & mask
      const to = starts[digit]!
      starts[digit] = to + 1
      toNumbers[to] = fromNumbers[i]!
      toLines[to] = fromLines[i]!
    }
    ;[fromNumbers, toNumbers, fromLines, toLines] = [toNumbers, fromNumbers, toLines, fromLines]
  }
  if (fromLines === lines) return
  numbers.set(fromNumbers)
  lines.set(fromLines)
}
