/**
 * Evaluates conditions partially (filter.md P38 to P44). Values that are known are evaluated, and tests of
 * columns become formulas. For each condition, there is a formula for when it is true and one for when it is
 * false; otherwise it is unknown. So the result needs no negation.
 */
import type { Condition, Test } from '#conditions/condition.ts'
import { evaluate, type QuestionValues } from '#conditions/evaluate.ts'
import { refsOfTest } from '#conditions/mentions.ts'
import type { MemberMatch } from '#conditions/nodes/member-match.ts'
import { compareRanks, isInRelation, type OrderRelation, rankOf } from '#conditions/nodes/ordering.ts'
import { INSTANT_LENGTH_MAX } from '#conditions/values/instants.ts'
import type { EvaluationBudget } from '#conditions/values/evaluation-budget.ts'
import type { Literal, Operand, Reference } from '#conditions/values/operands.ts'
import type { Path } from '#conditions/values/paths.ts'
import { equalitySteps, NODE_STEPS, rankSteps } from '#conditions/values/step-costs.ts'
import { truthOf } from '#conditions/values/truth.ts'
import { equality, isUnreadable } from '#conditions/values/values.ts'
import { isObject } from '#model/json-object.ts'
import * as tests from './column-tests.ts'
import { and, Column, type Formula, Obstacle, or } from './formula.ts'
import type { PlanValues, ValueInState } from './plan-values.ts'
import { changeTimeOf } from './time-changes.ts'
import { allTruths, anyTruths, inStates, NEITHER, negatedTruths, type Truths, truthsOf } from './truths.ts'

export type KeyMatch = MemberMatch<Condition>

/** Values and callbacks of a fold. */
export interface FoldContext {
  readonly values: PlanValues
  readonly budget: EvaluationBudget
  /** Time of the plan, in milliseconds since 1970. */
  readonly asOf: number
  /**
   * Keys of the instances that decide a match of a column. Returns null if they are not known yet; the fold
   * must then be repeated after they have been read.
   */
  readonly matchedKeys: (lookup: KeyMatch) => tests.MatchedKeys | null
  /** Called with each time at which a test that was evaluated changes its result. */
  readonly changesAt: (time: number) => void
}

/** Returns a formula for the rows for which the condition is true. `set` is named in problems. */
export function whenTrue(condition: Condition, set: string, context: FoldContext): Formula {
  return new Fold(set, context).when(condition, true)
}

/** Returns a formula for the rows for which the condition is false. */
export function whenFalse(condition: Condition, set: string, context: FoldContext): Formula {
  return new Fold(set, context).when(condition, false)
}

/** Values of paths in one state of the columns. */
type Assigned = ReadonlyMap<string, unknown>

class Fold {
  readonly #set: string
  readonly #context: FoldContext

  constructor(set: string, context: FoldContext) {
    this.#set = set
    this.#context = context
  }

