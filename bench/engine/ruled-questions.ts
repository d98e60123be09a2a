/**
 * Checks on W6 with their correct decisions. Roles allow half of the checks, a rule allows a quarter, and a
 * quarter is denied.
 */
import { evaluate } from '#conditions/evaluate.ts'
import { EvaluationBudget } from '#conditions/values/evaluation-budget.ts'
import type { Condition } from '#conditions/condition.ts'
import { ValuesOfQuestion } from '#conditions/question-values.ts'
import { isRefused, readCondition } from '#conditions/read-condition.ts'
import { TRUE } from '#conditions/values/truth.ts'
import type { Change } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import type { Dataset } from '#testing/data/dataset.ts'
import { Random } from '#testing/data/random.ts'
import { RESOURCE_SETS, type RuledDrive, RULES, USER_SETS } from '../data/ruled-drive.ts'
import type { Evaluator } from './questions.ts'

export interface JudgedQuestion {
  readonly query: Query
  readonly isAllowed: boolean
}

/** The drive with its attributes but without its rules. */
export function withoutRules(drive: RuledDrive): Dataset {
  return {
    name: `${drive.name} without rules`,
    *things(): Iterable<Change> {
      for (const change of drive.things()) {
        if (change.kind !== 'condition-set-put' && change.kind !== 'rule-put') yield change
      }
    },
    facts: () => drive.facts(),
    candidates: (count, kind) => drive.candidates(count, kind),
  }
}

/**
 * `bare` contains the drive without rules and decides by roles. Rules are evaluated here, directly on their
 * conditions.
 */
export function ruledQuestions(drive: RuledDrive, bare: Evaluator, count: number): JudgedQuestion[] {
  const judge = new RuleJudge(drive)
  const byRoles = drive.candidates(count, 'allowed').filter(query => bare.evaluate(query))
  const others = drive.candidates(6 * count, 'denied').filter(query => !bare.evaluate(query))
  const judged = Map.groupBy(others, query => judge.isAllowed(query))
  const parts = [
    ...taken(byRoles, count / 2, true),
    ...taken(judged.get(true) ?? [], count / 4, true),
    ...taken(judged.get(false) ?? [], count / 4, false),
  ]
  new Random(17).shuffle(parts)
  return parts
}

function taken(queries: readonly Query[], count: number, isAllowed: boolean): JudgedQuestion[] {
  if (queries.length < count) throw new Error(`too few questions of a kind: ${queries.length}`)
  return queries.slice(0, count).map(query => ({ query, isAllowed }))
}

/** Evaluates rules one after the other, unlike the index. */
class RuleJudge {
  readonly #drive: RuledDrive
  readonly #conditions: ReadonlyMap<string, Condition>

  constructor(drive: RuledDrive) {
    this.#drive = drive
    this.#conditions = new Map(
      [...USER_SETS, ...RESOURCE_SETS].map(([set, written]) => [set, readSet(written)]),
    )
  }

  isAllowed({ user, action, type, key }: Query): boolean {
    const values = new ValuesOfQuestion(
      { user, type, key, tenant: 'default' },
      {
        userRoles: () => [],
        userTenants: () => [],
        userAttributes: () => this.#drive.ofUser(user),
        instanceAttributes: () => this.#drive.ofDocument(key!),
        tenantAttributes: () => null,
        attributesOf: () => undefined,
      },
    )
    const holds = (set: string): boolean =>
      evaluate(this.#conditions.get(set)!, values, new EvaluationBudget()) === TRUE
    return RULES.some(rule => rule.action === action && holds(rule.userSet) && holds(rule.resourceSet))
  }
}

function readSet(written: Readonly<Record<string, unknown>>): Condition {
  const condition = readCondition(written, [])
  if (isRefused(condition)) throw new Error(JSON.stringify(condition.findings))
  return condition
}
