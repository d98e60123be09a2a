/**
 * Tries a condition set on samples before it is saved. What is refused is what the creation of the set refuses, by the same checks, and
 * a sample is evaluated as a question is, with the budget of one.
 */
import type { Condition } from '#conditions/condition.ts'
import { type Explained, explainSide, testsIn } from '#conditions/explain.ts'
import { EvaluationBudget } from '#conditions/evaluation-budget.ts'
import { ValuesOfQuestion } from '#conditions/question-values.ts'
import { isRefused, readCondition } from '#conditions/read-condition.ts'
import type { ReadContext } from '#management/commands/context.ts'
import { findTenant, requireTenant } from '#management/commands/lookups.ts'
import type { RecordReader } from '#management/commands/record-reader.ts'
import { type Resumable, YIELD_ROWS } from '#management/commands/resumable.ts'
import { FOR_EVERY_TENANT, isAboutTenants } from '#management/schema/set-rules/tenant-mentions.ts'
import { DEFAULT_TENANT, type SentAttributes } from '#model/decision.ts'
import { AuthzError, type ErrorDetail } from '#model/errors.ts'
import { jsonBytes } from '#model/json-text.ts'
import { TRIED_TESTS_BYTES_MAX } from '#model/limits.ts'
import type { ConditionSetRecord } from '#model/records.ts'
import { checkSent } from '#model/sent-ceilings.ts'
import { toldTest } from '#model/wire/explained-rule.ts'
import type { ConditionSetTry, SetSample, TriedSample, TriedSet, TriedTest } from '#model/wire/tried-set.ts'
import { findConditionSet } from './condition-set-lookup.ts'
import { typeOfSide } from './condition-set-present.ts'
import { checkedSet } from './condition-sets.ts'
import { namedIn, type NamedThings, storedValues } from './sample-values.ts'
import { ancestorsOf } from './set-family.ts'

/** What messages call a set that has no key yet. */
const UNNAMED = 'this-set'

const BUDGET_EXCEEDED =
  'the conditions cost more for this sample than they may for a question: tests for which nothing was left are unknown'

/** O(samples × size of the conditions). */
export function* tryConditionSet(
  context: ReadContext,
  input: { readonly body: ConditionSetTry },
): Resumable<TriedSet> {
  const { body } = input
  let set: ConditionSetRecord
  try {
    set = describedIn(context, body)
  } catch (error) {
    if (!(error instanceof AuthzError) || error.code !== 'INVALID_SHAPE') throw error
    return { valid: false, findings: findingsOf(error.detail), warnings: [], samples: [] }
  }
  const trial = yield* SetTrial.begin(context, set, body)
  const warnings: ErrorDetail[] = []
  if (trial.holdsInEveryTenant)
    warnings.push({ loc: ['body', 'conditions'], msg: FOR_EVERY_TENANT, type: 'every_tenant' })
  const { samples = [] } = body
  const tried: TriedSample[] = []
  let bytesLeft = TRIED_TESTS_BYTES_MAX
  for (const [index, sample] of samples.entries()) {
    const { told, bytes, isOverBudget } = yield* trial.ask(
      sample,
      Math.floor(bytesLeft / (samples.length - index)),
    )
    bytesLeft -= bytes
    tried.push(told)
    if (isOverBudget) warnings.push({ loc: ['body', 'samples', index], msg: BUDGET_EXCEEDED, type: 'budget' })
  }
  return { valid: true, findings: [], warnings: findingsOf(warnings), samples: tried }
}

function findingsOf(details: readonly ErrorDetail[]): TriedSet['findings'] {
  return details.map(({ loc, msg, type }) => ({ loc: [...loc], msg, type }))
}

/** The set as it would be stored. What the body leaves out of a saved set is as it is saved. */
function describedIn(context: ReadContext, body: ConditionSetTry): ConditionSetRecord {
  const { key = UNNAMED, type, resource_id, parent_id } = body
  const conditions = body.conditions as ConditionSetRecord['conditions'] | undefined
  const saved = body.key === undefined ? null : findConditionSet(context.records, body.key)
  if (saved === null) return checkedSet(context, { key, name: key, type, resource_id, parent_id, conditions })
  const changed = {
    key: saved.key,
    name: saved.name,
    type: typeOfSide(saved.side),
    resource_id: saved.typeId,
    parent_id: parent_id === undefined ? saved.parentId : parent_id,
    conditions: conditions === undefined ? saved.conditions : conditions,
  }
  return checkedSet(context, changed, saved.id)
}

interface Asked {
  readonly told: TriedSample
  /** Of its tests. */
  readonly bytes: number
  readonly isOverBudget: boolean
}

class SetTrial {
  readonly #records: RecordReader
  readonly #now: number
  readonly #set: ConditionSetRecord
  readonly #type: string | null
  readonly #tenant: string
  readonly #context: ConditionSetTry['context']
  /** The keys of the set and of those above it. */
  readonly #keys: readonly string[]
  /** Theirs; `null`: those of one cannot be read, so that it matches nothing. */
  readonly #conditions: readonly Condition[] | null
  readonly #asksHeld: boolean

