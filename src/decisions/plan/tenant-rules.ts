/**
 * Folds the rules on an action for the rows of one tenant, or of several tenants that the rules do not
 * distinguish (filter.md P32 to P37).
 */
import { evaluate } from '#conditions/evaluate.ts'
import type { MatchedKeys } from '#conditions/plan/column-tests.ts'
import { type FoldContext, type KeyMatch, whenTrue } from '#conditions/plan/fold.ts'
import {
  and,
  disjunctsOf,
  type Formula,
  Obstacle,
  or,
  type PlannedRule,
  textOf,
  withObstacles,
} from '#conditions/plan/formula.ts'
import { PlanValues, type RowSources } from '#conditions/plan/plan-values.ts'
import { ValuesOfQuestion } from '#conditions/question-values.ts'
import type { EvaluationBudget } from '#conditions/values/evaluation-budget.ts'
import { FALSE, TRUE } from '#conditions/values/truth.ts'
import { memberOf } from '#conditions/values/values.ts'
import type {
  InstanceScan,
  PlanFacts,
  PlannedSet,
  PlannedSide,
  PlannedSides,
  PlanReader,
} from '#engine/plan-reads.ts'
import type { JsonObject } from '#model/json-object.ts'
import { parsedJson } from '#model/text/json-numbers.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { PLAN_INSTANCES_MAX, PLAN_STEPS_MAX } from '#model/limits.ts'
import { tooCostly } from './plan-errors.ts'
import { Disjuncts, type Pauses } from './disjuncts.ts'
import type { PlannedQuestion } from './planned-question.ts'

/** Number of results by attributes that are remembered. */
const REMEMBERED_MAX = 4_096

/** Parts that all tenants of a plan share. */
export interface TenantRuleParts {
  readonly question: PlannedQuestion
  readonly facts: PlanFacts
  readonly reader: PlanReader
  readonly budget: EvaluationBudget
  readonly row: Omit<RowSources, 'tenant' | 'stored'>
  /** Sets that read attributes of stored instances. */
  readonly scanned: ReadonlySet<PlannedSet>
  readonly changesAt: (time: number) => void
  readonly pauses: Pauses
  /** Number of instances that the plan has scanned. */
  readonly scan: { count: number }
}

/** Values of the sets of rules for rows whose stored instance has certain attributes, or is not stored. */
interface RowFold {
  readonly values: PlanValues
  readonly context: FoldContext
  readonly sets: Map<PlannedSet, Formula>
  readonly lists: Map<KeyMatch, MatchedKeys>
  /** Matches whose keys must be read before the fold can be repeated. */
  readonly missing: Set<KeyMatch>
}

export class TenantRules {
  readonly #parts: TenantRuleParts
  readonly #tenant: string
  readonly #others: ValuesOfQuestion
  readonly #unstored: RowFold
  /** Rules that read attributes of stored instances. */
  readonly #scannedRules: PlannedSides[] = []
  /** Null if remembering results is not worth its time. */
  #byAttributes: Map<string, Formula> | null = new Map()
  /** Number of results that were found in the current memory. */
  #remembered = 0
  /** Formula of the rules that read no attributes of stored instances. */
  base: Formula = false
  /** Formula of the other rules for rows without a stored instance, where `base` is not true. */
  open: Formula = false

