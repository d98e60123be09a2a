/**
 * The compiled form of mapping rules, a unit of the compiled schema, in words. The writer makes it (`mapping-compiler.ts`), and every
 * thread holds URLs against a copy of it (`mapping-view.ts`).
 *
 *   method ─► node ─ segment ─► node ─ segment ─► … ─► node ─► rules whose path ends here
 *
 * It is a tree of the pieces of paths, by the keys that all spellings share (`url-spellings.ts`). A node has an edge for each key that a
 * rule has in that place, and at most one for a placeholder. Texts are *atoms*: numbered in the order of the texts, so that a piece is
 * looked up once and compared as a number from then on. Rules are numbered in the order in which they count (`mapping-order.ts`). The
 * smallest number that fits in any spelling decides; whether the rule fits the URL as written is compared with its segments.
 */

/** The arrays of the unit. */
export const UNIT = {
  /** One word: another one for each compilation. */
  stamp: 0,
  /** By atom: where its text begins among the characters. One entry more than atoms says where the last one ends. */
  atomFrom: 1,
  /** UTF-16, two characters a word. */
  characters: 2,
  /** Nodes, as `NODE` says, and one more that says where the edges and rules of the last one end. The first are those of the methods. */
  nodes: 3,
  /** Pairs of an atom and a node, those of one node ascending by atom. */
  edges: 4,
  /** Rules by their numbers, those of one node ascending. */
  ends: 5,
  /** By rule: where it begins among the words of rules. */
  ruleFrom: 6,
  /**
   * Rules: type and action, as atoms; the count of its segments if encoded slashes are literal, otherwise 0; the count of captures, each its name as an atom and its place;
   * the count of segments, each an atom or `ANY`; the count of query members, each as `MEMBER` says.
   */
  rules: 7,
} as const
export const UNIT_ARRAYS = 8

/** The words of a node. `best`: the smallest number of the rules that end in it or below it. */
export const NODE = { edgesFrom: 0, any: 1, endsFrom: 2, best: 3, words: 4 } as const

/** The words of a rule before its captures. */
export const RULE = { type: 0, action: 1, literalSegments: 2, captures: 3 } as const

/** The words of a query member, all of them atoms: as written, and in all spellings. */
export const MEMBER = { name: 0, value: 1, spelledName: 2, spelledValue: 3, words: 4 } as const

/** In place of the text of a segment, or of the value of a query member: any. */
export const ANY = -1
/** In place of a node: none. Node 0 is where the rules of a method begin, to which no edge leads. */
export const NO_NODE = 0

/** The place of a capture: the number of a segment, or that of a query member of the rule, turned over. */
export function placeOfMember(member: number): number {
  return ~member
}
