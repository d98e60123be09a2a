/**
 * Compiles condition sets and rules into the unit that readers use (`rule-code.ts`), in steps, on the writer
 * thread. The unit is kept and modified in place, so the cost of adding a rule does not depend on the number
 * of rules.
 */
import { lengthsOf } from '#engine/shared-index/memory/packed-arrays.ts'
import { ValueWords } from '#engine/shared-index/memory/values.ts'
import type { ConditionSetPut } from '#model/change.ts'
import { PermissionHashes } from './permission-hashes.ts'
import { Program, ProgramRow } from './program.ts'
import { UNIT } from './rule-code.ts'
import type { RuleJournal, CurrentRule } from './rule-journal.ts'
import { RuleDescriber, RulePlan } from './rule-plan.ts'
import { isPlannedAlike, type SetCode, SetCompiler } from './set-code.ts'

/** Number of rules that are processed per step. A step takes some tenths of a millisecond. */
const RULES_A_STEP = 256

/** Data that a compilation needs in addition to the changes. */
export interface RuleCompilationContext {
  roleIndexOf(role: string): number
  /** Returns the rules that use the set or a set below it. */
  rulesBelow(set: string): Iterable<CurrentRule>
  /** A number that no published unit has used as its numbering. */
  readonly stamp: number
}

/** Changed rules of one permission. */
interface PlanChanges {
  readonly removed: Set<CurrentRule>
  /** Rules that remain but whose sets have changed. */
  readonly changed: Set<CurrentRule>
  readonly added: Set<CurrentRule>
}

/** The unit that is kept and modified. All its paths, tests and sets have one numbering. */
class Compiled {
  readonly program = new Program()
  readonly texts = new Program()
  readonly sets = new SetCompiler(this.program, this.texts)
  readonly plans = new Map<string, { readonly number: number; readonly plan: RulePlan }>()
  readonly hashes = new PermissionHashes()
  readonly permissionFrom = new ProgramRow()
  readonly planFrom = new ProgramRow()
  readonly freeNumbers: number[] = []
  readonly stamp: number

  constructor(stamp: number) {
    this.stamp = stamp
  }

  /** Returns whether a newly created unit would be much smaller. */
  get isWasteful(): boolean {
    return this.sets.isWasteful || this.program.isWasteful || this.texts.isWasteful
  }

  settle(): void {
    for (const each of [this.program, this.texts]) each.settle()
  }

  /** Returns the plan of a permission. Creates the plan if the permission has none. */
  planOf(permission: string): RulePlan {
    const known = this.plans.get(permission)
    if (known !== undefined) return known.plan
    const number = this.freeNumbers.pop() ?? this.permissionFrom.length
    const plan = new RulePlan(this.program, this.texts)
    const text = new ValueWords()
    text.length = 0
    text.json(permission)
    this.permissionFrom.set(number, this.program.add(text.words.subarray(0, text.length)))
    this.planFrom.set(number, plan.at)
    this.plans.set(permission, { number, plan })
    this.hashes.add(permission, number)
    return plan
  }

  dropPlan(permission: string): void {
    const { number, plan } = this.plans.get(permission)!
    plan.end()
    this.program.free(this.permissionFrom.get(number))
    for (const from of [this.permissionFrom, this.planFrom]) from.set(number, 0)
    this.plans.delete(permission)
    this.hashes.remove(permission, number)
    this.freeNumbers.push(number)
  }

  /** Returns the packed arrays of the unit. The next compilation modifies them. */
  pieces(): readonly Int32Array[] {
    const arrays: Int32Array[] = []
    arrays[UNIT.permissionHashes] = this.hashes.words()
    arrays[UNIT.permissionFrom] = this.permissionFrom.used
    arrays[UNIT.planFrom] = this.planFrom.used
    arrays[UNIT.pathFrom] = this.sets.pathFrom.used
    arrays[UNIT.leafFrom] = this.sets.leafFrom.used
    arrays[UNIT.setFrom] = this.sets.setFrom.used
    arrays[UNIT.setParent] = this.sets.setParent.used
    arrays[UNIT.program] = this.program.used
    arrays[UNIT.setText] = this.sets.setText.used
    arrays[UNIT.numbering] = Int32Array.of(this.stamp)
    arrays[UNIT.texts] = this.texts.used
    return [lengthsOf(arrays), ...arrays]
  }
}

export class RuleCompiler {
  #compiled: Compiled | null = null
  /** Sets that have changed since the last compilation. Null means that the set was removed. */
  readonly #sets = new Map<string, ConditionSetPut | null>()
  #rules = 0
  /** Numbers of sets parsed and rules planned so far, for tests and statistics. */
  setsRead = 0
  rulesPlanned = 0;

