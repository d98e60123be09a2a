/**
 * Defines the compiled schema: the parts of the schema that checks need, as numbers. There are two buffers.
 * The writer compiles the schema into the buffer that is not in use, and publishes it together with the data
 * to which it belongs (`index-buffers.ts`).
 *
 * A check works on *states*, not on roles. A state is a number and means "type T, any of these roles R is
 * sufficient". At an instance in state s, a direct assignment of one of the state's roles allows. Along an
 * in-edge of class c, the check continues at the subject, in the state that a transition gives. A *target* is
 * a number. 0 means no state. A positive number s means state s. A negative number -i points to `lists[i]` =
 * [n, s1 … sn], which means all these states at the same time. Such lists occur only beyond the limit on
 * states (`automaton.ts`).
 *
 * The compiled schema consists of *units* and of a *head* after them. Each type has a unit with its roles,
 * actions and permissions. There is one unit for the tenant roles, one for condition sets and rules
 * (`rules/rule-compiler.ts`), and one for mapping rules (`mapping/mapping-compiler.ts`). The head contains
 * the data that is read most often. Each unit and the head are sequences of arrays of words
 * (`packed-arrays.ts`). The meaning of a unit does not depend on its position, so the units of unchanged
 * types are copied as they are.
 *
 *   │ unit of the tenant roles │ unit │ unit │ … │ unit of rules │ unit of mapping rules │ head │
 */

/**
 * The arrays of the head. In these arrays, types are numbered consecutively. Number 0 stands for the tenant
 * roles, as if tenants were a type.
 */
export const HEAD = {
  typeIds: 0,
  typeKeys: 1,
  /**
   * For each type, the word at which its unit begins. The last three elements are the start of the rules, the
   * start of the mapping rules, and their end.
   */
  unitsFrom: 2,
  /** For each type and bank, the bits of the existing roles. Those of a type start at `liveFrom[type]`. */
  live: 3,
  liveFrom: 4,
  /**
   * For each type, the edge classes of tuples whose objects are of this type. Those of a type start at
   * `classesFrom[type]`.
   */
  classes: 5,
  classesFrom: 6,
  /**
   * For each type, the start targets of its actions in the order of its unit. Those of a type start at
   * `startsFrom[type]`.
   */
  starts: 7,
  startsFrom: 8,
  /** Ids of states. */
  stateIds: 9,
  /** The following arrays are indexed by state id. */
  stateType: 10,
  stateOrdinal: 11,
  stateEpoch: 12,
  stateHasGuard: 13,
  /** Column of the state in the rows of its type; 0 if the state has no transitions. */
  stateColumn: 14,
  /** The masks of state s are the pairs [bank, mask] in `masks` from `masksFrom[s]` to `masksFrom[s + 1]`. */
  masks: 15,
  masksFrom: 16,
  /**
   * For each edge class, the start of its row of pages. The row of a class without derivations consists of
   * page 0 alone.
   */
  rows: 17,
  /**
   * Pages of `PAGE_COLUMNS` columns each, for each of the three tables of targets. Page 0 contains only
   * zeros.
   */
  pages: 18,
  open: 19,
  full: 20,
  guarded: 21,
  lists: 22,
  /**
   * Derivations over edge class c: triples [source role index, derived role index, guarded], starting at
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
   * Sets of roles, as pairs [bank, mask] starting at `setsFrom[set]`. For each action, `resourceSets`
   * contains the number of the set of resource roles that allow the action. `tenantSets` contains the number
   * of the set of tenant roles that allow it.
   */
  sets: 3,
  setsFrom: 4,
  resourceSets: 5,
  tenantSets: 6,
  relationClasses: 7,
  relationKeys: 8,
  /**
   * Data for explanations: the type at the other end of each relation, and pairs [role index, index of a role
   * that this role extends].
   */
  relationEnds: 9,
  extensions: 10,
} as const
export const UNIT_ARRAYS = 11
