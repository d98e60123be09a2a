/**
 * Defines the compiled schema: the parts of the schema that evaluation needs, in numbers. The writer compiles
 * it into the one of two buffers that is not in use, and publishes it together with the data to which it
 * belongs (`regions.ts`).
 *
 * A check works on *states*, not on roles. A state is a number and means "type T, any of these roles R is
 * sufficient". At an instance in state s, a direct assignment that matches the state's masks allows. Along an
 * in-edge of class c, the check continues at the subject, in the state given by a transition. A *target* is a
 * number: 0 means no state, s > 0 state s, and -i points to `lists[i]` = [n, s1 … sn], several states at the
 * same time (only beyond the limit on states, see `automaton.ts`).
 *
 * It consists of *units* and a *head* after them. Each type has a unit with its roles, actions and
 * permissions. There is one unit for the tenant roles, one for condition sets and rules
 * (`rules/rule-compiler.ts`), and one for mapping rules (`mapping/mapping-compiler.ts`). The head contains
 * the data that is read most often. Each of them is a sequence of arrays of words (`packed-arrays.ts`). The
 * meaning of a unit does not depend on its position: units of unchanged types are copied unchanged.
 *
 *   │ unit of the tenant roles │ unit │ unit │ … │ unit of rules │ unit of mapping rules │ head │
 */

/**
 * The arrays of the head. Types are numbered consecutively; number 0 represents the tenant roles, as if
 * tenants were a type.
 */
export const HEAD = {
  typeIds: 0,
  typeKeys: 1,
  /**
   * The word at which the unit of a type begins. After the types: start of the rules, start of the mapping
   * rules, and their end.
   */
  unitsFrom: 2,
  /** By type and bank: the bits of existing roles; from `liveFrom[type]`. */
  live: 3,
  liveFrom: 4,
  /** Edge classes of tuples whose objects are of the type; from `classesFrom[type]`. */
  classes: 5,
  classesFrom: 6,
  /** Start targets of the actions of a type, in the order of its unit; from `startsFrom[type]`. */
  starts: 7,
  startsFrom: 8,
  /** Ids of states. */
  stateIds: 9,
  /** By state id. */
  stateType: 10,
  stateOrdinal: 11,
  stateEpoch: 12,
  stateHasGuard: 13,
  /** Column of the state in the rows of its type; 0 for states without transitions. */
  stateColumn: 14,
  /** The masks of state s are the pairs [bank, mask] in `masks` from `masksFrom[s]` to `masksFrom[s + 1]`. */
  masks: 15,
  masksFrom: 16,
  /**
   * By edge class: the start of its row of pages. The row of a class without derivations contains only page
   * 0.
   */
  rows: 17,
  /** Pages of `PAGE_COLUMNS` columns of the three tables of targets. Page 0 contains only zeros. */
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
   * Sets of roles, as pairs [bank, mask] from `setsFrom[set]`. By action, the number of the set that allows
   * it: of resource roles and of tenant roles.
   */
  sets: 3,
  setsFrom: 4,
  resourceSets: 5,
  tenantSets: 6,
  relationClasses: 7,
  relationKeys: 8,
  /**
   * For explanations: the type at the other end of each relation, and pairs [role index, index of a role that
   * it extends].
   */
  relationEnds: 9,
  extensions: 10,
} as const
export const UNIT_ARRAYS = 11