  /**
   * Applies the changes of the journal to the unit, in steps. Returns the pieces of the unit, which the next
   * compilation modifies; returns no pieces if there are no rules. O(changes), plus copying the words of the
   * unit. If the code or a lookup of a set changes, all rules that use the set are planned again.
   */
  *compile(journal: RuleJournal, context: RuleCompilationContext): Generator<void, readonly Int32Array[]> {
    for (const [key, put] of journal.sets) this.#sets.set(key, put)
    for (const isAdded of journal.rules.values()) this.#rules += isAdded ? 1 : -1
    // Without rules, sets do not affect decisions and are not compiled.
    if (this.#rules === 0 && this.#compiled === null) return []
    const changes = new Map<string, PlanChanges>()
    yield* noteRules(changes, journal)
    const isRenewed = this.#compiled === null || this.#compiled.isWasteful
    if (isRenewed) this.#compiled = yield* this.#renewed(changes, context.stamp)
    const compiled = this.#compiled!
    // Removes the deleted rules from the plans first, while the sets of these rules still have their numbers.
    yield* this.#plan(compiled, changes, null)
    yield* this.#compileSets(compiled, changes, context)
    yield* this.#plan(compiled, changes, new RuleDescriber(compiled.sets, context.roleIndexOf))
    if (isRenewed) compiled.settle()
    return this.#rules === 0 ? [] : compiled.pieces()
  }

  /** Creates a new unit. All existing sets are then compiled and all existing rules planned again. */
  *#renewed(changes: Map<string, PlanChanges>, stamp: number): Generator<void, Compiled> {
    const old = this.#compiled
    if (old === null) return new Compiled(stamp)
    for (const put of old.sets.puts()) if (!this.#sets.has(put.set)) this.#sets.set(put.set, put)
    for (const [permission, { plan }] of old.plans) {
      const { removed, added } = changesOf(changes, permission)
      const later = [...added]
      added.clear()
      for (const rule of plan.rules()) if (!removed.has(rule)) added.add(rule)
      for (const rule of later) added.add(rule)
      removed.clear()
      yield
    }
    return new Compiled(stamp)
  }

  *#compileSets(
    { sets }: Compiled,
    changes: Map<string, PlanChanges>,
    { rulesBelow }: RuleCompilationContext,
  ): Generator<void> {
    const codes: SetCode[] = []
    const changed: string[] = []
    for (const [key, put] of this.#sets) {
      if (put === null) {
        sets.remove(key)
        continue
      }
      const before = sets.get(key)
      const code = sets.put(put)
      this.setsRead += 1
      codes.push(code)
      if (before !== undefined && !isPlannedAlike(before, code)) changed.push(key)
      yield
    }
    this.#sets.clear()
    for (const code of codes) sets.link(code)
    let looked = 0
    for (const key of changed) {
      for (const rule of rulesBelow(key)) {
        const ofPlan = changesOf(changes, rule.permission)
        if (!ofPlan.added.has(rule)) ofPlan.changed.add(rule)
        if (++looked % RULES_A_STEP === 0) yield
      }
    }
  }

  /** Changes the plans, and rebuilds plans with many changes. If `describer` is null, only removes rules. */
  *#plan(
    compiled: Compiled,
    changes: ReadonlyMap<string, PlanChanges>,
    describer: RuleDescriber | null,
  ): Generator<void> {
    let work = 0
    for (const [permission, { removed, changed, added }] of changes) {
      if (describer === null && removed.size === 0) continue
      const plan = compiled.planOf(permission)
      if (plan.isRebuiltFor(removed.size + changed.size + added.size)) {
        if (describer === null) continue
        this.rulesPlanned += plan.size - removed.size + added.size
        yield* plan.rebuild({ removed, added }, describer)
      } else {
        for (const rule of removed) {
          plan.remove(rule)
          if (++work % RULES_A_STEP === 0) yield
        }
        removed.clear()
        if (describer === null) continue
        this.rulesPlanned += changed.size + added.size
        for (const rule of changed) {
          plan.change(rule, describer)
          if (++work % RULES_A_STEP === 0) yield
        }
        for (const rule of added) {
          plan.add(rule, describer)
          if (++work % RULES_A_STEP === 0) yield
        }
      }
      if (plan.size === 0) compiled.dropPlan(permission)
      if (++work % RULES_A_STEP === 0) yield
    }
  }
}

function* noteRules(changes: Map<string, PlanChanges>, { rules }: RuleJournal): Generator<void> {
  let noted = 0
  for (const [rule, isAdded] of rules) {
    const ofPlan = changesOf(changes, rule.permission)
    if (isAdded) ofPlan.added.add(rule)
    else ofPlan.removed.add(rule)
    if (++noted % RULES_A_STEP === 0) yield
  }
}

function changesOf(changes: Map<string, PlanChanges>, permission: string): PlanChanges {
  let known = changes.get(permission)
  if (known === undefined) {
    known = { removed: new Set(), changed: new Set(), added: new Set() }
    changes.set(permission, known)
  }
  return known
}
