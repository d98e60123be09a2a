/**
 * The decision by rules, of a question that roles deny (conditions, section 6), in two steps. What is stored of the things it names is
 * gathered while the index is read, at the state at which roles denied it. Conditions are evaluated afterwards, of what was gathered:
 * they may take longer than any state lasts, and nobody who writes waits for them.
 */
import { evaluate, type QuestionValues } from '#conditions/evaluate.ts'
import { EvaluationBudget } from '#conditions/evaluation-budget.ts'
import { ValuesOfQuestion } from '#conditions/question-values.ts'
import { TRUE } from '#conditions/truth.ts'
import type { JsonObject } from '#conditions/values.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { attributesText, isDead, keyText } from '#engine/shared-index/memory/records.ts'
import type { Regions } from '#engine/shared-index/memory/regions.ts'
import type { PermissionRules, SetView } from '#engine/shared-index/rules/rule-unit.ts'
import { bankOf, lineOfBank, tenantAt } from '#engine/shared-index/schema/annexes.ts'
import type { SchemaView } from '#engine/shared-index/schema/schema-view.ts'
import { assignmentsOf, maskAt, roleIndexesIn } from '#engine/shared-index/search/holdings.ts'
import type { Query } from '#model/decision.ts'
import { compareUtf8 } from '#model/utf8-order.ts'

/** Lines of what a question names; 0 where the name is unknown. The tenant is known. */
export interface NamedLines {
  readonly user: number
  readonly instance: number
  readonly tenant: number
}

/** An instance that conditions look up, by its names. */
export interface Lookup {
  readonly type: string
  readonly key: string
}

/** What is stored, as texts of JSON: nothing of it is parsed before a condition asks. */
export interface GatheredValues {
  readonly query: Query
  readonly rules: PermissionRules
  readonly tenant: string
  readonly userRoles: readonly string[]
  readonly userTenants: readonly string[]
  readonly userText: string | null
  readonly instanceText: string | null
  readonly tenantText: string | null
  /** Instances that were known to be looked up. */
  readonly lookups: readonly Lookup[]
  /** What was found of them. `undefined`: no such instance in the tenant. */
  readonly found: ReadonlyMap<string, string | null | undefined>
}

/** Reads without the lock: what is gathered counts only after validation. O(roles of tenants + bytes of attributes). */
export function gather(
  { regions, schema }: { readonly regions: Regions; readonly schema: SchemaView },
  {
    query,
    rules,
    lines,
  }: { readonly query: Query; readonly rules: PermissionRules; readonly lines: NamedLines },
  lookUp: (lookup: Lookup) => number,
  lookups: readonly Lookup[],
): GatheredValues {
  const { graph } = regions
  const { user, instance, tenant } = lines
  const found = new Map<string, string | null | undefined>()
  for (const lookup of lookups) {
    const line = lookUp(lookup)
    const isThere = line !== 0 && graph[(line << L.LINE_WORDS_LOG2) + L.I_TENANT] === tenant
    found.set(nameOf(lookup), isThere ? attributesText(graph, line) : undefined)
  }
  return {
    query,
    rules,
    tenant: keyText(graph, tenant),
    userRoles: user === 0 ? [] : rolesIn(graph, schema, user, tenant),
    userTenants: user === 0 || !rules.readsTenants ? [] : tenantsOf(regions, schema, user),
    userText: user === 0 ? null : attributesText(graph, user),
    instanceText: instance === 0 ? null : attributesText(graph, instance),
    tenantText: attributesText(graph, tenant),
    lookups,
    found,
  }
}

/** What rules say of a question; or which instances have to be looked up before they can say it. */
export type RuledOutcome = boolean | { readonly lookups: readonly Lookup[] }

/** Throws what is wrong with the attributes that were sent, where a condition asks for them. */
export function decideByRules(gathered: GatheredValues): RuledOutcome {
  return new RuledQuestion(gathered).decide()
}

