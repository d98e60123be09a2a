/**
 * Bodies of AuthZEN evaluations, single and in batches, from usual to malformed, and functions that verify
 * the readers which parse them from bytes. A reader must return the same queries as the generic parser, which
 * the service itself runs. Seeded.
 */
import { ThreadScheduler } from '#scheduling/thread-scheduler.ts'
import { TimeBudget } from '#scheduling/time-budget.ts'
import { queryOf } from '#decisions/dialects/access-mapping.ts'
import { AccessService } from '#decisions/access-service.ts'
import { DecisionService } from '#decisions/decision-service.ts'
import type { BatchReader } from '#http/bytes/batch-reader.ts'
import type { SingleReader } from '#http/bytes/single-reader.ts'
import { evaluationReader } from '#http/routes/decisions/access.ts'
import { DECISION_DEPTH_MAX, parseJson } from '#http/routing/json.ts'
import { Shape } from '#http/routing/shape.ts'
import { assert } from '#model/assert.ts'
import type { Query } from '#model/decision.ts'
import type { TextQuestion } from '#model/question.ts'
import { EvaluationsRequest } from '#model/wire/decisions/access.ts'
import { Random } from '#testing/data/random.ts'
import { differingAttributes, judgeReader, perhapsBent, written } from './mutated-bodies.ts'
import { AccessQueryContext } from '#decisions/questions/request-attributes.ts'

const SUBJECT_TYPES = new Set(['user', 'identity'])
const shape = new Shape(EvaluationsRequest, 'body')

/** Parses batches generically. Returns their queries, or null if the body or an item is rejected. */
export class OrdinaryBatches {
  readonly #service: AccessService
  #asked: Query[] = []

  constructor(isStrict: boolean) {
    const engine = {
      hasRules: () => false,
      evaluateAll: ({ checks }: TextQuestion) => {
        this.#asked.push(...checks)
        return new Uint8Array(checks.length).fill(1)
      },
    }
    const decisions = new DecisionService(
      { engine: () => engine as never },
      { bulkChecksMax: 50, poolJobsMax: 1 },
      {
        observer: null,
        pool: null,
        now: () => 0,
        sliced: new ThreadScheduler(new TimeBudget('http', () => 0)),
      },
    )
    this.#service = new AccessService(decisions, {
      subjectTypes: SUBJECT_TYPES,
      readEvaluation: evaluationReader(isStrict),
    })
  }

  /** Returns one query per item. It is null if the item is denied because its subject is not a user. */
  read(body: Buffer): (Query | null)[] | null {
    this.#asked = []
    let answer
    try {
      const value = parseJson(body, DECISION_DEPTH_MAX)
      shape.check(value)
      const batch = value as EvaluationsRequest
      const semantic = batch.options?.evaluations_semantic ?? 'execute_all'
      if (semantic !== 'execute_all' || (batch.evaluations ?? []).length === 0) return null
      answer = this.#service.evaluateBatch('any', batch, { isGone: false, requestId: '' })
    } catch {
      return null
    }
    assert(!(answer instanceof Promise), 'without a pool, results are returned synchronously')
    if (!('evaluations' in answer) || answer.evaluations.some(({ context }) => context)) return null
    const asked = [...this.#asked]
    return answer.evaluations.map(({ decision }) => (decision ? asked.shift()! : null))
  }
}

export function judgeBatch(reader: BatchReader, ordinary: OrdinaryBatches, body: Buffer): boolean {
  return judgeReader(reader, body, ordinary.read(body))
}

/** Parses single evaluations generically. Returns null if the evaluation leads to no query. */
export class OrdinaryEvaluations {
  readonly #read: ReturnType<typeof evaluationReader>

  constructor(isStrict: boolean) {
    this.#read = evaluationReader(isStrict)
  }

  read(body: Buffer): Query | null {
    let evaluation
    try {
      evaluation = this.#read(parseJson(body, DECISION_DEPTH_MAX))
    } catch {
      return null
    }
    const queryContext = new AccessQueryContext(evaluation, 0)
    return SUBJECT_TYPES.has(evaluation.subject.type) ? queryOf(evaluation, queryContext) : null
  }
}

export function judgeEvaluation(reader: SingleReader, ordinary: OrdinaryEvaluations, body: Buffer): boolean {
  const query = ordinary.read(body)
  return judgeReader(reader, body, query && [query])
}

const KEYS = [
  'alice',
  'b',
  'user-17',
  'doc 4',
  'a:b#c',
  '{"',
  '__proto__',
  'null',
  'x'.repeat(40),
  '',
  'é',
  '計画😀',
  'a"b',
  'a/b',
]
const SUBJECTS = ['user', 'user', 'identity', 'robot', '', null, undefined, 5]
const TYPES = ['document', 'folder', '__proto__', undefined, null]
const ODD: readonly unknown[] = [
  null,
  undefined,
  {},
  [],
  'text',
  5,
  { tenant: 'acme' },
  { tenant: 7 },
  { tenant: '' },
  { a: { b: [1] } },
]
const BLANKS = ['', '', '', ' ', '\n  ', '\t']
const OPTIONS = [
  undefined,
  undefined,
  null,
  {},
  { evaluations_semantic: 'execute_all' },
  { evaluations_semantic: null },
  { evaluations_semantic: 'deny_on_first_deny' },
  { evaluations_semantic: 'other' },
  { more: 1 },
  5,
]

