/**
 * Defines the compiled form of condition sets and rules. It is a unit of the compiled schema, in words. The
 * writer creates it (`rule-compiler.ts`). Every thread decides with its copy of it (`rules-view.ts`,
 * `check/rule-evaluation.ts`), without parsing.
 *
 *   permission ─► plan ─► lookups: an attribute, a table from values to rules ─┐
 *                    └──► all other rules ─────────────────────────────────────┴─► (user side, resource side)
 *   set ─► code: leaves and connectives ─► leaf: a test of an attribute
 *
 * Equal tests ("leaves") are stored once, and all sets share them. If a set of a rule requires that an
 * attribute equals a constant, the rule is found by the value of the attribute. For ten thousand sets that
 * differ only in the constant, this takes a single lookup.
 */

/**
 * Maximum distance of a constant from the slot that its hash selects. Callers choose the constants and could
 * make them collide. If no slot within this distance is free, the constant is not found by its hash.
 */
export const PROBES_MAX = 256

/**
 * Returns a free slot of the table at `from` for an entry with this hash, or `null` if no free slot is within
 * `PROBES_MAX`.
 */
export function freeSlot(table: Int32Array, from: number, hash: number, log2: number): number | null {
  const mask = (1 << log2) - 1
  const home = hash >>> (32 - log2)
  for (let probe = 0; probe < PROBES_MAX; probe++) {
    const slot = (home + probe) & mask
    if (table[from + slot] === 0) return slot
  }
  return null
}

/** The arrays of the unit. Arrays whose names end in `From` contain positions in the program. */
export const UNIT = {
  /** Pairs, ordered by hash: the hash of a permission's type and action, and the number of the permission. */
  permissionHashes: 0,
  /**
   * For each permission, the positions of its type and action (as JSON text) and of its plan; 0 if the number
   * is not used.
   */
  permissionFrom: 1,
  planFrom: 2,
  /** For each path, the position of its text. */
  pathFrom: 3,
  leafFrom: 4,
  /**
   * For each set, the position of its code and the number of its parent set, or `NO_PARENT` for a set without
   * a parent. An unused number has no code.
   */
  setFrom: 5,
  setParent: 6,
  program: 7,
  /** For each set, the position of its key and conditions in `texts`. Only explanations read them. */
  setText: 8,
  /**
   * One word, the numbering. If two units have the same numbering, paths and tests with equal numbers are
   * identical.
   */
  numbering: 9,
  /** Texts for explanations. Must be the last array, so that readers can omit it. */
  texts: 10,
} as const
export const UNIT_ARRAYS = 11
export const NO_PARENT = -1

/**
 * Encoding of a side of a rule. A set is its number. `ALL_OF_TYPE` is the whole type. The users with a tenant
 * role are `ROLE_SIDE` minus the index of the role.
 */
export const ALL_OF_TYPE = -1
export const ROLE_SIDE = -2

/**
 * Words of a plan: its flags, and the positions and lengths of three lists. `rules` are all rules; they are
 * stored in the texts, because decisions do not read them. `lookups` lead to rules by the value of an
 * attribute. The last list contains the rules to which no lookup leads. A rule is a pair of sides.
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
 * Flags of a plan: a side is a role; a set reads the user's tenant roles or the tenant; a set reads the
 * tenants in which the user has roles.
 */
export const FLAG_ROLE_SIDES = 1
export const FLAG_READS_ROLES = 2
export const FLAG_READS_TENANTS = 4

/**
 * Words of a lookup: a path, and the position of a table. The table consists of log2 of the number of its
 * slots, and the slots. A slot contains the position of an entry, or 0 if it is free. An entry consists of a
 * constant (head and words, `values.ts`), the number of rules, and the rules.
 */
export const LOOKUP_WORDS = 2

/**
 * Code of a set. A test is its number. A connective is one of these words, followed by the number of words of
 * the connective, including this one, and by its items.
 */
export const ALL_OF = -1
export const ANY_OF = -2
export const NOT = -3
/**
 * Code that represents a set which this release cannot parse, because another release wrote it. Such a set is
 * never true.
 */
export const UNREADABLE = -4

/**
 * Tests. A test consists of its kind, a path, and the words described for each kind. A constant is a head and
 * its words.
 *
 * A *tree* is a test that is stored as JSON text. Threads parse it when they first need it.
 */
export const LEAF = {
  /** A word that is 1 if the attribute must exist. */
  exists: 1,
  /** A word that is 1 if the test is negated, and the constant. */
  equals: 2,
  /** A word that is 1 if the test is negated, and the other path. */
  equalsRef: 3,
  /** The relation, and the constant: a number or the text of an instant. */
  ordered: 4,
  orderedRef: 5,
  /**
   * A hash table of constants: log2 of the number of slots, the slots, and the constants. A slot contains the
   * position of a constant relative to the test.
   */
  isIn: 6,
  isInRef: 7,
  /** The constant that must be an element of the attribute. */
  hasElement: 8,
  hasElementRef: 9,
  /** The relation, and the number as a constant. */
  length: 10,
  /** The number of bytes, and the UTF-8 text. */
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
