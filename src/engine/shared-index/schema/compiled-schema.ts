/**
 * The compiled schema: what evaluation needs of it, in numbers. The writer compiles it into the one of two buffers that
 * nobody reads, and publishes it together with the data it belongs to (`regions.ts`).
 *
 * A check handles no roles but *states*. A state is "type T, any of these roles R suffices", a number. At an instance
 * in state s, a direct assignment that meets the state's masks allows; along an in-edge of class c, the question
 * goes on at the subject in a state given by a transition. A *target* is a number: 0 is nowhere, s > 0 is the state
 * s, -i points at `lists[i]` = [n, s1 … sn], several states at once (only beyond the cap on states, see `automaton.ts`).
 *
 * In bytes it is a *unit* for each type, which names its roles and actions and says who may what, one for the tenant roles,
 * one for condition sets and rules (`rules/rule-unit.ts`), and the *head*, behind them, which has what is looked up all the time. Each is a row of arrays of words (`packed-arrays.ts`).
 * A unit means the same wherever it stands and however often: those of types that did not change are copied as they are.
 *
 *   │ unit of the tenant roles │ unit │ unit │ … │ unit of rules │ head │
 */

/** The arrays of the head. Types are numbered as they come; the first are the tenant roles, as if tenants were a type. */
export const HEAD = {
  typeIds: 0,
  typeKeys: 1,
  /** Where the unit of a type begins, in words; two more than types: where that of rules begins, and where it ends. */
  unitsFrom: 2,
  /** Per type, the places taken by roles that exist, by bank; from `liveFrom[type]`. */
  live: 3,
  liveFrom: 4,
  /** Edge classes of tuples whose objects are of the type; from `classesFrom[type]`. */
  classes: 5,
  classesFrom: 6,
  /** Targets that the actions of a type start from, in the order of its unit; from `startsFrom[type]`. */
  starts: 7,
  startsFrom: 8,
  /** Ids of states. */
  stateIds: 9,
  /** By state id. */
  stateType: 10,
  stateOrdinal: 11,
  stateEpoch: 12,
  stateHasGuard: 13,
  /** Its column in the rows of its type, 0 for states that lead nowhere. */
  stateColumn: 14,
  /** The masks of state s are the pairs [bank, mask] in `masks` from `masksFrom[s]` to `masksFrom[s + 1]`. */
  masks: 15,
  masksFrom: 16,
  /** By edge class: where its row of pages begins. The row of a class that nothing is derived over leads to page 0 only. */
  rows: 17,
  /** Pages of `PAGE_COLUMNS` columns of the three tables of targets; page 0 is of zeros. */
  pages: 18,
  open: 19,
  full: 20,
  guarded: 21,
  lists: 22,
  /** Derivations over class c: triples [source place, derived place, guarded] from `derivationsFrom[c]`. */
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
  /** Sets of roles, pairs [bank, mask] from `setsFrom[set]`; by action, which of them allows: of resource and of tenant roles. */
  sets: 3,
  setsFrom: 4,
  resourceSets: 5,
  tenantSets: 6,
  relationClasses: 7,
  relationKeys: 8,
} as const
export const UNIT_ARRAYS = 9
