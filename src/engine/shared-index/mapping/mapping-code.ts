/**
 * Defines the compiled form of mapping rules, a unit of the compiled schema, in words. The writer creates it
 * (`mapping-compiler.ts`), and every thread matches URLs against a copy of it (`mapping-view.ts`).
 *
 *   method ─► node ─ segment ─► node ─ segment ─► … ─► node ─► rules whose path ends here
 *
 * It is a tree of the pieces of paths, by the keys that all spellings share (`url-spellings.ts`). A node has
 * one edge per key that a rule has at that position, and at most one edge for a placeholder. Texts are
 * *atoms*: numbers in the order of the texts. A piece is looked up once and then compared as a number. Rules
 * are numbered by precedence (`mapping-order.ts`). The smallest number that matches in any spelling decides.
 * The segments of the rule are then compared with the URL as written.
 */

/** The arrays of the unit. */
export const UNIT = {
  /** One word; different for each compilation. */
  stamp: 0,
  /** By atom: start of its text in the characters. An additional entry contains the end of the last text. */
  atomFrom: 1,
  /** UTF-16, two characters per word. */
  characters: 2,
  /**
   * Nodes in the layout of `NODE`. An additional node contains the end of the edges and rules of the last
   * one. The first nodes are those of the methods.
   */
  nodes: 3,
  /** Pairs of an atom and a node; the pairs of one node are in ascending order by atom. */
  edges: 4,
  /** Rule numbers; those of one node are in ascending order. */
  ends: 5,
  /** By rule: its start in the words of the rules. */
  ruleFrom: 6,
  /**
   * Words of a rule, in this order:
   *
   * - type and action, as atoms
   * - the number of segments if encoded slashes are literal, otherwise 0
   * - the number of captures, then for each its name as an atom and its position
   * - the number of segments, then for each an atom or `ANY`
   * - the number of query members, then each in the layout of `MEMBER`
   */
  rules: 7,
} as const
export const UNIT_ARRAYS = 8

/** Words of a node. `best`: the smallest number of the rules that end in the node or below it. */
export const NODE = { edgesFrom: 0, any: 1, expiresFrom: 2, best: 3, words: 4 } as const

/** Words of a rule before its captures. */
export const RULE = { type: 0, action: 1, literalSegments: 2, captures: 3 } as const

/** Words of a query member, all of them atoms: as written, and in all spellings. */
export const MEMBER = { name: 0, value: 1, spelledName: 2, spelledValue: 3, words: 4 } as const

/** Represents any text, for a segment or for the value of a query member. */
export const ANY = -1
/** Represents the absence of a node. Node 0 is the root of a method, to which no edge leads. */
export const NO_NODE = 0

/**
 * Returns the position of a capture in a query member: the bitwise complement of its number. For a segment,
 * the position is its number.
 */
export function placeOfMember(member: number): number {
  return ~member
}
