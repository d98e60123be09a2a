/**
 * Supplies the values of a query as objects, for tests that are stored as text and for explanations. An
 * object is parsed when a condition first reads it.
 */
import type { EvaluationBudget } from '#conditions/values/evaluation-budget.ts'
import { type QuestionInTenant, ValuesOfQuestion } from '#conditions/question-values.ts'
import type { JsonObject } from '#model/json-object.ts'
import type { AttributeNames } from '#engine/shared-index/memory/attribute-names.ts'
import { blockWords, textOfBlock } from '#engine/shared-index/memory/attribute-rows.ts'
import type { ValueWords } from '#engine/shared-index/memory/values.ts'
import { parsedJson } from '#model/text/json-numbers.ts'

/** An instance whose attributes conditions need, given by its type and key. */
export interface Lookup {
  readonly type: string
  readonly key: string
}

/** The part of `AskedRules` that contains the attributes copied for a query. */
interface Gathered {
  readonly words: ValueWords
  readonly tenant: string
  readonly user: number
  readonly instance: number
  readonly tenantBlock: number
  readonly userRoles: readonly string[]
  readonly userTenants: readonly string[]
  readonly found: ReadonlyMap<string, string | null | undefined | false>
}

const WORD_BYTES = 4

/**
 * Returns the values of a query in the order of precedence of their sources. Before attributes of the user,
 * instance and tenant are parsed, their bytes are charged to `budget`. If `budget` is `null`, as for an
 * explanation, parsing is not charged.
 */
export function mergedValues(
  asked: Gathered,
  query: Omit<QuestionInTenant, 'tenant'>,
  names: AttributeNames,
  { missing, budget }: { readonly missing: Map<string, Lookup>; readonly budget: EvaluationBudget | null },
): ValuesOfQuestion {
  const { words, tenant, userRoles, userTenants, found } = asked
  const parsed = (block: number): JsonObject | null => {
    if (block === 0) return null
    const bytes = WORD_BYTES * blockWords(words.words[block]!)
    if (budget !== null && !budget.spendParsing(bytes)) return null
    return parsedJson(textOfBlock(words.words, block, names)) as JsonObject
  }
  const instances = new Map<string, JsonObject>()
  return new ValuesOfQuestion(
    { ...query, tenant },
    {
      userRoles: () => userRoles,
      userTenants: () => userTenants,
      userAttributes: () => parsed(asked.user),
      instanceAttributes: () => parsed(asked.instance),
      tenantAttributes: () => parsed(asked.tenantBlock),
      attributesOf: (type, key, spent) => {
        const name = nameOf({ type, key })
        if (!found.has(name)) {
          missing.set(name, { type, key })
          return undefined
        }
        const known = instances.get(name)
        if (known !== undefined) return known
        const text = found.get(name)
        if (text === undefined) return undefined
        if (text === false) {
          spent.refuse()
          return undefined
        }
        if (!spent.spendParsing(text?.length ?? 0)) return undefined
        const attributes = (parsedJson(text ?? '{}') ?? {}) as JsonObject
        instances.set(name, attributes)
        return attributes
      },
    },
  )
}

export function nameOf({ type, key }: Lookup): string {
  return JSON.stringify([type, key])
}