  constructor(parts: TenantRuleParts, tenant: string) {
    this.#parts = parts
    this.#tenant = tenant
    const { facts, reader, question } = parts
    const roles = facts.userRoles
    this.#others = new ValuesOfQuestion(
      { user: question.user, type: question.type, key: null, tenant, queryContext: question.queryContext },
      {
        userRoles: () => roles.get(tenant) ?? [],
        userTenants: () => [...roles.keys()],
        userAttributes: () => parsed(facts.userAttributes),
        instanceAttributes: () => null,
        tenantAttributes: () => parsed(reader.tenantAttributes(tenant)),
        attributesOf: (type, key, budget) => {
          const text = reader.attributesOf(type, key, tenant)
          if (text === undefined || !budget.spendParsing(text?.length ?? 0)) return undefined
          return parsed(text) ?? {}
        },
      },
    )
    this.#unstored = this.#foldFor(null)
  }

  /** Returns a text that is equal for tenants with equal formulas. */
  get text(): string {
    return JSON.stringify([textOf(this.base), textOf(this.open)])
  }

  get hasScan(): boolean {
    return this.#scannedRules.length > 0
  }

  /** Folds all rules for rows that are not stored. */
  *begin(rules: readonly PlannedSides[]): Resumable<void> {
    const { scanned } = this.#parts
    const isScanned = (side: PlannedSide): boolean => side.kind === 'set' && scanned.has(side.set)
    const formulas = new Disjuncts()
    const { pauses } = this.#parts
    for (const rule of rules) {
      if (isScanned(rule.user) || isScanned(rule.resource)) {
        // Sides that do not depend on the instance decide first.
        const others = [rule.user, rule.resource].filter(side => !isScanned(side))
        const fixed = yield* this.#allOf(others, this.#unstored)
        if (fixed !== false) this.#scannedRules.push(rule)
      } else formulas.add(yield* this.#rule(rule, this.#unstored))
      if (formulas.isTrue) break
      if (pauses.isDue(this.#parts.budget.spent)) yield
    }
    this.base = formulas.joined()
    if (this.base === true) this.#scannedRules.length = 0
    this.open = this.#without(yield* this.#ofScanned(this.#unstored))
  }

  /**
   * Returns the formula for rows whose stored instance has these attributes. `names` are those that the rules
   * read. Results are remembered by the values of these, unless most instances have different values.
   */
  *ofInstance(attributes: JsonObject, names: readonly string[]): Resumable<Formula> {
    const memory = this.#byAttributes
    if (memory === null) return this.#without(yield* this.#ofScanned(this.#foldFor(attributes)))
    const signature = signatureOf(attributes, names)
    const known = memory.get(signature)
    if (known !== undefined) {
      this.#remembered += 1
      return known
    }
    const formula = this.#without(yield* this.#ofScanned(this.#foldFor(attributes)))
    memory.set(signature, formula)
    if (memory.size < REMEMBERED_MAX) return formula
    if (this.#remembered < REMEMBERED_MAX) this.#byAttributes = null
    else memory.clear()
    this.#remembered = 0
    return formula
  }

  /** Omits what `base` decides. */
  #without(formula: Formula): Formula {
    const decided = new Set(disjunctsOf(this.base).map(textOf))
    return or(disjunctsOf(formula).filter(each => !decided.has(textOf(each))))
  }

  *#ofScanned(fold: RowFold): Resumable<Formula> {
    const formulas = new Disjuncts()
    for (const rule of this.#scannedRules) {
      formulas.add(yield* this.#rule(rule, fold))
      if (formulas.isTrue) break
      if (this.#parts.pauses.isDue(this.#parts.budget.spent)) yield
    }
    return formulas.joined()
  }

  *#rule({ user, resource }: PlannedSides, fold: RowFold): Resumable<Formula> {
    const formula = yield* this.#allOf([user, resource], fold)
    const { type, action } = this.#parts.question
    const rule: PlannedRule = {
      user_set: user.key,
      permission: `${type}:${action}`,
      resource_set: resource.key,
    }
    return withObstacles(
      formula,
      problem =>
        new Obstacle(
          problem.kind === 'not-expressible' && problem.rule === null ? { ...problem, rule } : problem,
        ),
    )
  }

  *#allOf(sides: readonly PlannedSide[], fold: RowFold): Resumable<Formula> {
    const formulas: Formula[] = []
    for (const side of sides) {
      const formula = yield* this.#side(side, fold)
      if (formula === false) return false
      formulas.push(formula)
    }
    return and(formulas)
  }

  *#side(side: PlannedSide, fold: RowFold): Resumable<Formula> {
    switch (side.kind) {
      case 'all':
        return true
      case 'role':
        return this.#parts.facts.userRoles.get(this.#tenant)?.includes(side.role) ?? false
      case 'set': {
        // Sets that do not depend on the instance are folded once for all instances of the tenant.
        const own = this.#parts.scanned.has(side.set) ? fold : this.#unstored
        return own.sets.get(side.set) ?? (yield* this.#set(side.set, own))
      }
    }
  }

  *#set(set: PlannedSet, fold: RowFold): Resumable<Formula> {
    for (;;) {
      const formulas: Formula[] = []
      for (const { set: key, condition } of set.conditions ?? []) {
        const formula = whenTrue(condition, key, fold.context)
        formulas.push(formula)
        if (formula === false) break
      }
      if (this.#parts.budget.isExceeded) throw tooCostly('steps', PLAN_STEPS_MAX)
      if (fold.missing.size === 0) {
        const formula = set.conditions !== null && and(formulas)
        fold.sets.set(set, formula)
        return formula
      }
      for (const lookup of fold.missing) fold.lists.set(lookup, yield* this.#matchedBy(lookup, fold))
      fold.missing.clear()
    }
  }

  #foldFor(stored: JsonObject | null): RowFold {
    const { row, budget, question, changesAt } = this.#parts
    const values = new PlanValues(this.#others, { ...row, tenant: this.#tenant, stored })
    const lists = new Map<KeyMatch, MatchedKeys>()
    const missing = new Set<KeyMatch>()
    const matchedKeys = (lookup: KeyMatch): MatchedKeys | null => {
      const found = lists.get(lookup) ?? null
      if (found === null) missing.add(lookup)
      return found
    }
    const asOf = question.queryContext.readAt
    return {
      values,
      context: { values, budget, asOf, matchedKeys, changesAt },
      sets: new Map(),
      lists,
      missing,
    }
  }

  /** Finds the stored instances of the tenant for which the tests of a match are true or false. */
  *#matchedBy({ instanceType, item }: KeyMatch, { values }: RowFold): Resumable<MatchedKeys> {
    const { budget, question } = this.#parts
    const lists = { isTrue: new KeyList(question.idsMax), isFalse: new KeyList(question.idsMax) }
    const { next } = yield* scanOf(this.#parts, instanceType!)
    for (let batch = next(); batch !== null; batch = next()) {
      for (const { tenant, key, attributes } of batch) {
        if (tenant !== this.#tenant) continue
        const truth = evaluate(item, values, budget, parsed(attributes) ?? {})
        if (truth === TRUE) lists.isTrue.add(key)
        if (truth === FALSE) lists.isFalse.add(key)
      }
      if (budget.isExceeded) throw tooCostly('steps', PLAN_STEPS_MAX)
      yield
    }
    return { isTrue: lists.isTrue.keys, isFalse: lists.isFalse.keys }
  }
}

/** Returns a text that is equal for instances with the same values of these attributes. */
function signatureOf(attributes: JsonObject, names: readonly string[]): string {
  let text = ''
  for (const [index, name] of names.entries()) {
    const value = memberOf(attributes, name)
    // JSON texts contain no line breaks.
    if (value !== undefined) text += `${index}:${JSON.stringify(value)}\n`
  }
  return text
}

/** Begins a scan of a type. Throws if the plan scans too many instances. */
export function* scanOf(
  { reader, scan }: Pick<TenantRuleParts, 'reader' | 'scan'>,
  type: string,
): Resumable<InstanceScan> {
  const found = yield* reader.scan(type, PLAN_INSTANCES_MAX - scan.count)
  if (found === null) throw tooCostly('instances', PLAN_INSTANCES_MAX)
  scan.count += found.count
  return found
}

/** Keys of a list of which at most `max` are kept. */
export class KeyList {
  /** Null if there are more. */
  keys: string[] | null = []
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  add(key: string): void {
    if (this.keys !== null && this.keys.push(key) > this.#max) this.keys = null
  }
}

export function parsed(text: string | null): JsonObject | null {
  return text === null ? null : (parsedJson(text) as JsonObject)
}
