/**
 * Defines the compiled form of mapping rules, a unit of the compiled schema, in words. The writer creates it
 * (`mapping-compiler.ts`), and every thread matches URLs against a copy of it (`mapping-view.ts`).
 *
 *   method ─► node ─ segment ─► node ─ segment ─► … ─► node ─► rules whose path ends here
 *
 * The rules form a tree of the pieces of their paths. A piece is represented by the key that all its
 * spellings share (`url-spellings.ts`). A node has one edge per key that a rule has at this position, and at
 * most one edge for a placeholder. Texts are *atoms*: numbers in the order of the texts. A piece is looked up
 * once and then compared as a number. Rules are numbered by precedence (`mapping-order.ts`). The smallest
 * number that matches in any spelling decides. The segments of the rule are then compared with the URL as
 * written.
 */

/** The arrays of the unit. */
export const UNIT = {
  /** A word that differs for each compilation, so that readers notice a new unit. */
  stamp: 0,
  /**
   * For each atom, the start of its text in `characters`. One additional entry contains the end of the last
   * text.
   */
  atomFrom: 1,
  /** UTF-16 code units, two per word. */
  characters: 2,
  /**
   * Nodes in the layout of `NODE`. The first nodes are the roots of the methods. One additional node at the
   * end contains the end of the edges and rules of the last node.
   */
  nodes: 3,
  /** Pairs (atom, target node). The pairs of a node are in ascending order by atom. */
  edges: 4,
  /** Numbers of the rules that end in a node. The numbers of a node are in ascending order. */
  ends: 5,
  /** For each rule, the start of its words in `rules`. */
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

/**
 * Words of a node. `any` is the node to which a placeholder leads. `best` is the smallest number of the rules
 * that end in the node or below it.
 */
export const NODE = { edgesFrom: 0, any: 1, endsFrom: 2, best: 3, words: 4 } as const

/** Words at the start of a rule. The captures follow. */
export const RULE = { type: 0, action: 1, literalSegments: 2, captures: 3 } as const

/**
 * Words of a query member. All of them are atoms: name and value as written, and the keys of name and value
 * that all spellings share.
 */
export const MEMBER = { name: 0, value: 1, spelledName: 2, spelledValue: 3, words: 4 } as const

/** Stands for any text, as a segment or as the value of a query member. */
export const ANY = -1
/** Means that there is no node. Node 0 is the root of a method, and no edge leads to a root. */
export const NO_NODE = 0

/**
 * Returns the position of a capture whose value is a query member: the bitwise complement of the member's
 * number. If the value is a segment, the position is the segment's number.
 */
export function placeOfMember(member: number): number {
  return ~member
}
