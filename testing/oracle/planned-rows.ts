/**
 * Rows of random plans: their columns, the premises of filter.md P20 to P22, and the decision of the oracle.
 */
import type { Change } from '#model/change.ts'
import { DEFAULT_TENANT, type Query } from '#model/decision.ts'
import type { CurrentFacts } from './current-facts.ts'
import type { FilterRow } from './filters.ts'
import { Oracle } from './oracle.ts'
import type { PlanWords, RowWords } from './random-plans.ts'

/** The columns of a row by their fields. */
export function cellsOf(question: PlanWords, row: RowWords): FilterRow {
  const { attributes, relations, hasTenantColumn } = question
  return {
    key: row.key,
    ...(hasTenantColumn && { tenant: row.tenant }),
    ...Object.fromEntries(attributes.map(({ name }) => [`attributes.${name}`, row.values[name]])),
    ...Object.fromEntries(
      relations.map(({ relation }) => [`relations.${relation}`, row.subjects[relation] ?? null]),
    ),
  }
}

/** The check of a row (filter.md P18). */
function checkOf(question: PlanWords, row: RowWords, readAt: number): Query {
  const { user, action, type, tenant, hasTenantColumn, attributes, sent } = question
  const ofColumns = attributes
    .filter(({ name, nulls }) => row.values[name] !== null || nulls === 'sent')
    .map(({ name }) => [name, row.values[name]] as const)
  const resource = { ...sent.resource, ...Object.fromEntries(ofColumns) }
  return {
    user,
    action,
    type,
    key: row.key,
    tenant: tenant ?? (hasTenantColumn ? row.tenant : null),
    queryContext: { readAt, sent: () => ({ ...sent, resource, tenant: null }) },
  }
}

/**
 * Returns the row with the relations of the stored instance, if it is stored. Returns null if the row
 * violates a premise (filter.md P20 to P22).
 */
export function storedRow(question: PlanWords, words: RowWords, facts: CurrentFacts): RowWords | null {
  const { type, relations, tenantsAgree } = question
  const stored = facts.instance({ type, key: words.key })
  const tenant = tenantOf(question, words, facts)
  const row =
    stored === undefined
      ? words
      : {
          ...words,
          subjects: Object.fromEntries(
            relations.map(({ relation }) => [
              relation,
              subjectsOf(facts, type, words.key, relation)[0] ?? null,
            ]),
          ),
        }
  if (stored !== undefined) {
    const isOne = relations.every(({ relation }) => subjectsOf(facts, type, words.key, relation).length < 2)
    if (!isOne) return null
  }
  if (!tenantsAgree) return row
  if (stored !== undefined && stored.tenant !== tenant) return null
  if (!facts.tenants.some(each => each.tenant === tenant)) return null
  const isAtHome = relations.every(({ relation }) => {
    const subject = row.subjects[relation] ?? null
    const subjectType = subjectTypeOf(facts, type, relation)
    const instance = subject === null ? undefined : facts.instance({ type: subjectType, key: subject })
    return instance === undefined || instance.tenant === tenant
  })
  return isAtHome ? row : null
}

function tenantOf({ tenant, hasTenantColumn, type }: PlanWords, row: RowWords, facts: CurrentFacts): string {
  const stored = facts.instance({ type, key: row.key })
  return tenant ?? (hasTenantColumn ? row.tenant : (stored?.tenant ?? DEFAULT_TENANT))
}

function subjectTypeOf(facts: CurrentFacts, type: string, relation: string): string {
  return facts.relations.find(each => each.type === type && each.relation === relation)?.subjectType ?? ''
}

function subjectsOf({ tuples }: CurrentFacts, type: string, key: string, relation: string): string[] {
  return tuples
    .filter(each => each.object.type === type && each.object.key === key && each.relation === relation)
    .map(({ subject }) => subject.key)
}

/** Decides checks of rows with the oracle. */
export class RowChecks {
  readonly #changes: readonly Change[]
  readonly #facts: CurrentFacts
  readonly #oracle = new Oracle()

  constructor(changes: readonly Change[], facts: CurrentFacts) {
    this.#changes = changes
    this.#facts = facts
    this.#oracle.apply(changes)
  }

  isAllowed(question: PlanWords, row: RowWords, readAt: number): boolean {
    if (question.tenant !== null && question.hasTenantColumn && row.tenant !== question.tenant) return false
    return this.#oracleFor(question, row).evaluate(checkOf(question, row, readAt))
  }

  /** For a row that is not stored: as if its tuples were stored in the tenant of the row. */
  #oracleFor(question: PlanWords, row: RowWords): Oracle {
    const { type, relations } = question
    const facts = this.#facts
    const tenant = tenantOf(question, row, facts)
    const isKnown = facts.tenants.some(each => each.tenant === tenant)
    if (facts.instance({ type, key: row.key }) !== undefined || !isKnown) return this.#oracle
    const object = { type, key: row.key }
    const tuples = relations.flatMap(({ relation }): Change[] => {
      const subject = { type: subjectTypeOf(facts, type, relation), key: row.subjects[relation] ?? '' }
      return facts.instance(subject)?.tenant === tenant
        ? [{ kind: 'tuple-put', subject, relation, object }]
        : []
    })
    if (tuples.length === 0) return this.#oracle
    const oracle = new Oracle()
    oracle.apply(this.#changes)
    oracle.apply([{ kind: 'instance-put', instance: object, tenant, attributes: null }, ...tuples])
    return oracle
  }
}
