/**
 * Folds the rules of a plan for all tenants and stored instances, and combines the results (filter.md P32 to
 * P36). Tenants with equal results share one branch. Instances with equal results also share one.
 */
import {
  amongKeys,
  and,
  disjunctsOf,
  type Formula,
  notAmongKeys,
  Obstacle,
  or,
  textOf,
} from '#conditions/plan/formula.ts'
import { KEY_COLUMN, type RowSources } from '#conditions/plan/plan-values.ts'
import { EvaluationBudget } from '#conditions/values/evaluation-budget.ts'
import { memberOf } from '#conditions/values/values.ts'
import type { PlanFacts, PlannedSides, PlanReader } from '#engine/plan-reads.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { PLAN_STEPS_MAX } from '#model/limits.ts'
import { NodeCount, Pauses } from './disjuncts.ts'
import type { PlannedQuestion } from './planned-question.ts'
import type { RowSpace } from './row-spaces.ts'
import { RuleReads } from './rule-reads.ts'
import { KeyList, parsed, type TenantRuleParts, scanOf, TenantRules } from './tenant-rules.ts'

/** The rules of a plan as a formula, and the tenants in which it can be true; null stands for all. */
export interface RuledRows {
  /** Formula for rows without a tenant mismatch. */
  readonly formula: Formula
  /** Formula for rows whose stored instances decide; it contains the tenants of these instances. */
  readonly ofInstances: Formula
  readonly tenants: ReadonlySet<string> | null
}

const NO_ROWS: RuledRows = { formula: false, ofInstances: false, tenants: new Set() }

/** Instances of one tenant with one result. */
interface Branch {
  readonly tenant: string
  readonly formula: Formula
  readonly keys: KeyList
}

/** Tenants with equal results. */
interface TenantGroup {
  readonly rules: TenantRules
  readonly tenants: string[]
  /** Instances with another result than rows that are not stored, by tenant and result. */
  readonly branches: Map<string, Branch>
}

export class PlannedRules {
  readonly #question: PlannedQuestion
  readonly #space: RowSpace
  readonly #parts: TenantRuleParts
  readonly #reads: RuleReads
  readonly #rules: readonly PlannedSides[]
  readonly #nodes = new NodeCount()

