/** Evaluates a condition for one query by walking its tree (conditions.md 5). */
import type { Condition, Test } from './condition.ts'
import type { EvaluationBudget } from '#conditions/values/evaluation-budget.ts'
import { occursIn, searchCost } from '#conditions/nodes/contains.ts'
import type { LengthRelation } from '#conditions/nodes/array-length.ts'
import type { SetRelation } from '#conditions/nodes/array-comparison.ts'
import type { MemberMatch } from '#conditions/nodes/member-match.ts'
import { compareRanks, isInRelation, rankOf, type OrderRelation } from '#conditions/nodes/ordering.ts'
import { INSTANT_LENGTH_MAX } from '#conditions/values/instants.ts'
import type { Literal, Operand, Reference } from '#conditions/values/operands.ts'
import { type AttributePath, type Path, valueAt } from '#conditions/values/paths.ts'
import { FALSE, negated, TRUE, type Truth, truthOf, UNKNOWN } from '#conditions/values/truth.ts'
import {
  equalitySteps,
  MEMBER_STEPS,
  NODE_STEPS,
  pathSteps,
  rankSteps,
  searchSteps,
  setSteps,
} from '#conditions/values/step-costs.ts'
import { amongTruth, comparable, equality, isUnreadable, ValueSet } from '#conditions/values/values.ts'
import { isObject, type JsonObject } from '#model/json-object.ts'

/** Values of a query that conditions can read. `undefined` represents a missing value. */
export interface QuestionValues {
  valueOf(path: Path): unknown
  /**
   * Returns the stored attributes of an instance in the tenant of the query. Returns `undefined` if the
   * instance does not exist or the budget is exceeded. The bytes of the attributes are charged to the budget
   * before they are parsed.
   */
  attributesOf(type: string, key: string, budget: EvaluationBudget): JsonObject | undefined
}

/**
 * Evaluates a condition. The size of the condition and `budget` limit the time. The nesting depth of the
 * condition and of the values limits the recursion. `member` is the object in which paths without a root
 * begin, for a condition within a match.
 */
export function evaluate(
  condition: Condition,
  values: QuestionValues,
  budget: EvaluationBudget,
  member: JsonObject | null = null,
): Truth {
  return new Evaluation(values, budget).truth(condition, member)
}

class Evaluation {
  readonly #values: QuestionValues
  readonly #budget: EvaluationBudget

  constructor(values: QuestionValues, budget: EvaluationBudget) {
    this.#values = values
    this.#budget = budget
  }

