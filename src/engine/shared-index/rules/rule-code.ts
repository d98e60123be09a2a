/**
 * Defines the compiled form of condition sets and rules, a unit of the compiled schema, in words. The writer
 * creates it (`rule-compiler.ts`). Every thread decides with a copy of it (`rules-view.ts`,
 * `check/rule-evaluation.ts`) without parsing.
 *
 *   permission ─► plan ─► lookups: an attribute, a table from values to rules ─┐
 *                    └──► all other rules ─────────────────────────────────────┴─► (user side, resource side)
 *   set ─► code: leaves and connectives ─► leaf: a test of an attribute
 *
 * Equal tests ("leaves") are stored once and shared by all sets. If a set of a rule requires that an
 * attribute equals a constant, the rule is found by the value of the attribute: ten thousand sets that differ
 * in the constant take one lookup.
 */

/**
 * Maximum distance of a constant from the slot of its hash. Callers choose the constants, and could choose
 * them to collide. Constants for which there is no slot within this distance are not found by their hash.
 */
export const PROBES_MAX = 256

/** Returns a free slot of the table at `from` for an entry with that hash; `null` if none is near enough. */
export function freeSlot(table: Int32Array, from: number, hash: number, log2: number): number | null {
  const mask = (1 << log2) - 1
  const home = hash >>> (32 - log2)
  for (let probe = 0; probe < PROBES_MAX; probe++) {
    const slot = (home + probe) & mask
    if (table[from + slot] === 0) return slot
  }
  return null
}

/** The arrays of the unit. `…From` arrays contain positions in the program. */
export const UNIT = {
  /** Pairs of a hash of type and action, and the permission's number, ordered by hash. */
  permissionHashes: 0,
  /** By permission: its type and action as JSON text, and its plan; 0 for an unused number. */
  permissionFrom: 1,
  planFrom: 2,
  /** By path: its text. */
  pathFrom: 3,
  leafFrom: 4,
  /** By set: its code, and its parent set, `NO_PARENT` if there is none. An unused number has no code. */
  setFrom: 5,
  setParent: 6,
  program: 7,
  /** By set: position of its key and conditions in the texts, which only explanations read. */
  setText: 8,
  /**
   * One word: paths and tests with the same numbers are identical in all units in which this word is the
   * same.
   */
  numbering: 9,
  /** The last array, because readers omit it. */
  texts: 10,
} as const
export const UNIT_ARRAYS = 11
export const NO_PARENT = -1

/**
 * A side of a rule: a set by its number, the whole type, or the users with a tenant role: -2 - its role
 * index.
 */
export const ALL_OF_TYPE = -1
export const ROLE_SIDE = -2

/**
 * A plan: flags, then position and number of all its rules (in the texts, because decisions do not read
 * them), of the lookups, and of the rules to which no lookup leads. A rule is a pair of sides.
 */
export const PLAN = {
  flags: 0,
  rulesAt: 1,
  rules: 2,
  lookupsAt: 3,
  lookups: 4,
  othersAt: 5,
  others: 6,
  words: 7,
} as const
/**
 * Meaning, in this order: a side is a role; a set reads the user's tenant roles or the tenant; a set reads
 * the tenants in which the user has roles.
 */
export const FLAG_ROLE_SIDES = 1
export const FLAG_READS_ROLES = 2
export const FLAG_READS_TENANTS = 4

/**
 * A lookup is a path and the position of a table: log2 of its slots, then the slots. A slot contains the
 * position of an entry, 0 if it is free. An entry consists of the constant, that is, its head and words
 * (`values.ts`), the number of rules, and the rules.
 */
export const LOOKUP_WORDS = 2

/**
 * Code of a set: a test is its number; a connective is followed by its total number of words, including
 * itself, and by its items.
 */
export const ALL_OF = -1
export const ANY_OF = -2
export const NOT = -3
/** The whole code of a set that another release wrote and that cannot be parsed: it never matches. */
export const UNREADABLE = -4

/**
 * Tests: kind, path, then the words listed for each kind. A constant is a head and its words.
 *
 * A *tree* is a test that is stored as JSON text; threads parse it when they first need it.
 */
export const LEAF = {
  /** 1 if the attribute must exist. */
  exists: 1,
  /** 1 if negated; the constant. */
  equals: 2,
  /** 1 if negated; the other path. */
  equalsRef: 3,
  /** The relation; the constant, a number or the text of an instant. */
  ordered: 4,
  orderedRef: 5,
  /** log2 of the slots, slots with positions of constants relative to the test, constants. */
  isIn: 6,
  isInRef: 7,
  /** The constant that must be an element. */
  hasElement: 8,
  hasElementRef: 9,
  /** The relation; the number as a constant. */
  length: 10,
  /** Number of bytes, then UTF-8 text. */
  tree: 11,
} as const

export const RELATIONS = ['below', 'below-or-equal', 'above', 'above-or-equal'] as const
export const LENGTH_RELATIONS = ['equal', 'above', 'below'] as const

const FNV_START = 0x811c9dc5
const FNV_PRIME = 0x01000193

export function permissionName(type: string, action: string): string {
  return JSON.stringify([type, action])
}

export function hashOfName(name: string): number {
  let hash = FNV_START
  for (let index = 0; index < name.length; index++) {
    hash = Math.imul(hash ^ name.charCodeAt(index), FNV_PRIME)
  }
  return (hash ^ (hash >>> 15)) | 0
}
