/** Conditions and attributes of checks, in the short form of tests. */
import type { ErrorDetail } from '#model/errors.ts'
import type { Condition } from '#conditions/condition.ts'
import { evaluate, type QuestionValues } from '#conditions/evaluate.ts'
import { EvaluationBudget } from '#conditions/values/evaluation-budget.ts'
import { type Path, valueAt } from '#conditions/values/paths.ts'
import { isRefused, readCondition } from '#conditions/read-condition.ts'
import { nameOfTruth, type TruthName } from '#conditions/values/truth.ts'
import type { JsonObject } from '#model/json-object.ts'

export type Roots = Partial<Record<Path['root'], JsonObject>>

export function read(raw: unknown): Condition {
  const condition = readCondition(raw, ['conditions'])
  if (isRefused(condition)) throw new Error(JSON.stringify(condition.findings))
  return condition
}

/** Findings about a rejected condition. `at` is the location within the condition. */
export function wrong(raw: unknown): { readonly at: string; readonly msg: string }[] {
  const condition = readCondition(raw, ['conditions'])
  return isRefused(condition) ? condition.findings.map(placed) : []
}

export function placed({ loc, msg }: ErrorDetail): { readonly at: string; readonly msg: string } {
  return { at: loc.join(' / '), msg }
}

/** Returns the values that conditions read. `instances` contains the stored attributes by `type:key`. */
export function valuesOf(roots: Roots, instances: Readonly<Record<string, JsonObject>> = {}): QuestionValues {
  return {
    valueOf: ({ root, names }) => valueAt(roots[root] ?? {}, names),
    attributesOf: (type, key) => instances[`${type}:${key}`],
  }
}

export function truth(
  raw: unknown,
  roots: Roots = {},
  instances: Readonly<Record<string, JsonObject>> = {},
): TruthName {
  return nameOfTruth(evaluate(read(raw), valuesOf(roots, instances), new EvaluationBudget()))
}