  private constructor(
    { records, now }: ReadContext,
    {
      set,
      body,
      keys,
      conditions,
    }: {
      readonly set: ConditionSetRecord
      readonly body: ConditionSetTry
      readonly keys: readonly string[]
      readonly conditions: readonly Condition[] | null
    },
  ) {
    this.#records = records
    this.#now = now
    this.#set = set
    this.#type = (set.typeId && records.byId('type', set.typeId)?.key) ?? null
    this.#tenant = body.tenant ? requireTenant(records, body.tenant).key : DEFAULT_TENANT
    this.#context = body.context
    this.#keys = keys
    this.#conditions = conditions
    this.#asksHeld = conditions?.some(isAboutTenants) ?? false
  }

  /** Throws `NOT_FOUND` for an unknown tenant. */
  static *begin(context: ReadContext, set: ConditionSetRecord, body: ConditionSetTry): Resumable<SetTrial> {
    const sets = [set, ...ancestorsOf(context.records, set)]
    const conditions: Condition[] = []
    for (const each of sets) {
      const read = readCondition(each.conditions, [])
      if (!isRefused(read)) conditions.push(read)
      yield
    }
    const keys = sets.map(({ key }) => key)
    return new SetTrial(context, {
      set,
      body,
      keys,
      conditions: conditions.length === sets.length ? conditions : null,
    })
  }

  get holdsInEveryTenant(): boolean {
    return this.#set.side === 'user' && !this.#asksHeld
  }

  /** `bytesMax`: of its tests. */
  *ask(sample: SetSample, bytesMax: number): Resumable<Asked> {
    const records = this.#records
    const named = namedIn(records, sample)
    const { user, instance } = named
    const home = instance?.record && records.byId('tenant', instance.record.tenantId)
    const tenant = home ?? findTenant(records, this.#tenant)
    const head = { ...namesIn(sample), tenant: tenant?.key ?? this.#tenant, ...missingIn(named) }
    if (this.#set.typeId !== null && instance && instance.typeId !== this.#set.typeId) {
      const told = { ...head, is_of_other_resource: true as const, value: 'false' as const, conditions: [] }
      return { told, bytes: 0, isOverBudget: false }
    }
    if (this.#conditions === null) {
      return { told: { ...head, value: 'unknown', conditions: [] }, bytes: 0, isOverBudget: false }
    }
    const sent = this.#sentWith(sample)
    const question = {
      user: user?.key ?? null,
      type: instance?.type ?? this.#type,
      key: instance?.key ?? null,
      tenant: head.tenant,
      circumstances: { readAt: this.#now, sent: () => sent },
    }
    const stored = yield* storedValues(records, named, { tenant, asksHeld: this.#asksHeld, now: this.#now })
    const budget = new EvaluationBudget()
    const { value, trees } = yield* explainSide(
      this.#conditions,
      new ValuesOfQuestion(question, stored),
      budget,
    )
    const { tests, bytes, hasMore } = yield* this.#testsOf(trees, bytesMax)
    const told = { ...head, value, conditions: tests, ...(hasMore && { more: true as const }) }
    return { told, bytes, isOverBudget: budget.isExceeded }
  }

  /** Throws `LIMIT_EXCEEDED`, as a question with as much does. */
  #sentWith({ attributes = null }: SetSample): SentAttributes {
    const context = this.#context ?? null
    checkSent([attributes, context])
    const isOfUser = this.#set.side === 'user'
    return {
      user: isOfUser ? attributes : null,
      resource: isOfUser ? null : attributes,
      tenant: null,
      context,
    }
  }

  *#testsOf(
    trees: readonly Explained[],
    bytesMax: number,
  ): Resumable<{ readonly tests: TriedTest[]; readonly bytes: number; readonly hasMore: boolean }> {
    const tests: TriedTest[] = []
    let bytes = 0
    for (const [index, tree] of trees.entries()) {
      for (const test of testsIn(tree)) {
        const told = { ...toldTest(test), ...(index > 0 && { set: this.#keys[index]! }) }
        const added = jsonBytes(told, bytesMax - bytes)
        if (bytes + added > bytesMax) return { tests, bytes, hasMore: true }
        bytes += added
        tests.push(told)
        if (tests.length % YIELD_ROWS === 0) yield
      }
    }
    return { tests, bytes, hasMore: false }
  }
}

function namesIn({ user, resource_instance }: SetSample) {
  return { ...(user && { user }), ...(resource_instance && { resource_instance }) }
}

function missingIn({ user, instance }: NamedThings): Pick<TriedSample, 'not_stored'> {
  const missing: NonNullable<TriedSample['not_stored']> = []
  if (user?.record === null) missing.push('user')
  if (instance?.record === null) missing.push('resource_instance')
  return missing.length > 0 ? { not_stored: missing } : {}
}

export const reads = { tryConditionSet }