  constructor(
    rules: readonly PlannedSides[],
    parts: {
      readonly question: PlannedQuestion
      readonly facts: PlanFacts
      readonly reader: PlanReader
      readonly space: RowSpace
      readonly columns: RowSources['columns']
      readonly changesAt: (time: number) => void
    },
  ) {
    const { question, facts, reader, space, columns, changesAt } = parts
    // Whether request attributes are too large matters only if a condition reads them.
    const isRead = new RuleReads({ sent: null, columns })
    for (const rule of rules) isRead.add(rule)
    const sent = isRead.readsResource ? question.queryContext.sent().resource : null
    const reads = sent === null ? isRead : new RuleReads({ sent, columns })
    if (reads !== isRead) for (const rule of rules) reads.add(rule)
    this.#question = question
    this.#space = space
    this.#rules = rules
    this.#reads = reads
    this.#parts = {
      question,
      facts,
      reader,
      budget: new EvaluationBudget(PLAN_STEPS_MAX, Infinity),
      row: { type: question.type, sent, columns },
      scanned: reads.scanned,
      changesAt,
      pauses: new Pauses(),
      scan: { count: 0 },
    }
  }

  *rows(): Resumable<RuledRows> {
    if (this.#rules.length === 0) return NO_ROWS
    const { facts, changesAt } = this.#parts
    if (this.#reads.readsAnyRoles && facts.rolesEnd !== null) changesAt(facts.rolesEnd)
    const groups = yield* this.#groups()
    const isNeeded = groups.some(({ rules }) => rules.hasScan)
    if (isNeeded) yield* this.#scan(groups)
    const formulas: Formula[] = []
    const ofInstances: Formula[] = []
    const tenants = new Set<string>()
    let isForAll = false
    for (const group of groups) {
      const { open, listed } = yield* this.#combined(group, groups.length === 1)
      formulas.push(open)
      ofInstances.push(listed)
      if (open === false) continue
      if (group.tenants.length === 0) isForAll = true
      for (const tenant of group.tenants) tenants.add(tenant)
    }
    return { formula: or(formulas), ofInstances: or(ofInstances), tenants: isForAll ? null : tenants }
  }

  /**
   * Folds the rules for each tenant that they distinguish. If they distinguish none, the only group has no
   * list of tenants.
   */
  *#groups(): Resumable<readonly TenantGroup[]> {
    const { question, facts } = this.#parts
    const { readsRoles, readsTenant } = this.#reads
    if (question.tenant === null && !readsRoles && !readsTenant) {
      const rules = new TenantRules(this.#parts, '')
      yield* rules.begin(this.#rules)
      return [{ rules, tenants: [], branches: new Map() }]
    }
    const known = new Map<string, TenantGroup>()
    const groups = new Map<string, TenantGroup>()
    for (const tenant of yield* this.#space.tenants()) {
      const roles = readsRoles ? (facts.userRoles.get(tenant) ?? []) : null
      const signature = JSON.stringify([roles, readsTenant ? tenant : null])
      let group = known.get(signature)
      if (group === undefined) {
        const rules = new TenantRules(this.#parts, tenant)
        yield* rules.begin(this.#rules)
        // An instance is folded with the rules of its tenant.
        const name = rules.hasScan ? signature : rules.text
        group = groups.get(name)
        if (group === undefined) {
          this.#nodes.add(rules.base, 'nodes')
          groups.set(name, (group = { rules, tenants: [], branches: new Map() }))
        }
        known.set(signature, group)
      }
      group.tenants.push(tenant)
    }
    return [...groups.values()]
  }

  /** Folds the rules for each stored instance. */
  *#scan(groups: readonly TenantGroup[]): Resumable<void> {
    const { question } = this.#parts
    const only = groups.length === 1 && groups[0]!.tenants.length === 0 ? groups[0]! : null
    const byTenant = new Map(groups.flatMap(group => group.tenants.map(tenant => [tenant, group] as const)))
    const names = [...this.#reads.names]
    const { next } = yield* scanOf(this.#parts, question.type)
    for (let batch = next(); batch !== null; batch = next()) {
      for (const { tenant, key, attributes } of batch) {
        const group = only ?? byTenant.get(tenant)
        if (group === undefined || attributes === null || !group.rules.hasScan) continue
        const stored = parsed(attributes)!
        if (!names.some(name => memberOf(stored, name) !== undefined)) continue
        const formula = yield* group.rules.ofInstance(stored, names)
        if (textOf(formula) === textOf(group.rules.open)) continue
        const name = JSON.stringify([tenant, textOf(formula)])
        let branch = group.branches.get(name)
        if (branch === undefined) {
          this.#nodes.add(formula, 'stored_attributes')
          branch = { tenant, formula, keys: new KeyList(question.idsMax) }
          group.branches.set(name, branch)
        }
        branch.keys.add(key)
      }
      yield
    }
  }

  /** Combines the results of a group. `isOnly` states that there is no other group. */
  *#combined(
    { rules, tenants, branches }: TenantGroup,
    isOnly: boolean,
  ): Resumable<{ readonly open: Formula; readonly listed: Formula }> {
    const all = [...branches.values()]
    const shared = sharedBy([rules.open, ...all.map(({ formula }) => formula)])
    const common = or([rules.base, ...shared])
    const open = without(rules.open, shared)
    const formula = or([common, and([open, this.#outside(all)])])
    const listed = all.map(({ tenant, formula: ofKeys, keys }) =>
      and([this.#space.rowsOfInstancesIn(tenant), inBranch(keys), without(ofKeys, shared)]),
    )
    if (formula === false) return { open: false, listed: or(listed) }
    return { open: and([formula, yield* this.#space.rows(tenants, isOnly)]), listed: or(listed) }
  }

  /** Returns a formula for rows that are not in a branch. */
  #outside(branches: readonly Branch[]): Formula {
    const keys = new KeyList(this.#question.idsMax)
    for (const branch of branches) {
      if (branch.keys.keys === null) keys.keys = null
      for (const key of branch.keys.keys ?? []) keys.add(key)
    }
    return keys.keys === null ? TOO_MANY : notAmongKeys(KEY_COLUMN, keys.keys, 'stored_attributes')
  }
}

const TOO_MANY = new Obstacle({ kind: 'too-large', field: 'key', source: 'stored_attributes' })

function inBranch({ keys }: KeyList): Formula {
  return keys === null ? TOO_MANY : amongKeys(KEY_COLUMN, keys, 'stored_attributes')
}

/** Returns the formulas that are among the disjuncts of all formulas. */
function sharedBy(formulas: readonly Formula[]): readonly Formula[] {
  const [first, ...others] = formulas
  const texts = others.map(formula => new Set(disjunctsOf(formula).map(textOf)))
  return disjunctsOf(first!).filter(each => texts.every(known => known.has(textOf(each))))
}

function without(formula: Formula, omitted: readonly Formula[]): Formula {
  const texts = new Set(omitted.map(textOf))
  return or(disjunctsOf(formula).filter(each => !texts.has(textOf(each))))
}
