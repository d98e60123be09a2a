/**
 * Computes one plan from the reads of one state (filter.md P24 to P37): a formula that is true for the rows
 * for which a check allows. It combines tenant roles, roles on instances, derivations over columns and rules.
 */
import { amongKeys, and, Column, type Formula, notAmongKeys, Obstacle, or } from '#conditions/plan/formula.ts'
import { type AttributeColumn, KEY_COLUMN } from '#conditions/plan/plan-values.ts'
import { earliest } from '#conditions/plan/time-changes.ts'
import type { InstanceKeys, PlanFacts, PlanReader, RelationSubjects } from '#engine/plan-reads.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { FILTER_NODES_MAX, PLAN_TENANTS_MAX } from '#model/limits.ts'
import { answerOf } from './plan-answer.ts'
import { tooCostly, tooManyNodes, unknownRelation } from './plan-errors.ts'
import type { PlanAnswer, PlannedQuestion } from './planned-question.ts'
import { PlannedRules } from './planned-rules.ts'
import { allOf, inKeys, RowSpace } from './row-spaces.ts'

/** A formula, and the tenants in which it can be true; null stands for all. */
interface InTenants {
  readonly formula: Formula
  readonly tenants: Iterable<string> | null
}

export class Planner {
  readonly #reader: PlanReader
  readonly #question: PlannedQuestion
  #expiresAt: number | null = null

  constructor(reader: PlanReader, question: PlannedQuestion) {
    this.#reader = reader
    this.#question = question
  }

  *plan(): Resumable<PlanAnswer> {
    const { user, action, type, tenant, relations, idsMax } = this.#question
    const question = { user, action, type, tenant, relations, keysMax: idsMax }
    const facts = yield* this.#reader.facts(question)
    const { isTypeDeclared, isActionDeclared, isTenantStored } = facts
    if (isTypeDeclared && facts.unknownRelation !== null) throw unknownRelation(type, facts.unknownRelation)
    const isDenied = !isTypeDeclared || !isActionDeclared || (tenant !== null && !isTenantStored)
    const formula = isDenied ? false : yield* this.#formula(facts)
    return answerOf(formula, idsMax, this.#expiresAt)
  }

  *#formula(facts: PlanFacts): Resumable<Formula> {
    const { tenant } = this.#question
    const space = new RowSpace(this.#question, this.#reader, facts.isTenantStored)
    if (facts.factsEnd !== null) this.#changesAt(facts.factsEnd)
    if (tenant !== null && facts.grantingTenants.length > 0) {
      return space.within(yield* space.withoutMismatch(true, null))
    }
    const rules = new PlannedRules(yield* this.#reader.rules(), {
      question: this.#question,
      facts,
      reader: this.#reader,
      space,
      columns: this.#columns(),
      changesAt: time => this.#changesAt(time),
    })
    const ruled = yield* rules.rows()
    const derived = yield* this.#relatedRows(facts, space)
    const granted = yield* space.rows(facts.grantingTenants)
    const tenants =
      ruled.tenants === null || derived.tenants === null
        ? null
        : new Set([...ruled.tenants, ...derived.tenants, ...facts.grantingTenants])
    const others = yield* space.withoutMismatch(or([granted, derived.formula, ruled.formula]), tenants)
    if (others === true) return space.within(true)
    return space.within(or([this.#instances(facts.instances, space), ruled.ofInstances, others]))
  }

  #changesAt(time: number): void {
    this.#expiresAt = earliest(this.#expiresAt, time)
  }

  #columns(): ReadonlyMap<string, AttributeColumn> {
    return new Map(
      this.#question.attributes.map(({ name, type, nulls }) => {
        const column = new Column(`attributes.${name}`, type, nulls !== 'never')
        return [name, { column, nulls }] as const
      }),
    )
  }

  /** Returns a formula for the stored instances on which roles allow the action. */
  #instances(keys: InstanceKeys, space: RowSpace): Formula {
    if (space.isTenantImplied) return inKeys(KEY_COLUMN, 'instance_roles', keys, allOf(keys))
    if (!keys.isWhole) return inKeys(KEY_COLUMN, 'instance_roles', keys, [])
    requireFewTenants(keys.byTenant.size)
    return or(
      Array.from(keys.byTenant, ([tenant, ofTenant]) =>
        and([space.rowsOfInstancesIn(tenant), amongKeys(KEY_COLUMN, ofTenant, 'instance_roles')]),
      ),
    )
  }

  /** Returns a formula for the rows whose relation columns name instances with a sufficient role. */
  *#relatedRows({ subjects, direct }: PlanFacts, space: RowSpace): Resumable<InTenants> {
    if (subjects.length === 0) return { formula: false, tenants: [] }
    const incomplete = subjects.find(({ keys }) => !keys.isWhole)
    if (space.isJoint || incomplete !== undefined) {
      const formulas = subjects.map(each => related(each, allOf(each.keys), direct, allOf(direct)))
      return { formula: or(formulas), tenants: null }
    }
    const tenants = new Set(subjects.flatMap(({ keys }) => [...keys.byTenant.keys()]))
    const formulas: Formula[] = []
    let read = 0
    for (const tenant of tenants) {
      read += 1
      if (read > PLAN_TENANTS_MAX) throw tooCostly('tenants', PLAN_TENANTS_MAX)
      const rows = yield* space.rows([tenant])
      // Without a tenant column, a tenant without stored instances of the type has no rows.
      if (rows === false) continue
      const ofTenant = subjects.map(each =>
        related(each, each.keys.byTenant.get(tenant) ?? [], direct, direct.byTenant.get(tenant) ?? []),
      )
      formulas.push(and([or(ofTenant), rows]))
      requireFewTenants(formulas.length)
    }
    return { formula: or(formulas), tenants }
  }
}

/** `count`: tenants that have at least one node, which is never merged with that of another tenant. */
function requireFewTenants(count: number): void {
  if (count > FILTER_NODES_MAX) throw tooManyNodes('nodes', FILTER_NODES_MAX)
}

function related(
  { relation, isGuarded, keys }: RelationSubjects,
  subjects: readonly string[],
  direct: InstanceKeys,
  blocked: readonly string[],
): Formula {
  const column = new Column(`relations.${relation}`, 'string', true)
  const formula = inKeys(column, 'relation_subjects', keys, subjects)
  if (!isGuarded) return formula
  const unblocked = direct.isWhole
    ? notAmongKeys(KEY_COLUMN, blocked, 'instance_roles')
    : new Obstacle({ kind: 'too-large', field: 'key', source: 'instance_roles' })
  return and([formula, unblocked])
}
