/**
 * Orders records by the UTF-8 bytes of their keys (native.md D-46), which are read in place.
 *
 * Sorting reads each key once: the four bytes after the common prefix of all keys become a number, and the
 * numbers are radix-sorted. Lines with equal numbers form a *run*. Long runs are sorted in the same way by
 * their next bytes. Short runs are sorted when a page needs them.
 */
import type { Key } from '#engine/shared-index/memory/key.ts'
import { bytesSwapped, compareKeys, compareWithKey } from '#engine/shared-index/memory/key-comparison.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { keyBytes, keyStart } from '#engine/shared-index/memory/records.ts'

/** Runs up to this length are sorted later. */
const SHORT_RUN = 64
const PREFIX_BYTES = 4
const SAMPLE = 64
/** Records prefetched together (see `batch-check.ts`). */
const STAGE = 64
const RADIX_BITS = 11

export class KeyOrder {
  readonly lines: Int32Array
  /**
   * Uses the result of prefetching loads, so that the compiler does not remove them. The value has no
   * meaning.
   */
  prefetchSink = 0
  /** 1 at the beginning of a run. A run of one line is sorted. */
  readonly #begins: Uint8Array

  /** Takes ownership of the lines and sorts them. O(n log n), and each key is read once. */
  constructor(graph: Int32Array, lines: Int32Array) {
    this.lines = lines
    this.#begins = new Uint8Array(lines.length + 1).fill(1)
    const pending: [number, number, number][] = [[0, lines.length, 0]]
    for (let range = pending.pop(); range; range = pending.pop()) this.#sortRange(graph, range, pending)
  }

  /** Returns the number of lines with keys up to and including this one. O(log n). */
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

  /** Returns the lines `from` to `to`, in order. */
  slice(graph: Int32Array, from: number, to: number): Int32Array {
    for (let at = from; at < Math.min(to, this.lines.length); at++) this.#sortRunAt(graph, at)
    return this.lines.subarray(from, to)
  }

  /**
   * Sorts a range whose keys agree in at least their first `known` bytes. Adds its long runs to `pending`.
   */
  #sortRange(
    graph: Int32Array,
    [from, to, known]: [number, number, number],
    pending: [number, number, number][],
  ): void {
    const count = to - from
    // Keys that agree over the maximum length differ only in trailing zeros, which a comparison resolves.
    if (count <= SHORT_RUN || known >= L.KEY_BYTES_MAX) {
      this.#begins.fill(0, from + 1, to)
      return
    }
    const lines = this.lines.subarray(from, to)
    const prefixes = new Int32Array(count)
    // The common prefix of a sample is assumed for all keys. It is shortened if some key disagrees.
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
   * Reads the numbers of the keys. Returns the index of the first line whose key lacks the common prefix; the
   * count if there is none.
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
      // The loop only loads: records are scattered over memory, and as many cache misses as possible should
      // overlap.
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

  /** Sorts the run at this position. */
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

/** Returns the length of the common prefix of these keys, at least `known`. */
function commonBytes(graph: Int32Array, lines: Int32Array, known: number): number {
  let common = keyBytes(graph, lines[0]! << L.LINE_WORDS_LOG2)
  for (const line of lines) {
    while (common > known && !agree(graph, line, lines[0]!, common)) common -= 1
  }
  return Math.max(common, known)
}

/** Returns whether both keys have `bytes` bytes and agree in them. Compares whole words first. */
function agree(graph: Int32Array, left: number, right: number, bytes: number): boolean {
  if (keyBytes(graph, left << L.LINE_WORDS_LOG2) < bytes) return false
  const a = keyStart(graph, left << L.LINE_WORDS_LOG2)
  const b = keyStart(graph, right << L.LINE_WORDS_LOG2)
  const words = bytes >>> 2
  for (let word = 0; word < words; word++) if (graph[a + word] !== graph[b + word]) return false
  const rest = bytes & 3
  return rest === 0 || ((graph[a + words]! ^ graph[b + words]!) & ((1 << (rest << 3)) - 1)) === 0
}

/** Returns the next four bytes of the key as a number in key order, with zeros beyond its end. */
function prefixAfter(graph: Int32Array, line: number, skip: number): number {
  const record = line << L.LINE_WORDS_LOG2
  const left = keyBytes(graph, record) - skip
  if (left <= 0) return 0
  const at = keyStart(graph, record) + (skip >>> 2)
  const shift = (skip & 3) << 3
  // The word after the last one of the key belongs to other data, so it is read only if the key continues.
  const high = shift === 0 || left <= 4 - (skip & 3) ? 0 : graph[at + 1]! << (32 - shift)
  return bytesSwapped((graph[at]! >>> shift) | high) | 0
}

/** Sorts unsigned numbers, and the lines with them: three stable passes of 11 bits. */
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
