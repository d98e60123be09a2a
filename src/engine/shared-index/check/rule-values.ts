/**
 * Supplies the values of one query to the rules of one permission, encoded in words (`values.ts`). A value is
 * computed when a test first reads it, and is cached for the query. Most values, stored or sent with the
 * request, are read in place. `ValuesOfQuestion` supplies the rest: values from several sources, values that
 * are not in a row, and values for tests that are stored as text.
 */
import type { QuestionValues } from '#conditions/evaluate.ts'
import { type EvaluationBudget, STEPS_MAX } from '#conditions/values/evaluation-budget.ts'
import { INSTANT_LENGTH_MAX } from '#conditions/values/instants.ts'
import { type Rank, rankOf } from '#conditions/nodes/ordering.ts'
import type { ValuesOfQuestion } from '#conditions/question-values.ts'
import { pathSteps, rankSteps, textSteps } from '#conditions/values/step-costs.ts'
import { isUnreadable, memberOf } from '#conditions/values/values.ts'
import { isObject, type JsonObject } from '#model/json-object.ts'
import {
  countInRow,
  findInRow,
  type AttributePosition,
  isRow,
} from '#engine/shared-index/memory/attribute-rows.ts'
import type { AttributeNames } from '#engine/shared-index/memory/attribute-names.ts'
import {
  hashOfScalar,
  HEAD_BITS,
  HEAD_MASK,
  JSON_TEXT,
  LIST,
  isLongInteger,
  kindOf,
  KIND_SHIFT,
  NO_FORM,
  numberIn,
  PAYLOAD_MASK,
  TEXT,
  valueIn,
  type ValueWords,
  wordsBehind,
} from '#engine/shared-index/memory/values.ts'
import { type PathView, type PlanView, refreshPath, SOURCE } from '#engine/shared-index/rules/rules-view.ts'
import { InvariantError } from '#model/assert.ts'
import { type QueryContext, NOTHING_SENT, type Query, type SentAttributes } from '#model/decision.ts'

import { type Lookup, mergedValues } from './merged-values.ts'

/** Gives access to a query by its index. Most queries are decided without creating their strings. */
export interface QuestionSource {
  query(index: number): Query
  queryContext(index: number): QueryContext | undefined
}

export const NO_SOURCE: QuestionSource = {
  query: () => {
    throw new InvariantError('no check is in progress')
  },
  queryContext: () => undefined,
}
const NO_MASKS = new Int32Array(0)
const NO_KEYS: readonly string[] = []
export const NO_LOOKUPS: readonly Lookup[] = []
const NOTHING_FOUND: AskedRules['found'] = new Map()

/** The values that were read for a query on one state. They are copies and are not modified afterwards. */
export class AskedRules {
  plan: PlanView
  source: QuestionSource
  index = 0
  tenant = ''
  /**
   * Words of all attributes. `user`, `instance` and the following members are the positions at which the
   * attributes of each entity start, or 0 if there are none.
   */
  words: ValueWords
  user = 0
  instance = 0
  tenantBlock = 0
  /**
   * Tenant roles of the user in the tenant of the query: one mask per bank. Empty if the plan does not need
   * them.
   */
  roleMasks: Int32Array = NO_MASKS
  userRoles = NO_KEYS
  userTenants = NO_KEYS
  /** Number of steps that the query can still use. */
  stepsMax = STEPS_MAX
  /** Instances that an earlier evaluation of the query needed. */
  lookups = NO_LOOKUPS
  /**
   * Attributes of these instances. `undefined`: the tenant has no such instance. `false`: the remaining steps
   * are not sufficient to parse the attributes.
   */
  found: ReadonlyMap<string, string | null | undefined | false> = NOTHING_FOUND

  constructor(plan: PlanView, source: QuestionSource, words: ValueWords) {
    this.plan = plan
    this.source = source
    this.words = words
  }

  /** Prepares this object for another query. */
  begin(plan: PlanView, source: QuestionSource, index: number): void {
    this.plan = plan
    this.source = source
    this.index = index
    this.roleMasks = NO_MASKS
    this.userRoles = this.userTenants = NO_KEYS
    this.stepsMax = STEPS_MAX
    this.lookups = NO_LOOKUPS
    this.found = NOTHING_FOUND
  }

  /** Releases the query and its values. */
  end(): void {
    this.source = NO_SOURCE
    this.userRoles = this.userTenants = NO_KEYS
    this.lookups = NO_LOOKUPS
    this.found = NOTHING_FOUND
  }
}

/** `MISSING` is the head of a missing value, `OBJECT` the kind of an object in the memory of this thread. */
export const MISSING = 0
const OBJECT = 10
export const OBJECT_HEAD = OBJECT << KIND_SHIFT
/**
 * Kind of a number that no double can represent. The value exists, and every comparison with it is unknown.
 */
