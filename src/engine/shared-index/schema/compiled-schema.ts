/**
 * The compiled schema: what evaluation needs of the schema, in numbers. The writer compiles it into the one of two
 * buffers that is not read, and publishes it together with the data it belongs to (`regions.ts`).
 *
 * A check works on *states*, not on roles. A state is a number and means "type T, any of these roles R suffices". At an
 * instance in state s, a direct assignment that meets the state's masks allows. Along an in-edge of class c, the question
 * goes on at the subject in the state that a transition gives. A *target* is a number: 0 is nowhere, s > 0 is state s, and
 * -i points at `lists[i]` = [n, s1 … sn], several states at once (only beyond the cap on states, see `automaton.ts`).
 *
 * In bytes it is a *unit* for each type, which names its roles and actions and says who may what, one for the tenant roles,
 * one for condition sets and rules (`rules/rule-compiler.ts`), one for mapping rules (`mapping/mapping-compiler.ts`), and the *head*, behind
 * them, which has what is looked up all the time. Each is a row of arrays of words (`packed-arrays.ts`).
 * A unit means the same wherever it stands and however often: those of types that did not change are copied as they are.
 *
 *   │ unit of the tenant roles │ unit │ unit │ … │ unit of rules │ unit of mapping rules │ head │
 */

/**
 * The arrays of the head. Types are numbered in order; number 0 is the tenant roles, as if tenants were a type.
 */
export const HEAD = {
  typeIds: 0,
  typeKeys: 1,
  /** The word where the unit of a type begins. Behind those of types: where rules begin, where mapping rules do, and where they end. */
  unitsFrom: 2,
  /** By type and bank: the bits of roles that exist; from `liveFrom[type]`. */
  live: 3,
  liveFrom: 4,
  /** Edge classes of tuples whose objects are of the type; from `classesFrom[type]`. */
  classes: 5,
  classesFrom: 6,
  /** Targets where the actions of a type start, in the order of its unit; from `startsFrom[type]`. */
  starts: 7,
  startsFrom: 8,
  /** Ids of states. */
  stateIds: 9,
  /** By state id. */
  stateType: 10,
  stateOrdinal: 11,
  stateEpoch: 12,
  stateHasGuard: 13,
  /** The column of the state in the rows of its type; 0 for states that lead nowhere. */
  stateColumn: 14,
  /** The masks of state s are the pairs [bank, mask] in `masks` from `masksFrom[s]` to `masksFrom[s + 1]`. */
  masks: 15,
  masksFrom: 16,
  /**
   * By edge class: where its row of pages begins. The row of a class without derivations leads to page 0 only.
   */
  rows: 17,
  /** Pages of `PAGE_COLUMNS` columns of the three tables of targets. Page 0 has zeros only. */
  pages: 18,
  open: 19,
  full: 20,
  guarded: 21,
  lists: 22,
  /**
   * Derivations over class c: triples [source role index, derived role index, guarded] from
   * `derivationsFrom[c]`.
   */
  derivations: 23,
  derivationsFrom: 24,
} as const
export const HEAD_ARRAYS = 25

export const PAGE_COLUMNS_LOG2 = 3
export const PAGE_COLUMNS = 1 << PAGE_COLUMNS_LOG2

/** The arrays of a unit. */
export const UNIT = {
  roleIndexes: 0,
  roleKeys: 1,
  actionKeys: 2,
  /**
   * Sets of roles, as pairs [bank, mask] from `setsFrom[set]`. By action, the number of the set that allows it:
   * of resource roles and of tenant roles.
   */
  sets: 3,
  setsFrom: 4,
  resourceSets: 5,
  tenantSets: 6,
  relationClasses: 7,
  relationKeys: 8,
  /** For explanations: the type at the other end of each relation, and pairs [role index, index of a role it extends]. */
  relationEnds: 9,
  extensions: 10,
} as const
export const UNIT_ARRAYS = 11