type Members = Record<string, unknown>

export class BatchBodies {
  readonly #random: Random

  constructor(seed: number) {
    this.#random = new Random(seed)
  }

  /** Half of the bodies are valid. In the other half, some bytes are changed. */
  next(): Buffer {
    return perhapsBent(written(this.#batch(), this.#random), this.#random)
  }

  /** Returns the body of a single evaluation. Like `next`, half of the bodies are valid. */
  nextEvaluation(): Buffer {
    const isPlain = this.#random.chance(0.7)
    const members: Members = {
      subject: this.#subject(isPlain),
      action: this.#action(isPlain),
      resource: this.#resource(isPlain),
      ...(this.#random.chance(0.3) && {
        context: this.#random.pick<unknown>(
          isPlain ? [{ a: 1 }, null, differingAttributes(this.#random)] : ODD,
        ),
      }),
      ...(!isPlain && this.#random.chance(0.2) && { evaluations: this.#random.pick(ODD) }),
    }
    if (!isPlain && this.#random.chance(0.1)) delete members[this.#random.pick(Object.keys(members))]
    const ordered = this.#random.chance(0.1) ? this.#shuffled(members) : members
    const text = JSON.stringify(ordered, null, this.#random.pick(BLANKS))
    return perhapsBent(
      written(this.#random.pick(BLANKS) + text + this.#random.pick(BLANKS), this.#random),
      this.#random,
    )
  }

  #batch(): string {
    const isPlain = this.#random.chance(0.7)
    const has = {
      subject: this.#random.chance(0.6),
      action: this.#random.chance(0.7),
      resource: this.#random.chance(0.3),
    }
    const defaults: Members = {
      ...(has.subject && { subject: this.#subject(isPlain) }),
      ...(has.action && { action: this.#action(isPlain) }),
      ...(has.resource && { resource: this.#resource(isPlain) }),
      ...(this.#random.chance(0.3) && {
        context: this.#random.pick<unknown>(isPlain ? [{ a: 1 }, null] : ODD),
      }),
      ...(this.#random.chance(0.3) && {
        options: this.#random.pick(isPlain ? OPTIONS.slice(0, 6) : OPTIONS),
      }),
    }
    const gives = {
      subject: !has.subject || this.#random.chance(0.3),
      action: !has.action || this.#random.chance(0.3),
      resource: !has.resource || this.#random.chance(0.9),
    }
    const hasContexts = this.#random.chance(0.3)
    const items = Array.from({ length: this.#random.below(7) }, () => {
      if (!isPlain && this.#random.chance(0.05)) return this.#random.pick(ODD)
      const isOther = !isPlain && this.#random.chance(0.2)
      const item: Members = {
        ...((gives.subject || isOther) && { subject: this.#subject(isPlain) }),
        ...((gives.action || isOther) && { action: this.#action(isPlain) }),
        ...((gives.resource || isOther) && { resource: this.#resource(isPlain) }),
        ...(!isPlain && this.#random.chance(0.2) && { context: this.#random.pick(ODD) }),
        ...(hasContexts && { context: differingAttributes(this.#random) }),
      }
      return this.#random.chance(0.05) ? this.#shuffled(item) : item
    })
    const batch = { ...defaults, evaluations: items }
    const text = JSON.stringify(
      this.#random.chance(0.1) ? this.#shuffled(batch) : batch,
      null,
      this.#random.pick(BLANKS),
    )
    return this.#random.pick(BLANKS) + text + this.#random.pick(BLANKS)
  }

  #subject(isPlain: boolean): unknown {
    if (!isPlain && this.#random.chance(0.15)) return this.#random.pick(ODD)
    return {
      type: isPlain ? this.#random.pick(['user', 'user', 'robot']) : this.#random.pick(SUBJECTS),
      id: this.#key(isPlain),
      ...(!isPlain && this.#random.chance(0.3) && { properties: this.#random.pick(ODD) }),
    }
  }

  #action(isPlain: boolean): unknown {
    if (!isPlain && this.#random.chance(0.1)) return this.#random.pick(ODD)
    return {
      name: this.#random.pick(['read', 'write']),
      ...(this.#random.chance(0.1) && { properties: this.#random.pick(ODD) }),
    }
  }

  #resource(isPlain: boolean): unknown {
    if (!isPlain && this.#random.chance(0.1)) return this.#random.pick(ODD)
    return {
      type: isPlain ? 'document' : this.#random.pick(TYPES),
      ...(this.#random.chance(0.9) && { id: this.#key(isPlain) }),
      ...(this.#random.chance(0.3) && { properties: isPlain ? { tenant: 'acme' } : this.#random.pick(ODD) }),
    }
  }

  #key(isPlain: boolean): unknown {
    if (!isPlain && this.#random.chance(0.3)) return this.#random.pick(KEYS)
    return `key-${this.#random.below(100_000)}`
  }

  #shuffled(members: Members): Members {
    const entries = Object.entries(members)
    this.#random.shuffle(entries)
    return Object.fromEntries(entries)
  }
}