const UNREADABLE = 11
const UNREADABLE_HEAD = UNREADABLE << KIND_SHIFT
/**
 * Number of queries after which stamps restart. A stamp distinguishes the values of one query from those of
 * earlier queries.
 */
export const STAMPS_MAX = 2 ** 31 - 1
const WORD_BYTES = 4
/** Maximum number of attributes in a row that is read in place. Longer rows are converted to objects. */
const ROW_ATTRIBUTES_MAX = 64
/** Maximum number of paths in a view for which a whole row is read in one pass. */
const SPREAD_PATHS_MAX = 1_024

export class RuleValues {
  readonly #names: AttributeNames
  #asked: AskedRules | null = null
  #query: Omit<Query, 'queryContext'> | null = null
  #queryContext: QueryContext | undefined
  #sent: SentAttributes | null = null
  #merged: ValuesOfQuestion | null = null
  /** Instances that the evaluation needed but that had not been looked up yet. */
  readonly missing = new Map<string, Lookup>()
  /** For each path, the stamp of the query for which the value was computed. */
  #stamps = new Int32Array(0)
  #stamp = 0
  heads = new Int32Array(0)
  /** For each path, the position of the value in the words of the query. */
  ats = new Int32Array(0)
  #objects: unknown[] = []
  /**
   * For each path, the hash of a scalar value. Cached, because the same long text might be searched for in a
   * thousand lists.
   */
  #hashes = new Int32Array(0)
  #hashStamps = new Int32Array(0)
  /**
   * For each path, the rank of the value in order comparisons. Cached, because a thousand tests might compare
   * the same time.
   */
  readonly #ranks: (Rank | null)[] = []
  #rankStamps = new Int32Array(0)
  #budget: EvaluationBudget | null = null
  readonly #found: AttributePosition = { head: 0, at: 0 }
  /** Objects parsed from rows, by the position of the row's text. */
  readonly #parsed = new Map<number, unknown>()
  /** The instant of the last query whose time was read, and this instant as text. */
  #readAt = Number.NaN
  #time = ''

  constructor(names: AttributeNames) {
    this.#names = names
  }