  /** `member` is the object in which paths without a root begin. */
  truth(condition: Condition, member: JsonObject | null): Truth {
    // The budget is charged for every node, because there can be ten thousand sets, and each set can have the
    // maximum number of nodes.
    if (!this.#budget.spend(NODE_STEPS)) return UNKNOWN
    switch (condition.kind) {
      case 'all-of':
        return least(condition.items, item => this.truth(item, member))
      case 'any-of':
        return greatest(condition.items, item => this.truth(item, member))
      case 'not':
        return negated(this.truth(condition.item, member))
      default: {
        const { root, names } = condition.path
        if (!this.#budget.spend(pathSteps(names, root === 'member' ? 'one' : 'all'))) return UNKNOWN
        const truth = this.#test(condition, this.#attribute(condition.path, member))
        // A value that was too expensive to read looks like a missing value. The result is unknown, because
        // otherwise `exists` would be false.
        return this.#budget.isExceeded ? UNKNOWN : truth
      }
    }
  }

  #attribute(path: AttributePath, member: JsonObject | null): unknown {
    if (path.root !== 'member') return this.#values.valueOf(path)
    return member === null ? undefined : valueAt(member, path.names)
  }

  #test(test: Test, attribute: unknown): Truth {
    if (test.kind === 'existence') return truthOf((attribute !== undefined) === test.isWanted)
    if (attribute === undefined || isUnreadable(attribute)) return UNKNOWN
    switch (test.kind) {
      case 'equality': {
        const operand = this.#operand(test.operand)
        const equal = this.#equal(attribute, operand)
        return test.isNegated ? negated(equal) : equal
      }
      case 'ordering':
        return this.#ordered(attribute, test.relation, this.#operand(test.operand))
      case 'between': {
        const low = this.#operand(test.low)
        const high = this.#operand(test.high)
        // If one bound is missing, the result is unknown, even if the other bound alone would make it false.
        if (low === undefined || high === undefined) return UNKNOWN
        const isAbove = this.#ordered(attribute, 'above-or-equal', low)
        const isBelow = this.#ordered(attribute, 'below-or-equal', high)
        return Math.min(isAbove, isBelow) as Truth
      }
      case 'contains': {
        const operand = this.#operand(test.operand)
        if (typeof attribute !== 'string' || typeof operand !== 'string') return UNKNOWN
        if (!this.#budget.spend(searchCost(operand, attribute))) return UNKNOWN
        return truthOf(occursIn(operand, attribute))
      }
      case 'glob-match':
        return typeof attribute === 'string' ? test.glob.truthOf(attribute, this.#budget) : UNKNOWN
      case 'membership':
        return this.#isElement(attribute, this.#operand(test.operand))
      case 'array-contains': {
        const operand = this.#operand(test.operand)
        return operand === undefined ? UNKNOWN : this.#isElement(operand, attribute)
      }
      case 'array-comparison':
        return this.#compared(attribute, test.relation, this.#operand(test.operand))
      case 'array-length':
        return lengthCompared(attribute, test.relation, this.#operand(test.operand))
      case 'member-match':
        return this.#matched(test, attribute)
    }
  }

  /** Returns the value of an operand. Returns `undefined` if one of its references leads to no value. */
  #operand(operand: Operand): unknown {
    if (operand.kind !== 'list') return this.#item(operand)
    const items = operand.items.map(item => this.#item(item))
    return items.includes(undefined) ? undefined : items
  }

  #item(item: Literal | Reference): unknown {
    return item.kind === 'literal' ? item.value : this.#values.valueOf(item.path)
  }

  #equal(attribute: unknown, operand: unknown): Truth {
    if (operand === undefined) return UNKNOWN
    if (!this.#budget.spend(equalitySteps(attribute, operand))) return UNKNOWN
    return equality(attribute, operand)
  }

  #ordered(attribute: unknown, relation: OrderRelation, operand: unknown): Truth {
    const steps = rankSteps(attribute, INSTANT_LENGTH_MAX) + rankSteps(operand, INSTANT_LENGTH_MAX)
    if (!this.#budget.spend(steps)) return UNKNOWN
    const order = compareRanks(rankOf(attribute), rankOf(operand))
    return order === null ? UNKNOWN : truthOf(isInRelation(order, relation))
  }

  #isElement(value: unknown, list: unknown): Truth {
    if (!Array.isArray(list)) return UNKNOWN
    if (!this.#budget.spend(searchSteps(list, value))) return UNKNOWN
    return amongTruth(list, value)
  }

  #compared(attribute: unknown, relation: SetRelation, operand: unknown): Truth {
    if (!Array.isArray(attribute) || !Array.isArray(operand)) return UNKNOWN
    if (!this.#budget.spend(setSteps(attribute) + setSteps(operand))) return UNKNOWN
    switch (relation) {
      case 'subset':
        return isWithin(attribute, operand)
      case 'superset':
        return isWithin(operand, attribute)
      case 'intersecting': {
        const operands = new ValueSet(operand)
        return greatest(attribute, element => operands.truthOf(element))
      }
    }
  }

  #matched(test: MemberMatch<Condition>, attribute: unknown): Truth {
    const memberTruth = (element: unknown): Truth => {
      const member = test.instanceType === null ? element : this.#instance(test.instanceType, element)
      return isObject(member) ? this.truth(test.item, member) : UNKNOWN
    }
    if (test.quantity === 'one') return memberTruth(attribute)
    if (!Array.isArray(attribute) || !this.#budget.spend(attribute.length * MEMBER_STEPS)) return UNKNOWN
    return test.quantity === 'any' ? greatest(attribute, memberTruth) : least(attribute, memberTruth)
  }

  #instance(type: string, key: unknown): JsonObject | undefined {
    if (typeof key !== 'string' || !this.#budget.spendLookup()) return undefined
    return this.#values.attributesOf(type, key, this.#budget)
  }
}

function least<Item>(items: readonly Item[], truthOfItem: (item: Item) => Truth): Truth {
  let value: Truth = TRUE
  for (const item of items) {
    value = Math.min(value, truthOfItem(item)) as Truth
    if (value === FALSE) return FALSE
  }
  return value
}

function greatest<Item>(items: readonly Item[], truthOfItem: (item: Item) => Truth): Truth {
  let value: Truth = FALSE
  for (const item of items) {
    value = Math.max(value, truthOfItem(item)) as Truth
    if (value === TRUE) return TRUE
  }
  return value
}

function lengthCompared(attribute: unknown, relation: LengthRelation, value: unknown): Truth {
  const operand = comparable(value)
  if (!Array.isArray(attribute) || typeof operand !== 'number' || isUnreadable(operand)) return UNKNOWN
  const { length } = attribute
  switch (relation) {
    case 'equal':
      return truthOf(length === operand)
    case 'above':
      return truthOf(length > operand)
    case 'below':
      return truthOf(length < operand)
  }
}

function isWithin(elements: readonly unknown[], whole: readonly unknown[]): Truth {
  const set = new ValueSet(whole)
  return least(elements, element => set.truthOf(element))
}
