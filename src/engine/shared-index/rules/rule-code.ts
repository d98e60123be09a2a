/**
 * The compiled form of condition sets and rules, a unit of the compiled schema, in words. The writer makes it (`rule-compiler.ts`), and
 * every thread decides with a copy of it (`rules-view.ts`, `check/rule-evaluation.ts`), without parsing anything.
 *
 *   permission ─► plan ─► lookups: an attribute, and a table from its values to rules ─┐
 *                    └──► all other rules ─────────────────────────────────────────────┴─► (user side, resource side)
 *   set ─► code: leaves and connectives ─► leaf: a test of an attribute
 *
 * Equal leaves are one leaf, wherever they stand. A rule is found by a value where one of its sets demands that an attribute equals a
 * constant: ten thousand sets that differ in the constant are one lookup.
 */

/** The arrays of the unit. `FROM` arrays have positions in the program. */
/**
 * No constant lies farther from the place that its hash says: callers choose constants, and could choose them to collide. Of those for which
 * there is no such place none is found by its hash.
 */
export const PROBES_MAX = 256

/** A free slot of the table at `from` for something with that hash; `null`: none is near enough. */
export function freeSlot(table: Int32Array, from: number, hash: number, log2: number): number | null {
  const mask = (1 << log2) - 1
  const home = hash >>> (32 - log2)
  for (let probe = 0; probe < PROBES_MAX; probe++) {
    const slot = (home + probe) & mask
    if (table[from + slot] === 0) return slot
  }
  return null
}

export const UNIT = {
  /** Pairs of a hash of type and action, and the permission's number, by the hash. */
  permissionHashes: 0,
  /** By permission: its type and action as a text of JSON, and its plan; 0 for an unused number. */
  permissionFrom: 1,
  planFrom: 2,
  /** By path: its text. */
  pathFrom: 3,
  leafFrom: 4,
  /** By set: its code, and the set above, `NO_PARENT` if there is none. An unused number has no code. */
  setFrom: 5,
  setParent: 6,
  program: 7,
  /** By set: where its key and what it says are in the texts, which only explanations read. */
  setText: 8,
  /** One word: paths and leaves of equal numbers are the same in all units in which it is the same. */
  numbering: 9,
  /** The last, because readers leave it out. */
  texts: 10,
} as const
export const UNIT_ARRAYS = 11
export const NO_PARENT = -1

/** A side of a rule: a set by its number, all of the type, or who has a tenant role: -2 - its role index. */
export const ALL_OF_TYPE = -1
export const ROLE_SIDE = -2

/**
 * A plan: flags, then position and count of all its rules (in the texts, because decisions do not read them), of lookups, and of the rules
 * that no lookup leads to. A rule is two sides.
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
/** Some side is a role; some set reads the user's tenant roles or the tenant; some set reads the tenants in which the user has roles. */
export const FLAG_ROLE_SIDES = 1
export const FLAG_READS_ROLES = 2
export const FLAG_READS_TENANTS = 4

/**
 * A lookup is a path and the position of a table: log2 of its slots, then the slots. A slot has the position of an entry, 0 if it has none:
 * the constant, i.e. head and words (`values.ts`), then the count of rules and the rules.
 */
export const LOOKUP_WORDS = 2

/** Code of a set: a leaf is its number; a connective is followed by the words of its whole, itself included, and by its items. */
export const ALL_OF = -1
export const ANY_OF = -2
export const NOT = -3
/** All the code of a set that another release wrote, and which cannot be read: it matches nothing. */
export const UNREADABLE = -4

/**
 * Leaves: kind, path, then as noted. A constant is a head and its words.
 *
 * A *tree* is a leaf of which only the text of JSON is kept; threads read it when they first need it.
 */
export const LEAF = {
  /** Whether it is wanted. */
  exists: 1,
  /** Whether it is negated; the constant. */
  equals: 2,
  /** Whether it is negated; the other path. */
  equalsRef: 3,
  /** The relation; the constant, a number or the text of an instant. */
  ordered: 4,
  orderedRef: 5,
  /** log2 of slots, slots with positions of constants from the leaf on, constants. */
  isIn: 6,
  isInRef: 7,
  /** The constant that is to be an element. */
  hasElement: 8,
  hasElementRef: 9,
  /** The relation; the number as a constant. */
  length: 10,
  /** Bytes, UTF-8. */
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