  /** Releases the query and its values. */
  end(): void {
    this.#asked = null
    this.#query = null
    this.#queryContext = undefined
    this.#sent = null
    this.#merged = null
    this.#budget = null
    this.missing.clear()
    this.#parsed.clear()
    if (this.#objects.length > 0) this.#objects = []
  }

  /** Starts a query. `paths` is the number of paths of the view. */
  begin(asked: AskedRules, paths: number, budget: EvaluationBudget): void {
    this.#asked = asked
    this.#budget = budget
    this.#query = null
    this.#sent = null
    this.#merged = null
    if (this.missing.size > 0) this.missing.clear()
    if (this.#parsed.size > 0) this.#parsed.clear()
    if (this.#stamps.length < paths || this.#stamp === STAMPS_MAX) {
      this.#stamps = new Int32Array(paths)
      this.#hashes = new Int32Array(paths)
      this.#hashStamps = new Int32Array(paths)
      this.#rankStamps = new Int32Array(paths)
      this.heads = new Int32Array(paths)
      this.ats = new Int32Array(paths)
      this.#objects = []
      this.#stamp = 0
    }
    this.#stamp += 1
    // Without request attributes, the rows of the user and of the instance are the only sources.
    const queryContext = asked.source.queryContext(asked.index)
    this.#queryContext = queryContext
    if (paths > SPREAD_PATHS_MAX || (queryContext !== undefined && queryContext.isBare !== true)) return
    const { spread } = asked.plan.view
    spread.refresh(this.#names)
    this.#spread(asked.user, spread.user)
    this.#spread(asked.instance, spread.resource)
  }

  /** Reads a row in one pass and stores its value for each path. */
  #spread(block: number, pathOf: Int16Array): void {
    const words = this.words
    if (block === 0 || !this.#isShortRow(block)) return
    const count = countInRow(words, block)
    const { heads, ats } = this
    const stamps = this.#stamps
    let at = block + 1 + count
    for (let index = block + 1; index <= block + count; index++) {
      const entry = words[index]!
      const path = pathOf[entry >>> HEAD_BITS]!
      const head = entry & HEAD_MASK
      if (path >= 0 && !isLongInteger(head, words, at)) {
        stamps[path] = this.#stamp
        heads[path] = head
        ats[path] = at
      }
      at += wordsBehind(head, words, at)
    }
  }

  get words(): Int32Array {
    return this.#asked!.words.words
  }

  get query(): Omit<Query, 'queryContext'> {
    const asked = this.#asked!
    return (this.#query ??= asked.source.query(asked.index))
  }

  /**
   * Returns the head of a value, which is computed on first use. The position of the value is then in `ats`.
   */
  head(path: number): number {
    if (this.#stamps[path] !== this.#stamp) {
      this.#stamps[path] = this.#stamp
      const view = this.#asked!.plan.view.path(path)
      this.#budget!.spend(pathSteps(view.names, 'all'))
      this.#resolve(path, view)
    }
    return this.heads[path]!
  }

  /** Returns whether the value exists and can be compared. */
  isReadable(path: number): boolean {
    const head = this.head(path)
    return head !== MISSING && head !== UNREADABLE_HEAD
  }

  /** Returns the hash of a scalar value. The value must exist. */
  hash(path: number): number {
    if (this.#hashStamps[path] !== this.#stamp) {
      this.#hashStamps[path] = this.#stamp
      this.#hashes[path] = hashOfScalar(this.heads[path]!, this.words, this.ats[path]!)
    }
    return this.#hashes[path]!
  }

  /** Returns the value as JSON, or `undefined` if it is missing. */
  value(path: number): unknown {
    const head = this.head(path)
    if (head === MISSING) return undefined
    if (head === OBJECT_HEAD || head === UNREADABLE_HEAD) return this.#objects[path]
    const { words } = this
    const at = this.ats[path]!
    if (kindOf(head) < LIST) {
      const bytes = kindOf(head) === TEXT ? head & PAYLOAD_MASK : 0
      return this.#budget!.spend(textSteps(bytes)) ? valueIn(head, words, at) : undefined
    }
    if (!this.#budget!.spendParsing(WORD_BYTES * wordsBehind(head, words, at))) return undefined
    const value = valueIn(head, words, at)
    this.heads[path] = OBJECT_HEAD
    this.#objects[path] = value
    return value
  }

  /** Returns the rank of the value in order comparisons, or `null` if values of this kind have no order. */
  rank(path: number): Rank | null {
    if (this.#rankStamps[path] !== this.#stamp) {
      this.#ranks[path] = this.#readRank(path)
      this.#rankStamps[path] = this.#stamp
    }
    return this.#ranks[path]!
  }

  #readRank(path: number): Rank | null {
    const head = this.head(path)
    if (kindOf(head) !== TEXT) {
      const number = numberIn(head, this.words, this.ats[path]!)
      return Number.isNaN(number) ? null : number
    }
    if ((head & PAYLOAD_MASK) > INSTANT_LENGTH_MAX) return null
    const value = valueIn(head, this.words, this.ats[path]!)
    return this.#budget!.spend(rankSteps(value, INSTANT_LENGTH_MAX)) ? rankOf(value) : null
  }

  /** Returns all values, for tests that are stored as text. */
  get merged(): QuestionValues {
    if (this.#merged === null) {
      // Request attributes are read only once per query.
      const query = { ...this.query, queryContext: this.#queryContext }
      this.#merged = mergedValues(this.#asked!, query, this.#names, {
        missing: this.missing,
        budget: this.#budget,
      })
    }
    return this.#merged
  }

  #resolve(path: number, view: PathView): void {
    const asked = this.#asked!
    switch (view.source) {
      case SOURCE.user:
        return this.#sentOrStored(path, view, this.#sentOf().user, asked.user)
      case SOURCE.resource:
        return this.#sentOrStored(path, view, this.#sentOf().resource, asked.instance)
      case SOURCE.tenant: {
        // If the user has no role in a tenant, the attributes of the tenant are not visible.
        const block = asked.roleMasks.some(mask => mask !== 0) ? asked.tenantBlock : 0
        return this.#sentOrStored(path, view, this.#sentOf().tenant, block)
      }
      case SOURCE.context:
        return this.#put(path, ownOf(this.#sentOf().context, view.names[0]!))
      case SOURCE.deep:
        return this.#resolveDeep(path, view)
      default:
        return this.#resolveComputed(path, view)
    }
  }

  #resolveComputed(path: number, view: PathView): void {
    const asked = this.#asked!
    switch (view.text) {
      case 'user.key':
        return this.#put(path, this.query.user)
      case 'user.roles':
        return this.#put(path, asked.userRoles)
      case 'user.tenants':
        return this.#put(path, asked.userTenants)
      case 'resource.type':
        return this.#put(path, this.query.type)
      case 'resource.tenant':
      case 'tenant.key':
        return this.#put(path, asked.tenant)
      case 'server.time':
        return this.#put(path, this.#timeText())
      case 'resource.key':
        if (this.query.key !== null) return this.#put(path, this.query.key)
        return this.#sentOrStored(path, view, this.#sentOf().resource, asked.instance)
      default:
        // If no source supplies the attribute, its value is the key in the query.
        this.#sentOrStored(path, view, this.#sentOf().resource, asked.instance)
        if (this.heads[path] === MISSING) this.#put(path, this.query.key ?? undefined)
    }
  }

  #sentOrStored(path: number, view: PathView, sent: JsonObject | null, block: number): void {
    const value = ownOf(sent, view.names[0]!)
    if (value === undefined) return this.#stored(path, view, block)
    // If the sent value and the stored value are objects, they are merged.
    if (isObject(value) && block !== 0) return this.#put(path, this.merged.valueOf(view))
    this.#put(path, value)
  }

