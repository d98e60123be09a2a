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
import { memberOf } from '#conditions/values/values.ts'
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
  readonly #computed = new Map<Root, JsonObject>()
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
    const value = this.#valueAt(root, names)
    this.#known.set(text, value)
    return value
  }

  #valueAt(root: Root, names: readonly string[]): unknown {
    // A value that the service computes needs no other source, so too large attributes have no effect on it.
    const computed = names.length === 1 ? memberOf(this.#computedOf(root), names[0]!) : undefined
    if (computed !== undefined) return computed
    let layers = this.#layers.get(root)
    if (layers === undefined) {
      layers = this.#layersOf(root).filter(layer => layer !== null)
      this.#layers.set(root, layers)
    }
    return mergedValueAt(layers, names)
  }

  attributesOf(type: string, key: string, budget: EvaluationBudget): JsonObject | undefined {
    return this.#stored.attributesOf(type, key, budget)
  }

  /** Returns the values of a root that the service computes. */
  #computedOf(root: Root): JsonObject {
    let computed = this.#computed.get(root)
    if (computed === undefined) this.#computed.set(root, (computed = this.#compute(root)))
    return computed
  }

  #compute(root: Root): JsonObject {
    const { user, type, key, tenant, queryContext } = this.#question
    switch (root) {
      case 'user': {
        const held = { roles: this.#stored.userRoles(), tenants: this.#stored.userTenants() }
        return user === null ? held : { key: user, ...held }
      }
      case 'resource':
        return { ...(type !== null && { type }), tenant, ...(key !== null && { key }) }
      case 'tenant':
        return { key: tenant }
      case 'context':
        return {}
      case 'server':
        return queryContext ? { time: new Date(queryContext.readAt).toISOString() } : {}
    }
  }

  /** Returns the sources of the values of a root. The first source takes precedence. */
  #layersOf(root: Root): readonly (JsonObject | null)[] {
    const computed = this.#computedOf(root)
    switch (root) {
      case 'user':
        return [computed, this.#sentAttributes().user, this.#stored.userAttributes()]
      case 'resource': {
        const { key } = this.#question
        const otherwise = key === null ? null : { id: key }
        return [computed, this.#sentAttributes().resource, this.#stored.instanceAttributes(), otherwise]
      }
      case 'tenant': {
        // If the user has no role in a tenant, the attributes of the tenant are not visible.
        const isAtHome = this.#stored.userRoles().length > 0
        return [computed, this.#sentAttributes().tenant, isAtHome ? this.#stored.tenantAttributes() : null]
      }
      case 'context':
        return [this.#sentAttributes().context]
      case 'server':
        return [computed]
    }
  }

  #sentAttributes(): SentAttributes {
    this.#sent ??= this.#question.queryContext?.sent() ?? NOTHING_SENT
    return this.#sent
  }
}