class RuledQuestion {
  readonly #gathered: GatheredValues
  readonly #values: QuestionValues
  readonly #budget = new EvaluationBudget()
  /** By number of the set: whether it matches. */
  readonly #matches = new Map<number, boolean>()
  /** Looked up in vain, as nobody knew that they would be. */
  readonly #missing = new Map<string, Lookup>()

  constructor(gathered: GatheredValues) {
    this.#gathered = gathered
    const { query, tenant, userRoles, userTenants, userText, instanceText, tenantText } = gathered
    this.#values = new ValuesOfQuestion(
      { ...query, tenant },
      {
        userRoles: () => userRoles,
        userTenants: () => userTenants,
        userAttributes: () => parsed(userText),
        instanceAttributes: () => parsed(instanceText),
        tenantAttributes: () => parsed(tenantText),
        attributesOf: (type, key) => this.#attributesOf({ type, key }),
      },
    )
  }

  decide(): RuledOutcome {
    const { query, userRoles, rules } = this.#gathered
    const isAllowed = rules.rules.some(
      ({ user, resource }) =>
        (typeof user === 'string' ? userRoles.includes(user) : this.#holds(user)) &&
        (resource === null || (resource.types.every(type => type === query.type) && this.#holds(resource))),
    )
    // What was missing was taken for unknown, which allows nothing that it would not allow when it is known.
    if (isAllowed || this.#missing.size === 0) return isAllowed
    return { lookups: [...this.#missing.values()] }
  }

  #holds({ number, conditions }: SetView): boolean {
    let holds = this.#matches.get(number)
    if (holds === undefined) {
      holds =
        conditions !== null && conditions.every(each => evaluate(each, this.#values, this.#budget) === TRUE)
      this.#matches.set(number, holds)
    }
    return holds
  }

  #attributesOf(lookup: Lookup): JsonObject | undefined {
    const name = nameOf(lookup)
    const { found } = this.#gathered
    if (!found.has(name)) {
      this.#missing.set(name, lookup)
      return undefined
    }
    const text = found.get(name)
    return text === undefined ? undefined : (parsed(text) ?? {})
  }
}

function parsed(text: string | null): JsonObject | null {
  return text === null ? null : (JSON.parse(text) as JsonObject)
}

function nameOf({ type, key }: Lookup): string {
  return JSON.stringify([type, key])
}

/** Keys of the tenant roles assigned to the user there, ascending. O(banks of tenant roles). */
function rolesIn(graph: Int32Array, schema: SchemaView, user: number, tenant: number): string[] {
  const { liveMasks, roleKeys } = schema.tenant
  const roles: string[] = []
  for (const [bank, live] of liveMasks.entries()) {
    const line = live === 0 ? 0 : lineOfBank(graph, tenant, bank)
    if (line === 0) continue
    const mask = maskAt(graph, user, line | (bank << L.BANK_SHIFT)) & live
    for (const place of roleIndexesIn(bank, mask)) roles.push(roleKeys[place] ?? '')
  }
  return roles.toSorted(compareUtf8)
}

/** Keys of the tenants in which the user has a tenant role, ascending. O(the user's assignments). */
function tenantsOf(regions: Regions, schema: SchemaView, user: number): string[] {
  const { graph } = regions
  const tenants = new Set<number>()
  for (const [scope, mask] of assignmentsOf(regions, user)) {
    const head = graph[(scope & L.LINE_MASK) << L.LINE_WORDS_LOG2]!
    if (head >>> L.TYPE_SHIFT !== L.TENANT_TYPE) continue
    const line = tenantAt(graph, scope & L.LINE_MASK)
    const live = mask & (schema.tenant.liveMasks[bankOf(graph, scope)] ?? 0)
    if (live !== 0 && !isDead(graph, line)) tenants.add(line)
  }
  return Array.from(tenants, line => keyText(graph, line)).toSorted(compareUtf8)
}
