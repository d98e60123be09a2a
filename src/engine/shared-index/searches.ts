/**
 * Runs the searches of one thread. If no rule applies to a search, roles alone determine its result.
 * Otherwise, each candidate is decided by a check (`ruled-search/`).
 */
import type { ActionQuestion, KeyPage, PageRequest, ResourceQuestion, UserQuestion } from '#engine/engine.ts'
import { QuerySource } from '#engine/shared-index/check/batch-source.ts'
import type { ResolvedQuery } from '#engine/shared-index/check/question.ts'
import { Gathering } from '#engine/shared-index/check/rule-check.ts'
import { RuleEvaluation } from '#engine/shared-index/check/rule-evaluation.ts'
import type { Key } from '#engine/shared-index/memory/key.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import {
  CandidateFinder,
  type CandidateSet,
  type SearchedFor,
} from '#engine/shared-index/ruled-search/candidates.ts'
import { RuledSearch, type SearchHost } from '#engine/shared-index/ruled-search/ruled-search.ts'
import type { PlanView } from '#engine/shared-index/rules/rules-view.ts'
import type { ActionView, SchemaView, TypeView } from '#engine/shared-index/schema/schema-view.ts'
import { BACKWARD_STEPS_MAX, StepBudget, tooMuchToWalk } from '#engine/shared-index/schema/walk-steps.ts'
import { heldOn, tenantMasksOf } from '#engine/shared-index/search/explain.ts'
import { KeyPages, NO_KEYS } from '#engine/shared-index/search/key-pages.ts'
import { actionsOf } from '#engine/shared-index/search/listings.ts'
import type { Search } from '#engine/shared-index/search/search.ts'
import type { Query } from '#model/decision.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import type { ConsistentReads } from '#engine/shared-index/schema/consistent-reads.ts'

/** Number of attempts of a short read without the lock. */
const ATTEMPTS = 50
/** Number of attempts of a longer read, before it tries a few slices with the lock. */
const SLICED_ATTEMPTS = 2

type PageBounds = Pick<PageRequest, 'after' | 'limit'>

/** Objects that searches share with the checks of the same thread. */
export interface SearchParts {
  readonly question: ResolvedQuery
  readonly search: Search
  readonly key: Key
  /** Returns the schema of the state that is being read. */
  readonly schema: () => SchemaView
  /** See `SearchHost.decide`. */
  readonly decide: (queries: readonly Query[], stepsMax: number) => readonly boolean[]
  /** See `RuleEvaluation.steps`. */
  readonly steps: () => number
}

/** The action for which a search is made. */
type SearchedAction = Pick<UserQuestion, 'type' | 'action'>

export class Searches {
  readonly #reads: ConsistentReads
  readonly #parts: SearchParts
  readonly #resourcePages: KeyPages
  readonly #userPages: KeyPages
  /** Pages of all entities. Used while no list contains these entities. */
  readonly #allPages: KeyPages
  readonly #gathering = new Gathering()
  readonly #finder: CandidateFinder

  constructor(reads: ConsistentReads, parts: SearchParts) {
    const { regions } = reads
    this.#reads = reads
    this.#parts = parts
    this.#resourcePages = new KeyPages(regions, parts.key)
    this.#userPages = new KeyPages(regions, parts.key)
    this.#allPages = new KeyPages(regions, parts.key)
    this.#finder = new CandidateFinder(regions, new RuleEvaluation(regions.attributeNames))
  }

