/**
 * Directory of the attribute index. It contains inverted lists of the entities that have attributes
 * ("owners"). A list contains the entities of one type, or the users, ordered by the hash of a value that
 * they have under one name, and then by key:
 *
 *   directory ─► slot: type, name, chunks ─► chunk: (hash, owner), (hash, owner) …
 *
 * A hash only finds candidates: a reader of a list evaluates a check for each of them.
 */
import { textIn } from '#engine/shared-index/memory/values.ts'
import type { ListMemory } from '#engine/shared-index/memory/list-memory.ts'
import * as L from '#engine/shared-index/memory/layout.ts'

/** Maximum number of lists in an environment. Searches without a list scan all entities. */
export const LISTS_MAX = 128

/** Words of a slot. The type is its id; the name is a text; `chunks` has the format of `ordered-list.ts`. */
export const SLOT = {
  state: 0,
  type: 1,
  name: 2,
  /** [ptr, log2 capacity, chunks, entries] */
  chunks: 3,
} as const
export const SLOT_WORDS_LOG2 = 3
export const DIRECTORY_LOG2 = 7 + SLOT_WORDS_LOG2

/** States of a slot. A list that is being built is already updated by changes, but not read. */
export const FREE = 0
export const BUILDING = 1
export const READY = 2

/**
 * Names of lists: all entities of the type, with the same hash; instances by the line of their tenant;
 * entities by an attribute.
 */
export const ALL = 'all'
export const BY_TENANT = 'tenant'
const ATTRIBUTE_PREFIX = 'attribute '

export function listOfAttribute(name: string): string {
  return ATTRIBUTE_PREFIX + name
}

/** Returns `null` if the list is of another kind. */
export function attributeOf(name: string): string | null {
  return name.startsWith(ATTRIBUTE_PREFIX) ? name.slice(ATTRIBUTE_PREFIX.length) : null
}

/**
 * The hash of all entities in a list of a whole type. Also the hash of entities whose attribute has too many
 * elements to be indexed individually.
 */
export const HASH_OF_ALL = 0
export const HASH_OF_UNLISTED = 1
/** Maximum number of elements of an attribute that are indexed individually. */
export const ELEMENTS_LISTED_MAX = 64

/** Returns the word of the slot of a list that can be read; 0 if there is none. O(lists). */
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
