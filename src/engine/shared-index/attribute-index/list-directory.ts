/**
 * Directory of the attribute index. It contains the posting lists of the entities that have attributes. A
 * list contains the entities of one type, or the users, ordered by the hash of a value and then by key. The
 * name of the list determines this value, for example the value of an attribute:
 *
 *   directory ─► slot: type, name, chunks ─► chunk: (hash, entity), (hash, entity) …
 *
 * A hash only finds candidates: a reader of a list evaluates a check for each of them.
 */
import { textIn } from '#engine/shared-index/memory/values.ts'
import type { ListMemory } from '#engine/shared-index/memory/list-memory.ts'
import * as L from '#engine/shared-index/memory/layout.ts'

/** Maximum number of lists in an environment. If a search would need another list, it scans all entities. */
export const LISTS_MAX = 128

/**
 * Words of a slot. `type` is the id of a type, `name` is the address of a text, and `chunks` is the
 * descriptor of an ordered list (`ordered-list.ts`).
 */
export const SLOT = {
  state: 0,
  type: 1,
  name: 2,
  /** [ptr, log2 capacity, chunks, entries] */
  chunks: 3,
} as const
export const SLOT_WORDS_LOG2 = 3
export const DIRECTORY_LOG2 = 7 + SLOT_WORDS_LOG2

/** States of a slot. The writer already updates a list that is being built, but searches do not read it. */
export const FREE = 0
export const BUILDING = 1
export const READY = 2

/**
 * Names of lists. `ALL`: all entities of the type, under one hash. `BY_TENANT`: instances by the line of
 * their tenant. `ATTRIBUTE_PREFIX` and the name of an attribute: entities by the value of the attribute.
 */
export const ALL = 'all'
export const BY_TENANT = 'tenant'
const ATTRIBUTE_PREFIX = 'attribute '

export function listOfAttribute(name: string): string {
  return ATTRIBUTE_PREFIX + name
}

/** Returns the attribute from the name of a list, or `null` if the list is not by an attribute. */
export function attributeOf(name: string): string | null {
  return name.startsWith(ATTRIBUTE_PREFIX) ? name.slice(ATTRIBUTE_PREFIX.length) : null
}

/**
 * `HASH_OF_ALL` is the hash of every entity in a list of a whole type. `HASH_OF_UNLISTED` is the hash of an
 * entity whose attribute has more elements than are indexed individually.
 */
export const HASH_OF_ALL = 0
export const HASH_OF_UNLISTED = 1
/** Maximum number of elements of an attribute that are indexed individually. */
export const ELEMENTS_LISTED_MAX = 64

/** Returns the word of the list's slot if searches can read the list, and 0 otherwise. O(lists). */
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
