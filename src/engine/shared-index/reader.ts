/**
 * The read side of the shared index. Each thread has its own reader. A reader attaches to the regions of the
 * writer and reads them in place, without copying. Every result belongs to one state of the index
 * (`consistent-reads.ts`).
 */
import type {
  ActionQuestion,
  DecisionEngine,
  InstanceFilter,
  InstanceListing,
  InstanceRoles,
  KeyPage,
  MappedRequest,
  PageRequest,
  ResourceQuestion,
  ResultSink,
  TenantFilter,
  TenantListing,
  TenantRoles,
  TriedQuestion,
  UserGrant,
  UserQuestion,
  WrittenConditions,
} from '#engine/engine.ts'
import type { Explanation, RuleDetail, TriedConditions } from '#engine/explanation.ts'
import type { IndexHandle } from '#engine/index-handle.ts'
import type { PlanReader } from '#engine/plan-reads.ts'
import { BatchCheck } from '#engine/shared-index/check/batch-check.ts'
import {
  type BatchSource,
  QuerySource,
  sourceOf,
  sourceOfNames,
} from '#engine/shared-index/check/batch-source.ts'
import { readConditions, tryConditions } from '#engine/shared-index/check/condition-trial.ts'
import { ALLOW, BUILD, DENY, InstanceCheck, type CheckOutcome } from '#engine/shared-index/check/check.ts'
import { ResolvedQuery } from '#engine/shared-index/check/question.ts'
import { Gathering } from '#engine/shared-index/check/rule-check.ts'
import { explainRules } from '#engine/shared-index/check/rule-explanation.ts'
import { type Attempt, QUESTION_STEPS, RuleQuestions } from '#engine/shared-index/check/rule-questions.ts'
import { type AskedRules, NO_LOOKUPS } from '#engine/shared-index/check/rule-values.ts'
import { ClosureBuilder } from '#engine/shared-index/closures/closure-builder.ts'
import { Key } from '#engine/shared-index/memory/key.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import {
  type ActionView,
  emptySchema,
  type SchemaView,
  type TypeView,
} from '#engine/shared-index/schema/schema-view.ts'
import { StepBudget } from '#engine/shared-index/schema/walk-steps.ts'
import { BackwardWalk } from '#engine/shared-index/search/backward-walk.ts'
import { explain } from '#engine/shared-index/search/explain.ts'
import { ForwardWalk } from '#engine/shared-index/search/forward-walk.ts'
import { GuardedGoals } from '#engine/shared-index/search/guarded-goals.ts'
import {
  grantsOn,
  instanceRolesOf,
  type ListingParts,
  tenantRolesOf,
} from '#engine/shared-index/search/listings.ts'
import { Search } from '#engine/shared-index/search/search.ts'
import type { Permission } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import { PackedQueries, type QueryTerms } from '#model/packed-queries.ts'
import type { Question, Verdicts } from '#model/question.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { ConsistentReads, type ReaderOptions } from '#engine/shared-index/schema/consistent-reads.ts'
import { BatchReads } from './batch-reads.ts'
import { MappedRequests } from './mapped-requests.ts'
import { PlanReads } from './plan-reads.ts'
import { RuledReads } from './ruled-reads.ts'
import { TenantReads } from './tenant-reads.ts'
import { Searches } from './searches.ts'

/** Number of attempts without the lock, before a reader takes the lock. */
const ATTEMPTS = 50
/** Number of attempts of a listing, before it tries a few slices with the lock. */
const LISTING_ATTEMPTS = 2

export class SharedIndexReader implements DecisionEngine {
  readonly tenants: TenantReads
  readonly #reads: ConsistentReads
  readonly #question: ResolvedQuery
  readonly #check: InstanceCheck
  readonly #batch: BatchCheck
  readonly #batches: BatchReads
  readonly #builder: ClosureBuilder
  readonly #walk: ForwardWalk
  readonly #goals: BackwardWalk
  readonly #guardedGoals: GuardedGoals
  readonly #search: Search
  readonly #searches: Searches
  readonly #mapped: MappedRequests
  #schema: SchemaView = emptySchema()
  /**
   * The terms that were resolved last, with their type and action. Null if none have been resolved since the
   * schema changed.
   */
  #terms: QueryTerms | null = null
  #type: TypeView | undefined
  #action: ActionView | undefined
  readonly #ruled: RuleQuestions
  readonly #ruledReads: RuledReads
  readonly #readRules = () => this.#schema.hasRules

