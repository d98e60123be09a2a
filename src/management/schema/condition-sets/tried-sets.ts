/**
 * Prepares the trial of a condition set on samples before it is saved. The trial rejects the same sets as
 * their creation, with the same checks. The pool evaluates a sample like a check, with the same budget
 * (`decisions/rules/tried-conditions.ts`).
 */
import type { Condition } from '#conditions/condition.ts'
import { isRefused, readCondition } from '#conditions/read-condition.ts'
import type { ReadContext } from '#management/drafts/context.ts'
import { findTenant, requireTenant } from '#management/drafts/lookups.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { FOR_EVERY_TENANT, isAboutTenants } from './tenant-mentions.ts'
import { DEFAULT_TENANT, type SentAttributes } from '#model/decision.ts'
import { AuthzError, type ErrorDetail } from '#model/errors.ts'
import type { ConditionSetRecord } from '#entities/records.ts'
import { checkSent } from '#model/sent-ceilings.ts'
import type {
  ConditionSetTry,
  ConditionTrial,
  SetSample,
  TriedSample,
  TriedSet,
} from '#entities/tried-set.ts'
import { findConditionSet } from './condition-set-lookup.ts'
import { typeOfSide } from './condition-set-presenter.ts'
import { checkedSet } from './condition-sets.ts'
import { namedIn, type NamedThings } from './sample-values.ts'
import { ancestorsOf } from './set-family.ts'

/** Name of a set without a key in error messages. */
const UNNAMED = 'this-set'

/**
 * Checks the set, and resolves the names of its samples. The conditions are evaluated by the pool of the
 * thread that sends the response.
 */
export function* tryConditionSet(
  context: ReadContext,
  input: { readonly body: ConditionSetTry },
): Resumable<ConditionTrial> {
  const { body } = input
  const { environmentId } = context.scope
  const nothing = { environmentId, readAt: context.now, findings: [], warnings: [], sets: [], samples: [] }
  let set: ConditionSetRecord
  try {
    set = describedIn(context, body)
  } catch (error) {
    if (!(error instanceof AuthzError) || error.code !== 'INVALID_SHAPE') throw error
    return { ...nothing, valid: false, findings: findingsOf(error.detail) }
  }
  const trial = yield* SetTrial.begin(context, set, body)
  const warnings: ErrorDetail[] = []
  if (trial.holdsInEveryTenant)
    warnings.push({ loc: ['body', 'conditions'], msg: FOR_EVERY_TENANT, type: 'every_tenant' })
  const samples: ConditionTrial['samples'][number][] = []
  for (const sample of body.samples ?? []) {
    samples.push(trial.ask(sample))
    yield
  }
  return { ...nothing, valid: true, warnings: findingsOf(warnings), sets: trial.sets, samples }
}

function findingsOf(details: readonly ErrorDetail[]): TriedSet['findings'] {
  return details.map(({ loc, msg, type }) => ({ loc: [...loc], msg, type }))
}

/** The set as it would be stored. Fields of a saved set that the body omits keep their saved values. */
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

class SetTrial {
  readonly #records: RecordReader
  readonly #set: ConditionSetRecord
  readonly #type: string | null
  readonly #tenant: string
  readonly #context: ConditionSetTry['context']
  readonly #sets: readonly ConditionSetRecord[]
  /** Whether the conditions of all sets can be read; otherwise they match nothing. */
  readonly #isReadable: boolean
  readonly #asksHeld: boolean

  private constructor(
    { records }: ReadContext,
    body: ConditionSetTry,
    sets: readonly ConditionSetRecord[],
    conditions: readonly Condition[],
  ) {
    const [set] = sets as [ConditionSetRecord]
    this.#records = records
    this.#set = set
    this.#type = (set.typeId && records.byId('type', set.typeId)?.key) ?? null
    this.#tenant = body.tenant ? requireTenant(records, body.tenant).key : DEFAULT_TENANT
    this.#context = body.context
    this.#sets = sets
    this.#isReadable = conditions.length === sets.length
    this.#asksHeld = this.#isReadable && conditions.some(isAboutTenants)
  }

  /** Begins a trial. Throws `NOT_FOUND` for an unknown tenant. */
  static *begin(context: ReadContext, set: ConditionSetRecord, body: ConditionSetTry): Resumable<SetTrial> {
    const sets = [set, ...ancestorsOf(context.records, set)]
    const conditions: Condition[] = []
    for (const each of sets) {
      const read = readCondition(each.conditions, [])
      if (!isRefused(read)) conditions.push(read)
      yield
    }
    return new SetTrial(context, body, sets, conditions)
  }

  get holdsInEveryTenant(): boolean {
    return this.#set.side === 'user' && !this.#asksHeld
  }

  /** The set, followed by its ancestors. */
  get sets(): ConditionTrial['sets'] {
    return this.#sets.map(({ key, conditions }) => ({ key, conditions }))
  }

  ask(sample: SetSample): ConditionTrial['samples'][number] {
    const records = this.#records
    const named = namedIn(records, sample)
    const { user, instance } = named
    const home = instance?.record && records.byId('tenant', instance.record.tenantId)
    const tenant = home ?? findTenant(records, this.#tenant)
    const head = { ...namesIn(sample), tenant: tenant?.key ?? this.#tenant, ...missingIn(named) }
    const sent = this.#sentWith(sample)
    if (this.#set.typeId !== null && instance && instance.typeId !== this.#set.typeId) {
      return { head: { ...head, is_of_other_resource: true, value: 'false' }, question: null, sent }
    }
    const question = this.#isReadable
      ? {
          user: user?.key ?? null,
          type: instance?.type ?? this.#type,
          key: instance?.key ?? null,
          tenant: head.tenant,
        }
      : null
    return { head: { ...head, value: 'unknown' }, question, sent }
  }

  /** Request attributes of a sample. Throws `LIMIT_EXCEEDED` under the same limits as a check. */
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