  *resources(question: ResourceQuestion, page: PageRequest): Resumable<KeyPage> {
    const unruled = this.#pageWithoutRules(question, () => this.#resourcesOfRoles(question, page))
    if (unruled !== null) return unruled
    const type = this.#reads.read(ATTEMPTS, () => this.#typeId(question.type))
    if (type === 0) return NO_KEYS
    const { tenant } = question
    const searchedFor = { what: 'resource', type, isTenantOpen: tenant === null } as const
    const host: SearchHost = {
      candidates: () => this.#candidates({ ...question, key: null }, searchedFor),
      all: asked => this.#all(type, tenant, asked),
      byRoles: asked => this.#reads.readUnlocked(() => this.#resourcesOfRoles(question, asked)),
      queryOf: key => ({ ...question, key }),
      decide: this.#parts.decide,
      steps: () => this.#parts.steps() + this.#finder.steps,
      lineOf: key => this.#parts.question.findInstance(this.#typeId(question.type), key),
      tenant: () => this.#tenantLine(tenant),
    }
    return yield* new RuledSearch(this.#reads, host, type).page(page)
  }

  *users(question: UserQuestion, page: PageRequest): Resumable<KeyPage> {
    const unruled = this.#pageWithoutRules(question, () => this.#usersOfRoles(question, page))
    if (unruled !== null) return unruled
    const searchedFor = { what: 'user', type: L.USER_TYPE, isTenantOpen: false } as const
    const host: SearchHost = {
      // The user varies, so no attributes of a user may be known yet. The empty text is not the key of any
      // user.
      candidates: () => this.#candidates({ ...question, user: '' }, searchedFor),
      all: asked => this.#all(L.USER_TYPE, null, asked),
      byRoles: asked => this.#reads.readUnlocked(() => this.#usersOfRoles(question, asked)),
      queryOf: user => ({ ...question, user }),
      decide: this.#parts.decide,
      steps: () => this.#parts.steps() + this.#finder.steps,
      lineOf: key => this.#parts.question.findUser(key),
      tenant: () => 0,
    }
    return yield* new RuledSearch(this.#reads, host, L.USER_TYPE).page(page)
  }

  *actions(question: ActionQuestion): Resumable<string[]> {
    // A write can have the effect that a rule instead of a role allows an action. The actions of both kinds
    // are read on one state, so that such an action is not missed.
    const { byRoles, others } = yield* this.#reads.readSliced(SLICED_ATTEMPTS, () =>
      this.#actionsNow(question),
    )
    if (others.length === 0) return byRoles
    const held = new Set(byRoles)
    const queries = others.filter(action => !held.has(action)).map(action => ({ ...question, action }))
    const allowed: string[] = []
    for (const query of queries) {
      if (this.#parts.decide([query], Infinity)[0]) allowed.push(query.action)
      yield
    }
    return allowed.length === 0 ? byRoles : [...byRoles, ...allowed].toSorted(compareUtf8)
  }

  /** Returns the declared actions that rules might allow. Call it within a consistent read. */
  #ruledActions({ type }: ActionQuestion): string[] {
    const { types, rules } = this.#parts.schema()
    if (!rules) return []
    return [...(types.get(type)?.actions.keys() ?? [])].filter(action => rules.planOf(type, action) !== null)
  }

  *#actionsNow(question: ActionQuestion): Resumable<{ byRoles: string[]; others: string[] }> {
    const others = this.#ruledActions(question)
    return { byRoles: yield* this.#actionsByRoles(question), others }
  }

  *#actionsByRoles({ user, type, key, tenant }: ActionQuestion): Resumable<string[]> {
    const { question } = this.#parts
    const schema = this.#parts.schema()
    const typeView = schema.types.get(type)
    const found = typeView ? question.findInstance(typeView.id, key) : 0
    question.resolve(found, tenant, this.#reads.sequence)
    const { isMismatch, instance, tenant: tenantLine } = question
    const userLine = question.findUser(user)
    if (!typeView || isMismatch || userLine === 0) return []
    const parts = { regions: this.#reads.regions, schema }
    const inTenant = tenantLine === 0 ? new Int32Array(0) : tenantMasksOf(parts, userLine, tenantLine)
    if (instance === 0) return actionsOf(typeView, { inTenant, roleIndexes: new Set() })
    const budgets = [new StepBudget(BACKWARD_STEPS_MAX), new StepBudget(BACKWARD_STEPS_MAX)] as const
    const { roleIndexes, isWhole } = yield* heldOn(parts, userLine, { instance, type: typeView }, budgets)
    if (!isWhole) throw tooMuchToWalk(BACKWARD_STEPS_MAX)
    return actionsOf(typeView, { inTenant, roleIndexes })
  }

  /**
   * Reads a page of the entities that roles allow. Returns null if rules might allow any searched entity. The
   * page and the existence of rules are read on one state. Otherwise, a write between the two reads could
   * replace a role by the first rule, and entities that this rule allows would be missed.
   */
  #pageWithoutRules(question: SearchedAction, pageNow: () => KeyPage): KeyPage | null {
    if (this.#reads.read(ATTEMPTS, () => this.#isRuled(question))) return null
    return this.#reads.readUnlocked(() => (this.#isRuled(question) ? null : pageNow()))
  }

  /** Call it within a consistent read. */
  #resourcesOfRoles({ user, action, type, tenant }: ResourceQuestion, page: PageBounds): KeyPage {
    const { question, search } = this.#parts
    const { sequence } = this.#reads
    const name = JSON.stringify([user, action, type, tenant])
    if (!this.#resourcePages.has(name, sequence)) {
      const { typeView, actionView } = this.#declared(type, action)
      const userLine = question.findUser(user)
      const tenantLine = this.#tenantLine(tenant)
      if (!actionView || userLine === 0 || (tenant !== null && tenantLine === 0)) return NO_KEYS
      search.resources(userLine, typeView!, actionView, tenantLine)
      this.#resourcePages.keep(name, sequence, search.found)
    }
    return this.#resourcePages.page(page)
  }

  /** Call it within a consistent read. */
  #usersOfRoles({ action, type, key, tenant }: UserQuestion, page: PageBounds): KeyPage {
    const { question, search } = this.#parts
    const { sequence } = this.#reads
    const name = JSON.stringify([action, type, key, tenant])
    if (!this.#userPages.has(name, sequence)) {
      const { typeView, actionView } = this.#declared(type, action)
      const found = typeView ? question.findInstance(typeView.id, key) : 0
      question.resolve(found, tenant, sequence)
      if (!actionView || question.isMismatch) return NO_KEYS
      search.users(question.tenant, question.instance, actionView)
      this.#userPages.keep(name, sequence, search.found)
    }
    return this.#userPages.page(page)
  }

