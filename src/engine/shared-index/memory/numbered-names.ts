/** Assigns numbers to names of attributes (`attribute-names.ts`). */
import { allocate, allocateZeroed, log2Ceil } from './allocator.ts'
import { NAMES_MAX, PAGE_LOG2, PAGE_MASK } from './attribute-names.ts'
import * as L from './layout.ts'
import type { Regions } from './index-buffers.ts'

const encoder = new TextEncoder()

/**
 * Returns the number of a name, and assigns one if it has none. Returns -1 if the name cannot have a number.
 * Requires the lock and a critical section.
 */
export function numberedName(regions: Regions, name: string): number {
  const names = regions.attributeNames
  names.refresh()
  const known = names.numberOf(name)
  if (known >= 0 || !isNumerable(name)) return known
  const number = names.known
  if (number >= NAMES_MAX) return -1
  const bytes = encoder.encode(name)
  const { header } = regions
  if (header[L.H_NAME_DIRECTORY] === 0) {
    header[L.H_NAME_DIRECTORY] = allocateZeroed(regions, log2Ceil(NAMES_MAX >>> PAGE_LOG2))
  }
  if ((number & PAGE_MASK) === 0) {
    const page = allocateZeroed(regions, PAGE_LOG2)
    regions.graph[header[L.H_NAME_DIRECTORY]! + (number >>> PAGE_LOG2)] = page
  }
  const block = allocate(regions, nameBlockLog2(bytes.length))
  const { graph } = regions
  graph[block] = bytes.length
  for (let word = 0; word < (bytes.length + 3) >>> 2; word++) {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(word << 2, (word + 1) << 2)
    graph[block + 1 + word] = a | (b << 8) | (c << 16) | (d << 24)
  }
  const page = graph[header[L.H_NAME_DIRECTORY]! + (number >>> PAGE_LOG2)]!
  graph[page + (number & PAGE_MASK)] = block
  names.note(name)
  // Release: a thread that sees the count also sees the name.
  Atomics.store(header, L.H_NAMES, number + 1)
  return number
}

/** Maximum length of a name with a number. Conditions have the same limit for names. */
const NAME_LENGTH_MAX = 255

/** Returns whether a name can have a number. */
export function isNumerable(name: string): boolean {
  return name !== '' && name.length <= NAME_LENGTH_MAX && name.isWellFormed()
}

export function nameBlockLog2(bytes: number): number {
  return Math.max(1, log2Ceil(1 + ((bytes + 3) >>> 2)))
}
