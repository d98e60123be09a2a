/**
 * Which lists of owners there are. A list has the owners of one type, or the users, by the hash of what they have under one name, and
 * among equal hashes by key:
 *
 *   directory ─► slot: type, name, chunks ─► chunk: (hash, owner), (hash, owner) …
 *
 * A hash only finds candidates: who reads a list asks the decision about each of them.
 */
import { textIn } from '#engine/shared-index/memory/values.ts'
import type { ListMemory } from '#engine/shared-index/memory/list-memory.ts'
import * as L from '#engine/shared-index/memory/layout.ts'

/** Lists of an environment. What no list has is scanned. */
export const LISTS_MAX = 128

/** Words of a slot. The type is its id; the name a text; `chunks` as `ordered-list.ts` has them. */
export const SLOT = {
  state: 0,
  type: 1,
  name: 2,
  /** [ptr, log2 capacity, chunks, entries] */
  chunks: 3,
} as const
export const SLOT_WORDS_LOG2 = 3
export const DIRECTORY_LOG2 = 7 + SLOT_WORDS_LOG2

/** States of a slot. What is being built is written, and not read yet. */
export const FREE = 0
export const BUILDING = 1
export const READY = 2

/** Names of lists. All owners of the type, with one hash; instances by the line of their tenant; owners by an attribute. */
export const ALL = 'all'
export const BY_TENANT = 'tenant'
const ATTRIBUTE_PREFIX = 'attribute '

export function listOfAttribute(name: string): string {
  return ATTRIBUTE_PREFIX + name
}

/** `null`: it is a list of another kind. */
export function attributeOf(name: string): string | null {
  return name.startsWith(ATTRIBUTE_PREFIX) ? name.slice(ATTRIBUTE_PREFIX.length) : null
}

/** The hash under which all owners of a type stand, and that of owners whose list has too many elements to be found by each. */
export const HASH_OF_ALL = 0
export const HASH_OF_UNLISTED = 1
/** Elements of a list under which its owner is found. */
export const ELEMENTS_LISTED_MAX = 64

/** The word of the slot of a list that can be read; 0: there is none. O(lists). */
export function readyList(memory: ListMemory, type: number, name: string): number {
  const { header, graph } = memory
  const directory = header[L.H_LIST_DIRECTORY]!
  if (directory === 0) return 0
  for (let number = 0; number < LISTS_MAX; number++) {
    const slot = directory + (number << SLOT_WORDS_LOG2)
    if (graph[slot + SLOT.state] !== READY || graph[slot + SLOT.type] !== type) continue
    const text = graph[slot + SLOT.name]!
    const bytes = graph[text]
    if (bytes !== undefined && textIn(graph, text + 1, bytes) === name) return slot
  }
  return 0
}