  #all(type: number, tenant: string | null, page: PageBounds): KeyPage {
    const name = JSON.stringify([type, tenant])
    return this.#reads.readUnlocked(() => {
      const { sequence } = this.#reads
      if (!this.#allPages.has(name, sequence)) {
        const tenantLine = this.#tenantLine(tenant)
        if (tenant !== null && tenantLine === 0) return NO_KEYS
        this.#parts.search.all(type, tenantLine)
        this.#allPages.keep(name, sequence, this.#parts.search.found)
      }
      return this.#allPages.page(page)
    })
  }

  /** Returns whether rules might allow any searched entity. Call it within a consistent read. */
  #isRuled({ type, action }: SearchedAction): boolean {
    return this.#planOf(type, action) !== null
  }

  #planOf(type: string, action: string): PlanView | null {
    const schema = this.#parts.schema()
    if (!schema.hasRules || !this.#declared(type, action).actionView) return null
    return schema.rules?.planOf(type, action) ?? null
  }

  /** Returns the candidates of the rules. Call it within a consistent read. */
  #candidates(query: Query, searched: SearchedFor): CandidateSet {
    const plan = this.#planOf(query.type, query.action)
    if (plan === null) return 'nobody'
    const { question } = this.#parts
    const { regions, sequence } = { regions: this.#reads.regions, sequence: this.#reads.sequence }
    const found = query.key === null ? 0 : question.findInstance(this.#typeId(query.type), query.key)
    question.resolve(found, query.tenant, sequence)
    // Rules allow nothing in an unknown tenant. If the search is open to all tenants, each instance is
    // checked in its own tenant.
    if (question.isMismatch || (question.tenant === 0 && !searched.isTenantOpen)) return 'nobody'
    const user = searched.what === 'user' ? 0 : question.findUser(query.user)
    regions.attributeNames.refresh()
    regions.lists.refresh()
    this.#gathering.begin(sequence)
    const source = new QuerySource([query])
    const asked = this.#gathering.next(plan, source, 0)
    const { instance, tenant } = question
    this.#gathering.gather(asked, { regions, schema: this.#parts.schema() }, user, { instance, tenant })
    const candidates = this.#finder.find(asked, searched)
    // Releases the values that were collected for the query.
    this.#gathering.end()
    return candidates
  }

  #declared(type: string, action: string): { typeView?: TypeView; actionView?: ActionView } {
    const typeView = this.#parts.schema().types.get(type)
    const actionView = typeView?.actions.get(action)
    return { ...(typeView && { typeView }), ...(actionView && { actionView }) }
  }

  #typeId(type: string): number {
    return this.#parts.schema().types.get(type)?.id ?? 0
  }

  #tenantLine(tenant: string | null): number {
    return tenant === null ? 0 : this.#parts.question.findTenant(tenant, this.#reads.sequence)
  }
}