  when(condition: Condition, isWanted: boolean): Formula {
    if (!this.#context.budget.spend(NODE_STEPS)) return false
    switch (condition.kind) {
      case 'all-of':
        return (isWanted ? and : or)(this.#each(condition.items, isWanted, !isWanted))
      case 'any-of':
        return (isWanted ? or : and)(this.#each(condition.items, isWanted, isWanted))
      case 'not':
        return this.when(condition.item, !isWanted)
      default: {
        const truths = this.#test(condition)
        return isWanted ? truths.isTrue : truths.isFalse
      }
    }
  }

  /** Folds the items until one of them decides, because then the others have no effect. */
  *#each(items: readonly Condition[], isWanted: boolean, decisive: boolean): Iterable<Formula> {
    for (const item of items) {
      const formula = this.when(item, isWanted)
      yield formula
      if (formula === decisive) return
    }
  }

  #test(test: Test): Truths {
    const { path } = test
    if (path.root === 'member') return NEITHER
    const { values } = this.#context
    const refs = refsOfTest(test)
    if (![path, ...refs].some(each => values.readsColumn(each))) return this.#known(test, refs)
    const states = values.statesOf(path)
    return inStates(states.map(({ state, value }) => ({ state, truths: this.#withAttribute(test, value) })))
  }

  /** Evaluates a test that reads no column. */
  #known(test: Test, refs: readonly Path[]): Truths {
    const { values, budget, asOf, changesAt } = this.#context
    const time = changeTimeOf(test, refs, path => values.valueOf(path), asOf)
    if (time !== null) changesAt(time)
    return truthsOf(evaluate(test, values, budget))
  }

  #withAttribute(test: Test, attribute: unknown): Truths {
    if (test.kind === 'existence') return truthsOf(truthOf((attribute !== undefined) === test.isWanted))
    if (attribute === undefined || isUnreadable(attribute)) return NEITHER
    this.#noteTime(test)
    switch (test.kind) {
      case 'equality': {
        const truths = this.#withOperand(test.operand, operand => this.#equal(test, attribute, operand))
        return test.isNegated ? negatedTruths(truths) : truths
      }
      case 'ordering':
        return this.#withOperand(test.operand, operand =>
          this.#ordered(test, attribute, test.relation, operand),
        )
      case 'between':
        return this.#withOperand(test.low, low =>
          this.#withOperand(test.high, high =>
            allTruths([
              this.#ordered(test, attribute, 'above-or-equal', low),
              this.#ordered(test, attribute, 'below-or-equal', high),
            ]),
          ),
        )
      case 'contains':
        return this.#withOperand(test.operand, operand =>
          this.#columnOr(test, [attribute, operand], () => tests.containsTruths(attribute, operand)),
        )
      case 'glob-match':
        return this.#columnOr(test, [attribute], () =>
          tests.matchTruths(attribute as Column, test.glob.source),
        )
      case 'membership':
        return this.#membership(test, attribute, test.operand)
      case 'array-contains':
        return this.#withOperand(test.operand, operand => this.#contained(test, attribute, operand))
      case 'array-comparison':
        return this.#withOperand(test.operand, operand =>
          operand instanceof ListOfColumns
            ? this.#ifList(attribute, () => this.#obstacle(test, COLUMNS_AS_ELEMENTS))
            : this.#columnOr(test, [attribute, operand], () =>
                tests.comparedTruths(attribute, test.relation, operand),
              ),
        )
      case 'array-length':
        return this.#withOperand(test.operand, operand =>
          this.#columnOr(test, [attribute, operand], () =>
            tests.lengthTruths(attribute, test.relation, operand),
          ),
        )
      case 'member-match':
        return this.#matched(test, attribute)
    }
  }

  /**
   * Returns the truths for each state of the columns in an operand. If the operand is missing, the test is
   * unknown.
   */
  #withOperand(operand: Operand, truthsFor: (value: unknown) => Truths): Truths {
    return inStates(
      this.#operandStates(operand).map(({ state, value }) => ({
        state,
        truths: value === undefined ? NEITHER : truthsFor(value),
      })),
    )
  }

  #operandStates(operand: Operand): readonly ValueInState[] {
    if (operand.kind !== 'list') return this.#itemStates(operand)
    const items = operand.items.map(item => this.#itemStates(item))
    if (items.every(isOneValue)) {
      const list = items.map(([one]) => one!.value)
      return [{ state: true, value: list.includes(undefined) ? undefined : list }]
    }
    // A missing element makes the whole operand missing.
    const isPresent = and(items.map(states => or(states.map(each => each.value !== undefined && each.state))))
    return [{ state: isPresent, value: new ListOfColumns(items) }]
  }

  #itemStates(item: Literal | Reference): readonly ValueInState[] {
    return item.kind === 'literal'
      ? [{ state: true, value: item.value }]
      : this.#context.values.statesOf(item.path)
  }

  /** Evaluates a test of known values in one state of the columns, and otherwise uses `truthsOfColumns`. */
  #columnOr(
    test: Exclude<Test, KeyMatch>,
    [attribute, operand]: readonly unknown[],
    truthsOfColumns: () => tests.ColumnTruths,
  ): Truths {
    if (attribute instanceof Column || operand instanceof Column) return this.#truths(test, truthsOfColumns())
    const assigned = new Map<string, unknown>([[test.path.text, attribute]])
    if ('operand' in test && test.operand.kind === 'ref') assigned.set(test.operand.path.text, operand)
    return this.#evaluated(test, assigned)
  }

  #evaluated(test: Test, assigned: Assigned): Truths {
    const { values, budget } = this.#context
    const inState: QuestionValues = {
      valueOf: path => (assigned.has(path.text) ? assigned.get(path.text) : values.valueOf(path)),
      attributesOf: (type, key, spent) => values.attributesOf(type, key, spent),
    }
    return truthsOf(evaluate(test, inState, budget))
  }

  #truths(test: Test, truths: tests.ColumnTruths): Truths {
    return tests.isInexpressible(truths) ? this.#obstacle(test, truths.because) : truths
  }

  #obstacle({ path, operator }: Test, msg: string): Truths {
    const problem = { kind: 'not-expressible' as const, rule: null, set: this.#set }
    const obstacle = new Obstacle({ ...problem, path: path.text, operator, msg })
    return { isTrue: obstacle, isFalse: obstacle }
  }

  #equal(test: Test, left: unknown, right: unknown): Truths {
    if (right instanceof ListOfColumns) {
      const isArray = left instanceof Column ? tests.isArrayColumn(left) : Array.isArray(left)
      if (isArray) return this.#obstacle(test, COLUMNS_AS_ELEMENTS)
      return left instanceof Column ? tests.unequal(left) : truthsOf(truthOf(false))
    }
    if (left instanceof Column || right instanceof Column) {
      return this.#truths(test, tests.equalTruths(left, right))
    }
    return this.#context.budget.spend(equalitySteps(left, right)) ? truthsOf(equality(left, right)) : NEITHER
  }

  #ordered(test: Test, left: unknown, relation: OrderRelation, right: unknown): Truths {
    if (left instanceof Column || right instanceof Column) {
      return this.#truths(test, tests.orderTruths(left, relation, right))
    }
    const steps = rankSteps(left, INSTANT_LENGTH_MAX) + rankSteps(right, INSTANT_LENGTH_MAX)
    if (!this.#context.budget.spend(steps)) return NEITHER
    const order = compareRanks(rankOf(left), rankOf(right))
    return order === null ? NEITHER : truthsOf(truthOf(isInRelation(order, relation)))
  }

  #membership(test: Test, attribute: unknown, operand: Operand): Truths {
    return this.#withOperand(operand, list => {
      if (list instanceof ListOfColumns) {
        return anyTruths(
          list.items.map(states =>
            inStates(
              states.map(({ state, value }) => ({
                state,
                truths: value === undefined ? NEITHER : this.#equal(test, attribute, value),
              })),
            ),
          ),
        )
      }
      if (list instanceof Column) return this.#truths(test, tests.elementTruths(list, attribute))
      return this.#among(test, attribute, list)
    })
  }

  /** Tests whether a value is an element of a known value, which might not be a list. */
  #among(test: Test, value: unknown, list: unknown): Truths {
    if (!Array.isArray(list)) return NEITHER
    if (value instanceof Column) return this.#truths(test, tests.amongTruths(value, list))
    return anyTruths(list.map(element => this.#equal(test, value, element)))
  }

  #contained(test: Test, attribute: unknown, operand: unknown): Truths {
    if (operand instanceof ListOfColumns) {
      const hasArrays = Array.isArray(attribute) && attribute.some(Array.isArray)
      return this.#ifList(attribute, () => {
        if (hasArrays) return this.#obstacle(test, COLUMNS_AS_ELEMENTS)
        return attribute instanceof Column ? tests.unequal(attribute) : truthsOf(truthOf(false))
      })
    }
    if (attribute instanceof Column) return this.#truths(test, tests.elementTruths(attribute, operand))
    // An unreadable value is not comparable, even with an empty list.
    if (isUnreadable(operand)) return NEITHER
    return this.#among(test, operand, attribute)
  }

  #ifList(attribute: unknown, otherwise: () => Truths): Truths {
    const isList = attribute instanceof Column ? tests.isArrayColumn(attribute) : Array.isArray(attribute)
    return isList ? otherwise() : NEITHER
  }

  #matched(test: KeyMatch, attribute: unknown): Truths {
    const { quantity, instanceType } = test
    const readsColumn = refsOfTest(test).some(path => this.#context.values.readsColumn(path))
    if (!(attribute instanceof Column)) {
      if (!readsColumn) return this.#evaluated(test, new Map([[test.path.text, attribute]]))
      if (quantity === 'one') {
        const isTested = instanceType === null ? isObject(attribute) : typeof attribute === 'string'
        return isTested ? this.#obstacle(test, MEMBERS_WITH_COLUMNS) : NEITHER
      }
      if (!Array.isArray(attribute)) return NEITHER
      if (attribute.length === 0) return truthsOf(truthOf(quantity === 'all'))
      return this.#obstacle(test, MEMBERS_WITH_COLUMNS)
    }
    if (tests.isArrayColumn(attribute) === (quantity === 'one')) return NEITHER
    if (instanceType !== null) {
      const inexpressible = tests.lookupOfTimes(attribute)
      if (inexpressible !== null) return this.#obstacle(test, inexpressible.because)
      if (attribute.type === 'string' || attribute.type === 'string_array') {
        return readsColumn ? this.#obstacle(test, MEMBERS_WITH_COLUMNS) : this.#lookup(test, attribute)
      }
    }
    return quantity === 'one' ? NEITHER : tests.matchOfScalars(attribute, quantity)
  }

  #lookup(test: KeyMatch, column: Column): Truths {
    const { field } = column
    const keys = this.#context.matchedKeys(test) ?? { isTrue: [], isFalse: [] }
    return tests.lookupTruths(column, test.quantity, keys, (listed, make) =>
      listed === null ? new Obstacle({ kind: 'too-large', field, source: 'lookup' }) : make(listed),
    )
  }

  /** A comparison of the time with a column: its result can change at any time. */
  #noteTime(test: Test): void {
    if ([test.path, ...refsOfTest(test)].some(({ root }) => root === 'server')) {
      this.#context.changesAt(this.#context.asOf)
    }
  }
}

/** A list whose elements are known values and columns. Each element is present. */
class ListOfColumns {
  readonly items: readonly (readonly ValueInState[])[]

  constructor(items: readonly (readonly ValueInState[])[]) {
    this.items = items
  }
}

const COLUMNS_AS_ELEMENTS = 'a filter does not use columns as elements of a list in this test'
const MEMBERS_WITH_COLUMNS = 'tests of members cannot read a column: compare the column outside of the match'

function isOneValue(states: readonly ValueInState[]): boolean {
  return states.length === 1 && !(states[0]!.value instanceof Column)
}
