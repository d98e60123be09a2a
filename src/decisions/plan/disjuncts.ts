/** The formulas of many rules, and the pauses between rules. */
import { type Formula, or, sizeOf, textOf } from '#conditions/plan/formula.ts'
import { FILTER_NODES_MAX, FILTER_PARTS_MAX } from '#model/limits.ts'
import { tooManyNodes } from './plan-errors.ts'

/** Rules between two pauses, and steps of conditions. */
const RULES_A_SLICE = 64
const STEPS_A_SLICE = 20_000

/** Formulas of which one must be true. If they are too large together, only whether one is true is kept. */
export class Disjuncts {
  readonly #formulas = new Map<string, Formula>()
  #size = 0
  /** Whether a formula is true for all rows. */
  isTrue = false

  add(formula: Formula): void {
    if (formula === true) this.isTrue = true
    const text = textOf(formula)
    if (formula === false || this.#formulas.has(text)) return
    this.#size += sizeOf(formula)
    if (this.#size <= FILTER_PARTS_MAX) this.#formulas.set(text, formula)
  }

  /** Throws `FILTER_TOO_LARGE` if the formulas are too large together and none of them is always true. */
  joined(): Formula {
    if (this.isTrue) return true
    if (this.#size > FILTER_PARTS_MAX) throw tooManyNodes('nodes', FILTER_NODES_MAX)
    return or(this.#formulas.values())
  }
}

/** Counts the nodes that a plan keeps for all tenants and instances. */
export class NodeCount {
  #size = 0

  /** Throws `FILTER_TOO_LARGE` if there are too many. */
  add(formula: Formula, source: 'nodes' | 'stored_attributes'): void {
    this.#size += 1 + sizeOf(formula)
    if (this.#size > FILTER_PARTS_MAX) throw tooManyNodes(source, FILTER_NODES_MAX)
  }
}

/** Determines when the work of a plan pauses. All its tenants share the pauses. */
export class Pauses {
  #rules = 0
  #spent = 0

  /** Called after each rule. `spent` is the number of steps of the plan. */
  isDue(spent: number): boolean {
    this.#rules += 1
    if (this.#rules < RULES_A_SLICE && spent - this.#spent < STEPS_A_SLICE) return false
    this.#rules = 0
    this.#spent = spent
    return true
  }
}
