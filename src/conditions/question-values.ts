/**
 * Supplies the values that conditions read for one query (conditions.md 4.1). Values that the service
 * computes take precedence, so no caller can override them. They are followed by values from the request, and
 * then by stored values. Each value is looked up when a condition first reads it.
 */
import { type QueryContext, NOTHING_SENT, type SentAttributes } from '#model/decision.ts'
import type { QuestionValues } from './evaluate.ts'
import type { EvaluationBudget } from '#conditions/values/evaluation-budget.ts'
import { mergedValueAt } from './merged-attributes.ts'
import type { Path, Root } from '#conditions/values/paths.ts'
import type { JsonObject } from '#model/json-object.ts'

/** Stored values of the entities that a query names. They are missing if the entities do not exist. */
export interface StoredValues {
  /** Returns the tenant roles assigned to the user in the tenant of the query, in ascending order. */
  userRoles(): readonly string[]
  /** Returns the tenants in which the user has a tenant role, in ascending order. */
  userTenants(): readonly string[]
  userAttributes(): JsonObject | null
  instanceAttributes(): JsonObject | null
  tenantAttributes(): JsonObject | null
  /**
   * Returns the attributes of another instance in the tenant of the query, or `undefined` if the instance
   * does not exist.
   */
  attributesOf(type: string, key: string, budget: EvaluationBudget): JsonObject | undefined
}

/** A query whose tenant has been determined (native.md A.2). */
export interface QuestionInTenant {
  /** User of the query. `user` and `type` can be `null`, for example if a condition set is tested alone. */
  readonly user: string | null
  readonly type: string | null
  readonly key: string | null
  readonly tenant: string
  readonly queryContext?: QueryContext | undefined
}

export class ValuesOfQuestion implements QuestionValues {
  readonly #question: QuestionInTenant
  readonly #stored: StoredValues
  readonly #layers = new Map<Root, readonly JsonObject[]>()
  /**
   * Cache of values by path. A thousand tests might read the same object, which has to be merged from several
   * sources.
   */
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

  /** Returns the sources of the values of a root. The first source takes precedence. */
  #layersOf(root: Root): readonly (JsonObject | null)[] {
    const { user, type, key, tenant, queryContext } = this.#question
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
        // If the user has no role in a tenant, the attributes of the tenant are not visible.
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
        return queryContext ? [{ time: new Date(queryContext.readAt).toISOString() }] : []
    }
  }

  #sentAttributes(): SentAttributes {
    this.#sent ??= this.#question.queryContext?.sent() ?? NOTHING_SENT
    return this.#sent
  }
}