  #stored(path: number, view: PathView, block: number): void {
    this.heads[path] = MISSING
    if (block === 0) return
    if (!this.#isShortRow(block)) return this.#put(path, this.merged.valueOf(view))
    refreshPath(view, this.#names)
    const number = view.numbers[0]!
    if (number < 0 || !findInRow(this.words, block, number, this.#found)) return
    this.#putFound(path)
  }

  /**
   * Uses the value in the row without a copy. Exception: an integer beyond 2^53 is stored as text and must be
   * converted.
   */
  #putFound(path: number): void {
    const { head, at } = this.#found
    if (isLongInteger(head, this.words, at)) return this.#put(path, valueIn(head, this.words, at))
    this.heads[path] = head
    this.ats[path] = at
  }

  /**
   * Returns whether the row is short enough to scan for each path. A long row is converted to an object once,
   * because there can be a million paths.
   */
  #isShortRow(block: number): boolean {
    const { words } = this
    return isRow(words[block]!) && countInRow(words, block) <= ROW_ATTRIBUTES_MAX
  }

  /**
   * Resolves a path with several names: an attribute whose name contains the dots, or otherwise a member of
   * an object.
   */
  #resolveDeep(path: number, view: PathView): void {
    const { root, names } = view
    const block = this.#blockOf(view)
    if (block === 0 || !this.#isShortRow(block)) return this.#put(path, this.merged.valueOf(view))
    refreshPath(view, this.#names)
    for (let joined = names.length; joined > 0; joined--) {
      if (joined === 1 && isComputed(root, names[0]!)) return this.#put(path, this.merged.valueOf(view))
      const number = view.numbers[joined - 1]!
      if (number < 0 || !findInRow(this.words, block, number, this.#found)) continue
      if (joined === names.length) return this.#putFound(path)
      let value = kindOf(this.#found.head) === JSON_TEXT ? this.#objectAt(this.#found) : undefined
      for (let index = joined; index < names.length; index++) {
        value = isObject(value) ? memberOf(value, names[index]!) : undefined
      }
      return this.#put(path, value)
    }
    this.#put(path, this.merged.valueOf(view))
  }

  /**
   * Returns the parsed object at this position. It is parsed once per query, even if several members are
   * read.
   */
  #objectAt({ head, at }: AttributePosition): unknown {
    let object = this.#parsed.get(at)
    if (object === undefined) {
      const { words } = this
      if (!this.#budget!.spendParsing(WORD_BYTES * wordsBehind(head, words, at))) return undefined
      this.#parsed.set(at, (object = valueIn(head, words, at)))
    }
    return object
  }

  /** Returns the attributes of a root that has only one source, or 0 if several sources can contribute. */
  #blockOf({ root }: PathView): number {
    const asked = this.#asked!
    if (root === 'user' && this.#sentOf().user === null) return asked.user
    return root === 'resource' && this.#sentOf().resource === null ? asked.instance : 0
  }

  #put(path: number, value: unknown): void {
    if (value === undefined) {
      this.heads[path] = MISSING
      return
    }
    const { words } = this.#asked!
    const at = words.length
    const head = words.scalar(value)
    this.heads[path] = head !== NO_FORM ? head : isUnreadable(value) ? UNREADABLE_HEAD : OBJECT_HEAD
    this.ats[path] = at
    if (head === NO_FORM) this.#objects[path] = value
  }

  #sentOf(): SentAttributes {
    return (this.#sent ??= this.#queryContext?.sent() ?? NOTHING_SENT)
  }

  #timeText(): string | undefined {
    const queryContext = this.#queryContext
    if (!queryContext) return undefined
    if (queryContext.readAt !== this.#readAt) {
      this.#time = new Date(queryContext.readAt).toISOString()
      this.#readAt = queryContext.readAt
    }
    return this.#time
  }
}

function ownOf(sent: JsonObject | null, name: string): unknown {
  return sent === null ? undefined : memberOf(sent, name)
}

const COMPUTED = { user: ['key', 'roles', 'tenants'], resource: ['type', 'tenant', 'key', 'id'] }

function isComputed(root: string, name: string): boolean {
  return root === 'user' ? COMPUTED.user.includes(name) : COMPUTED.resource.includes(name)
}