  constructor(handle: IndexHandle, options: ReaderOptions) {
    this.#reads = new ConsistentReads(handle, options, schema => this.#useSchema(schema))
    const { regions } = this.#reads
    const schema = this.#schema
    const key = new Key(regions.header[L.H_HASH_START]!, regions.header[L.H_HASH_MULTIPLIER]!)
    const userKey = new Key(regions.header[L.H_HASH_START]!, regions.header[L.H_HASH_MULTIPLIER]!)
    this.#question = new ResolvedQuery(regions, { key, userKey })
    this.tenants = new TenantReads(this.#reads, this.#question, () => this.#schema)
    this.#mapped = new MappedRequests(this.#reads, () => this.#schema)
    this.#ruled = new RuleQuestions(regions, this.#question)
    this.#ruledReads = new RuledReads(this.#reads, this.#ruled, (query, attempt, mayBuild) => {
      const verdict = mayBuild ? this.#decideForSure(query, query) : this.#decideQuery(query)
      if (verdict !== DENY) return verdict === ALLOW || BUILD
      return this.#schema.hasRules && (this.#gather(query, attempt) ?? false)
    })
    this.#builder = new ClosureBuilder(regions, schema)
    this.#walk = new ForwardWalk(regions, schema)
    this.#batch = new BatchCheck(regions, { schema, key, question: this.#question })
    this.#batches = new BatchReads(
      { reads: this.#reads, batch: this.#batch, ruled: this.#ruled, ruledReads: this.#ruledReads },
      {
        decide: (query, mayBuild) =>
          mayBuild ? this.#decideForSure(query, query) : this.#decideQuery(query),
        parts: () => this.#parts(),
      },
    )
    this.#goals = new BackwardWalk(regions, schema)
    this.#guardedGoals = new GuardedGoals(regions, { schema, walk: this.#goals })
    const search = { forward: this.#walk, backward: this.#goals, guardedGoals: this.#guardedGoals }
    this.#search = new Search(regions, search)
    this.#searches = new Searches(this.#reads, {
      question: this.#question,
      search: this.#search,
      key,
      schema: () => this.#schema,
      decide: (queries, stepsMax) => this.#batches.evaluateSearched(queries, stepsMax),
      steps: () => this.#ruled.steps,
    })
    this.#check = new InstanceCheck(regions, { schema, builder: this.#builder, walk: this.#walk })
  }

  evaluate(query: Query): boolean {
    for (;;) {
      const verdict = this.#evaluate(query, query, QUESTION_STEPS)
      if (verdict !== null) return verdict
    }
  }

  evaluateWithin(question: Question, stepsMax: number): boolean | null {
    const steps = Math.min(stepsMax, QUESTION_STEPS)
    if (question instanceof PackedQueries) return this.#evaluate(question.terms(0), question, steps)
    const query = question.query(0)
    return this.#evaluate(query, query, steps)
  }

  hasRules(): boolean {
    return this.#reads.hasLastSchema() ? this.#schema.hasRules : this.#reads.read(ATTEMPTS, this.#readRules)
  }

  evaluateSome(question: Question, stepsMax: number, verdicts: Verdicts): number {
    return this.#batches.evaluateFirst(sourceOf(question), stepsMax, verdicts)
  }

  evaluateAll(question: Question, verdicts: Verdicts = new Uint8Array(question.count)): Verdicts {
    return this.#batches.evaluate(sourceOf(question), verdicts)
  }

  evaluateWithoutRules(question: Question, verdicts: Verdicts): boolean {
    return this.#batches.evaluateWithoutRules(sourceOf(question), verdicts)
  }

  searchResources(question: ResourceQuestion, page: PageRequest): Resumable<KeyPage> {
    return this.#searches.resources(question, page)
  }

  searchUsers(question: UserQuestion, page: PageRequest): Resumable<KeyPage> {
    return this.#searches.users(question, page)
  }

  searchActions(question: ActionQuestion): Resumable<string[]> {
    return this.#searches.actions(question)
  }

  tenantRolesOf(
    user: string,
    accepts: TenantFilter | null,
    limit: number,
    results: ResultSink<TenantRoles>,
  ): Resumable<void> {
    return this.#list(results, () => {
      const line = this.#question.findUser(user)
      return line === 0 ? null : tenantRolesOf(this.#parts(), { user: line, accepts, limit }, results)
    })
  }

  instanceRolesOf(
    user: string,
    filter: InstanceFilter,
    limit: number,
    results: ResultSink<InstanceRoles>,
  ): Resumable<void> {
    return this.#list(results, () => {
      const line = this.#question.findUser(user)
      return line === 0 ? null : instanceRolesOf(this.#parts(), { user: line, filter, limit }, results)
    })
  }

  rolesOf(user: string, tenants: TenantListing, instances: InstanceListing): Resumable<void> {
    return this.#reads.readSliced(LISTING_ATTEMPTS, () => this.#rolesOf(user, tenants, instances))
  }

  *#rolesOf(user: string, tenants: TenantListing, instances: InstanceListing): Resumable<void> {
    tenants.results.begin()
    instances.results.begin()
    const line = this.#question.findUser(user)
    if (line === 0) return
    const parts = this.#parts()
    yield* tenantRolesOf(parts, { user: line, ...tenants }, tenants.results)
    yield* instanceRolesOf(parts, { user: line, ...instances }, instances.results)
  }

  grantsOn(question: UserQuestion, limit: number, results: ResultSink<UserGrant>): Resumable<void> {
    return this.#list(results, () => {
      const { actionView: action, isMismatch } = this.#resolved(question)
      if (!action || isMismatch) return null
      const { tenant, instance } = this.#question
      return grantsOn(this.#parts(), { tenant, instance, action }, limit, results)
    })
  }

  /**
   * Runs a listing. The function `find` looks up the names and begins the listing. It returns null if there
   * is nothing to list.
   */
  #list<Entry>(results: ResultSink<Entry>, find: () => Resumable<void> | null): Resumable<void> {
    return this.#reads.readSliced(LISTING_ATTEMPTS, function* begun(): Resumable<void> {
      results.begin()
      const listing = find()
      if (listing !== null) yield* listing
    })
  }

  planReader(): PlanReader {
    return new PlanReads(this.#reads, this.#question, () => this.#schema)
  }

  attributesOf(type: string, key: string): string | null {
    return this.tenants.attributesOfInstance(type, key)
  }

  ruledPermissions(): readonly Permission[] {
    return this.#reads.read(ATTEMPTS, () => this.#schema.rules?.permissions() ?? [])
  }

  mapped(method: string, url: string): MappedRequest | null {
    return this.#mapped.find(method, url)
  }

  tenantOf(type: string, key: string): string | null {
    return this.tenants.ofInstance(type, key)
  }

  *explain(query: Query, stepsMax: number, detail: RuleDetail = 'leaf'): Resumable<Explanation> {
    // Pauses first, because the cost of the decision depends on the rules. The rules thus do not delay a
    // caller that runs only the first step.
    if (this.#schema.hasRules) yield
    // Decides first, because this builds the closures that the decision needs, if the memory is sufficient.
    while (this.#evaluate(query, query, QUESTION_STEPS) === null) yield
    let lookups: Attempt['lookups'] = NO_LOOKUPS
    for (;;) {
      const known = lookups
      const { byRoles, asked, parts } = yield* this.#reads.readSliced(LISTING_ATTEMPTS, () =>
        this.#explain(query, { stepsMax, detail, lookups: known }),
      )
      if (!parts.schema.hasRules) return byRoles
      const { isAllowedByRoles } = byRoles
      const how = { query, parts, detail, decider: this.#ruled, isAllowedByRoles }
      const rules = yield* explainRules(asked, how)
      if (!('lookups' in rules)) return { ...byRoles, allow: byRoles.allow || rules.allow, rules }
      // The next attempt collects the values of all these instances on one state, as a decision does.
      lookups = [...known, ...rules.lookups]
    }
  }

  *tryConditions(question: TriedQuestion, written: readonly WrittenConditions[]): Resumable<TriedConditions> {
    const conditions = yield* readConditions(written)
    let lookups: Attempt['lookups'] = NO_LOOKUPS
    for (;;) {
      const known = lookups
      const asked = this.#reads.read(ATTEMPTS, () =>
        this.#ruled.gatherTried(this.#parts(), question, known, this.#reads.sequence),
      )
      const names = this.#reads.regions.attributeNames
      const tried = yield* tryConditions(asked, question, conditions, names)
      if (!('lookups' in tried)) return tried
      lookups = [...known, ...tried.lookups]
    }
  }

  *#explain(
    query: Query,
    how: { readonly stepsMax: number; readonly detail: RuleDetail; readonly lookups: Attempt['lookups'] },
  ): Resumable<{ byRoles: Explanation; asked: AskedRules | null; parts: ListingParts }> {
    let verdict = this.#decideQuery(query)
    if (verdict === BUILD) verdict = yield* this.#walkedInSlices()
    const { typeView: type, actionView: action, instance, isMismatch } = this.#resolved(query)
    const { tenant } = this.#question
    const user = this.#question.findUser(query.user)
    const { stepsMax, detail, lookups } = how
    const asksNearMisses = detail !== 'none'
    const names = { query, type, action, user, instance, tenant, isMismatch, asksNearMisses }
    // Collects the values in a separate object, because other queries run between the slices of an
    // explanation.
    const asked = this.#schema.rules?.hasTexts()
      ? this.#gather(query, { lookups, stepsMax: QUESTION_STEPS }, new Gathering())
      : null
    const parts = this.#parts()
    const byRoles = yield* explain(parts, { ...names, isAllowed: verdict === ALLOW }, stepsMax)
    return { byRoles, asked, parts }
  }

  /** Decides one query. `names` contains its keys, as strings or packed. */
  #evaluate(terms: QueryTerms, names: Query | PackedQueries, stepsMax: number): boolean | null {
    const reads = this.#reads
    const attempts = reads.attempts(ATTEMPTS)
    try {
      for (let attempt = 0; attempt < attempts; attempt++) {
        reads.begin()
        const verdict = this.#decide(terms, names, false)
        if (!reads.isValid()) continue
        if (verdict === BUILD) break
        return verdict === ALLOW || (this.#schema.hasRules && this.#evaluateDenied(names, stepsMax))
      }
    } catch (error) {
      // Torn data can cause any error. Therefore an error counts only if it occurred on a consistent state.
      if (reads.isValid()) throw reads.faultOf(error)
    }
    if (this.#evaluateLocked(terms, names)) return true
    return this.#schema.hasRules && this.#ruledReads.evaluate(names, { stepsMax })
  }

  /**
   * This is a separate function, because each call of a function that contains a closure allocates the
   * captured variables, even if the closure is not used.
   */
  #evaluateLocked(terms: QueryTerms, names: Query | PackedQueries): boolean {
    return this.#reads.locked(() => this.#decideForSure(terms, names) === ALLOW)
  }

  /**
   * Decides by rules the query that roles have just denied. Uses the state on which roles denied, if that is
   * still the current state.
   */
  #evaluateDenied(names: Query | PackedQueries, stepsMax: number): boolean | null {
    try {
      const asked = this.#gatherFound(sourceOfNames(names), stepsMax)
      if (this.#reads.isValid()) return asked !== null && this.#ruledReads.decide(names, asked, stepsMax)
    } catch (error) {
      if (this.#reads.isValid()) throw this.#reads.faultOf(error)
    }
    return this.#ruledReads.evaluate(names, { stepsMax })
  }

  /** Like `#gather`, for the current query, whose names have already been looked up. */
  #gatherFound(source: BatchSource, stepsMax: number): AskedRules | null {
    const terms = this.#terms
    if (terms === null || !this.#action) return null
    const { sequence } = this.#reads
    this.#question.resolve(this.#question.record, terms.tenant, sequence)
    const asked = { terms, source, user: this.#question.user, sequence, stepsMax }
    return this.#ruled.gather(this.#parts(), asked)
  }

  /** Collects the values that rules need for the query. Returns `null` if no rule could allow the query. */
  #gather(
    query: Query,
    { lookups, stepsMax }: Pick<Attempt, 'lookups' | 'stepsMax'>,
    gathering?: Gathering,
  ): AskedRules | null {
    if (!this.#resolved(query).actionView) return null
    const user = this.#question.findUser(query.user)
    const asked = {
      terms: query,
      source: new QuerySource([query]),
      user,
      sequence: this.#reads.sequence,
      stepsMax,
    }
    return this.#ruled.gather(this.#parts(), asked, lookups, gathering)
  }

  /**
   * Decides the query with the lock: by closures or, if the memory is not sufficient for them, by a graph
   * search.
   */
  #decideForSure(terms: QueryTerms, names: Query | PackedQueries): CheckOutcome {
    const verdict = this.#decide(terms, names, true)
    return verdict === BUILD ? this.#walked() : verdict
  }

  /** Decides the current query by a graph search, which needs no closures. */
  #walked(): CheckOutcome {
    const { user, instance } = this.#question
    return this.#search.mayReach(user, instance, this.#action!) ? ALLOW : DENY
  }

  /** Like `#walked`, but in slices. Uses a separate walk, because other queries run between the slices. */
  *#walkedInSlices(): Resumable<CheckOutcome> {
    const { user, instance } = this.#question
    const walk = new BackwardWalk(this.#reads.regions, this.#schema)
    walk.begin(instance, this.#action!.roleIndexes, user, { endsAtHeld: true })
    yield* new StepBudget(Infinity).walk(walk)
    return walk.heldGoal < 0 ? DENY : ALLOW
  }

  #decideQuery(query: Query): CheckOutcome {
    return this.#decide(query, query, false)
  }

  #decide(terms: QueryTerms, names: Query | PackedQueries, mayBuild: boolean): CheckOutcome {
    if (terms !== this.#terms) this.#useTerms(terms)
    const type = this.#type
    const action = this.#action
    if (!type || !action) return DENY
    const question = this.#question
    if (names instanceof PackedQueries) question.findFirst(names, type.id)
    else question.find(names.user, type.id, names.key)
    const { user } = question
    if (user === 0) return DENY
    question.resolve(question.record, terms.tenant, this.#reads.sequence)
    if (question.isMismatch) return DENY
    if (question.isAllowedByTenant(user, action)) return ALLOW
    if (question.instance === 0) return DENY
    return this.#check.run(user, question.instance, action.start, mayBuild)
  }

  /** Looks up the names in a query, except its user. Sets the tenant and the instance of `#question`. */
  #resolved({ type, action, key, tenant }: UserQuestion) {
    const { typeView, actionView } = this.#declared(type, action)
    const instance = typeView ? this.#question.findInstance(typeView.id, key) : 0
    this.#question.resolve(instance, tenant, this.#reads.sequence)
    return { typeView, actionView, instance, isMismatch: this.#question.isMismatch }
  }

  #declared(type: string, action: string): { typeView?: TypeView; actionView?: ActionView } {
    const typeView = this.#schema.types.get(type)
    const actionView = typeView?.actions.get(action)
    return { ...(typeView && { typeView }), ...(actionView && { actionView }) }
  }

  #parts() {
    return { regions: this.#reads.regions, schema: this.#schema }
  }

  /** Packed queries share their terms, so most queries have the same terms as the previous one. */
  #useTerms(terms: QueryTerms): void {
    this.#terms = terms
    this.#type = this.#schema.types.get(terms.type)
    this.#action = this.#type?.actions.get(terms.action)
  }

  #useSchema(schema: SchemaView): void {
    schema.follow(this.#schema)
    this.#schema = schema
    this.#terms = null
    this.#check.useSchema(schema)
    this.#batch.useSchema(schema)
    this.#builder.useSchema(schema)
    this.#walk.useSchema(schema)
    this.#goals.useSchema(schema)
    this.#guardedGoals.useSchema(schema)
  }
}
