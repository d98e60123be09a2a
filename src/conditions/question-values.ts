/**
 * What conditions see of one question (conditions.md 4.1): what the service computes itself, which nobody can override, then
 * what was sent, then what is stored. Everything is looked up when a condition first asks for it.
 */
import { type Circumstances, NOTHING_SENT, type SentAttributes } from '#model/decision.ts'
import type { QuestionValues } from './evaluate.ts'
import type { EvaluationBudget } from './evaluation-budget.ts'
import { mergedValueAt } from './merged-attributes.ts'
import type { Path, Root } from './paths.ts'
import type { JsonObject } from './values.ts'

/** What stands of the things a question names, as far as they stand. */
export interface StoredValues {
  /** The tenant roles assigned to the user in the question's tenant, ascending. */
  userRoles(): readonly string[]
  /** The tenants in which the user has a tenant role, ascending. */
  userTenants(): readonly string[]
  userAttributes(): JsonObject | null
  instanceAttributes(): JsonObject | null
  tenantAttributes(): JsonObject | null
  /** Of another instance of the question's tenant; `undefined`: there is none. */
  attributesOf(type: string, key: string, budget: EvaluationBudget): JsonObject | undefined
}

/** A question with its tenant decided (native.md A.2). */
export interface QuestionInTenant {
  /** `null`, as the type: the question is not about any, as where a set is tried by itself. */
  readonly user: string | null
  readonly type: string | null
  readonly key: string | null
  readonly tenant: string
  readonly circumstances?: Circumstances | undefined
}

export class ValuesOfQuestion implements QuestionValues {
  readonly #question: QuestionInTenant
  readonly #stored: StoredValues
  readonly #layers = new Map<Root, readonly JsonObject[]>()
  /** By path: a thousand tests may read an object that several sources say. */
  readonly #known = new Map<string, unknown>()
  #sent: SentAttributes | null = null

  constructor(question: QuestionInTenant, stored: StoredValues) {
    this.#question = question
    this.#stored = stored
  }

  valueOf({ root, names, text }: Path): unknown {
    if (this.#known.has(text)) return this.#known.get(text)
    let layers = this.#layers.get(root)
    if (layers === undefined) {
      layers = this.#layersOf(root).filter(layer => layer !== null)
      this.#layers.set(root, layers)
    }
    const value = mergedValueAt(layers, names)
    this.#known.set(text, value)
    return value
  }

  attributesOf(type: string, key: string, budget: EvaluationBudget): JsonObject | undefined {
    return this.#stored.attributesOf(type, key, budget)
  }

  /** The first wins. */
  #layersOf(root: Root): readonly (JsonObject | null)[] {
    const { user, type, key, tenant, circumstances } = this.#question
    switch (root) {
      case 'user': {
        const held = { roles: this.#stored.userRoles(), tenants: this.#stored.userTenants() }
        const computed = user === null ? held : { key: user, ...held }
        return [computed, this.#sentAttributes().user, this.#stored.userAttributes()]
      }
      case 'resource': {
        const computed = { ...(type !== null && { type }), tenant, ...(key !== null && { key }) }
        const otherwise = key === null ? null : { id: key }
        return [computed, this.#sentAttributes().resource, this.#stored.instanceAttributes(), otherwise]
      }
      case 'tenant': {
        // Of a tenant in which the user has no role its attributes are not told.
        const isAtHome = this.#stored.userRoles().length > 0
        return [
          { key: tenant },
          this.#sentAttributes().tenant,
          isAtHome ? this.#stored.tenantAttributes() : null,
        ]
      }
      case 'context':
        return [this.#sentAttributes().context]
      case 'server':
        return circumstances ? [{ time: new Date(circumstances.readAt).toISOString() }] : []
    }
  }

  #sentAttributes(): SentAttributes {
    this.#sent ??= this.#question.circumstances?.sent() ?? NOTHING_SENT
    return this.#sent
  }
}
