/**
 * The engine on plain Maps: the first correct one, and the baseline faster ones are measured against.
 *
 * Invariant: its state is a function of the changes applied, and applying one again changes nothing. `apply` is
 * the one reducer of this engine; a change that names something unknown is ignored (`model/change.ts`).
 *
 * It is not shared between threads and precomputes no closures: a question searches the graph anew.
 */
import type {
  ActionQuestion,
  Engine,
  InstanceFilter,
  InstanceRoles,
  KeyPage,
  MappedRequest,
  PageRequest,
  ResourceQuestion,
  ResultSink,
  StoredTenants,
  TenantFilter,
  TenantRoles,
  UserGrant,
  TriedQuestion,
  UserQuestion,
  WrittenConditions,
} from '#engine/engine.ts'
import type { Explanation, TriedConditions } from '#engine/explanation.ts'
import { InvariantError } from '#model/assert.ts'
import type { Change, Permission } from '#model/change.ts'
import type { Condition } from '#conditions/condition.ts'
import { explainSide } from '#conditions/explain.ts'
import { EvaluationBudget } from '#conditions/evaluation-budget.ts'
import { readCondition } from '#conditions/read-condition.ts'
import { ValuesOfQuestion } from '#conditions/question-values.ts'
import { DEFAULT_TENANT, type Query } from '#model/decision.ts'
import { PackedQueries } from '#model/packed-queries.ts'
import type { Resumable } from '#model/resumable.ts'
import { compareUtf8 } from '#model/utf8-order.ts'
import { holdsInTenant, holdsOnInstance } from './evaluate.ts'
import { explain } from './explain.ts'
import { Facts } from './facts.ts'
import { grantsOn, instanceRolesOf, tenantRolesOf } from './listings.ts'
import type { Instance, Tenant, User } from './nodes.ts'
import { Mapping } from './mapping.ts'
import { type AskedOfRules, Rules } from './rules.ts'
import { Schema } from './schema.ts'
import { searchResources, searchUsers } from './search.ts'

const NO_KEYS: KeyPage = { keys: [], hasMore: false, last: null, total: 0 }

export class MapEngine implements Engine {
  readonly #schema = new Schema()
  readonly #facts = new Facts(this.#schema)
  readonly #mapping = new Mapping()
  readonly #rules = new Rules({
    hasType: type => this.#schema.types.has(type),
    hasAction: (type, action) => this.#schema.types.get(type)?.actions.has(action) ?? false,
    hasTenantRole: role => this.#schema.tenantRoles.has(role),
  })

  apply(changes: Iterable<Change>): void {
    for (const change of changes) this.#applyOne(change)
  }

  evaluate(query: Query): boolean {
    return this.#evaluate(query, query.asksRules !== false)
  }

  #evaluate(query: Query, asksRules: boolean): boolean {
    const { user, grants, tenant, instance, isTenantMismatch } = this.#resolve(query)
    if (!grants || isTenantMismatch) return false
    if (user && tenant && holdsInTenant(user, tenant, grants)) return true
    if (user && instance && holdsOnInstance(user, instance, grants)) return true
    if (!asksRules) return false
    return tenant !== undefined && this.#rules.allows(this.#askedOfRules(query, { user, tenant, instance }))
  }

  hasRules(): boolean {
    return this.#rules.hasAny
  }

  evaluateFirst(packed: PackedQueries): boolean {
    return this.#evaluate(packed.query(0), packed.asksRules)
  }

  /** Takes as many steps as it needs. */
  evaluateWithin(asked: Query | PackedQueries): boolean {
    return asked instanceof PackedQueries ? this.evaluateFirst(asked) : this.evaluate(asked)
  }

  evaluateSome(asked: readonly Query[] | PackedQueries, _: number, verdicts: Uint8Array): number {
    if (asked instanceof PackedQueries) this.evaluatePacked(asked, verdicts)
    else verdicts.set(this.evaluateAll(asked).map(Number))
    return asked instanceof PackedQueries ? asked.count : asked.length
  }

  evaluateAll(queries: readonly Query[]): boolean[] {
    return queries.map(query => this.evaluate(query))
  }

  evaluatePacked(packed: PackedQueries, verdicts: Uint8Array = new Uint8Array(packed.count)): Uint8Array {
    for (let index = 0; index < packed.count; index++) {
      verdicts[index] = Number(this.#evaluate(packed.query(index), packed.asksRules))
    }
    return verdicts
  }

  // These answer at once what the shared index answers in slices: this engine is asked about small worlds.

  // oxlint-disable-next-line require-yield
  *searchResources(question: ResourceQuestion, page: PageRequest): Resumable<KeyPage> {
    const type = this.#schema.types.get(question.type)
    if (type && this.#isRuled(question)) {
      return this.#tried(type.instances.keys(), key => this.evaluate({ ...question, key }), page)
    }
    const grants = type && this.#schema.grants(type, question.action)
    const user = this.#facts.users.get(question.user)
    const tenant = question.tenant === null ? null : this.#facts.tenants.get(question.tenant)
    if (!user || !grants || tenant === undefined) return NO_KEYS
    return searchResources(this.#schema, { user, type, grants, tenant }, page)
  }

  // oxlint-disable-next-line require-yield
  *searchUsers(question: UserQuestion, page: PageRequest): Resumable<KeyPage> {
    if (this.#isRuled(question)) {
      return this.#tried(this.#facts.users.keys(), user => this.evaluate({ ...question, user }), page)
    }
    const { grants, tenant = null, instance = null, isTenantMismatch } = this.#resolve(question)
    if (!grants || isTenantMismatch) return NO_KEYS
    return searchUsers({ grants, tenant, instance }, page)
  }

  #isRuled({ type, action, asksRules }: Pick<Query, 'type' | 'action' | 'asksRules'>): boolean {
    return asksRules !== false && this.#rules.hasAnyOn(type, action)
  }

  /** All there are, asked one after the other. */
  #tried(
    keys: Iterable<string>,
    allows: (key: string) => boolean,
    { after, limit, triedMax }: PageRequest,
  ): KeyPage {
    const rest = [...keys].toSorted(compareUtf8).filter(key => after === null || compareUtf8(key, after) > 0)
    const found: string[] = []
    let last = after
    for (const [index, key] of rest.entries()) {
      if (found.length === limit || index === triedMax)
        return { keys: found, hasMore: true, last, total: null }
      last = key
      if (allows(key)) found.push(key)
    }
    return { keys: found, hasMore: false, last, total: null }
  }

  // oxlint-disable-next-line require-yield
  *searchActions(question: ActionQuestion): Resumable<string[]> {
    const actions = this.#schema.types.get(question.type)?.actions ?? []
    return Array.from(actions)
      .filter(action => this.evaluate({ ...question, action }))
      .toSorted(compareUtf8)
  }

  tenantRolesOf(
    user: string,
    accepts: TenantFilter | null,
    limit: number,
    results: ResultSink<TenantRoles>,
  ): Resumable<void> {
    const known = this.#facts.users.get(user)
    return given(results, known ? tenantRolesOf(this.#schema, known, accepts, limit) : [])
  }

  instanceRolesOf(
    user: string,
    filter: InstanceFilter,
    limit: number,
    results: ResultSink<InstanceRoles>,
  ): Resumable<void> {
    const known = this.#facts.users.get(user)
    return given(results, known ? instanceRolesOf(this.#schema, known, filter, limit) : [])
  }

  grantsOn(question: UserQuestion, limit: number, results: ResultSink<UserGrant>): Resumable<void> {
    const { grants, tenant = null, instance = null, isTenantMismatch } = this.#resolve(question)
    return given(results, !grants || isTenantMismatch ? [] : grantsOn({ grants, tenant, instance }, limit))
  }

  attributesOf(type: string, key: string): string | null {
    const attributes = this.#schema.types.get(type)?.instances.get(key)?.attributes ?? null
    return attributes === null ? null : JSON.stringify(attributes)
  }

  ruledPermissions(): readonly Permission[] {
    return this.#rules.permissions()
  }

  mapped(method: string, url: string): MappedRequest | null {
    return this.#mapping.find(method, url)
  }

  tenantOf(type: string, key: string): string | null {
    return this.#schema.types.get(type)?.instances.get(key)?.tenant.key ?? null
  }

  get tenants(): StoredTenants {
    const { tenants } = this.#facts
    return {
      // oxlint-disable-next-line require-yield
      *keys(limit): Resumable<string[]> {
        return [...tenants.keys()].slice(0, limit)
      },
      attributesOf(tenant) {
        const attributes = tenants.get(tenant)?.attributes ?? null
        return attributes && JSON.stringify(attributes)
      },
    }
  }

  *tryConditions(question: TriedQuestion, written: readonly WrittenConditions[]): Resumable<TriedConditions> {
    const { type, key } = question
    const tenant = this.#facts.tenants.get(question.tenant)!
    const instance =
      type === null || key === null ? undefined : this.#schema.types.get(type)?.instances.get(key)
    const user = question.user === null ? undefined : this.#facts.users.get(question.user)
    const conditions = written.map(each => readCondition(each, []) as Condition)
    const budget = new EvaluationBudget()
    const { values } = this.#valuesOf(question, { user, tenant, instance })
    const { value, trees } = yield* explainSide(conditions, values, budget)
    return { value, trees, isOverBudget: budget.isExceeded }
  }

  // oxlint-disable-next-line require-yield
  *explain(query: Query): Resumable<Explanation> {
    const resolved = this.#resolve(query)
    const byRoles = explain(
      { ...resolved, tenantRoles: [...this.#schema.tenantRoles.values()] },
      this.#schema,
    )
    const { user, grants, tenant, instance, isTenantMismatch } = resolved
    if (!grants || isTenantMismatch || !tenant) return byRoles
    const rules = this.#rules.explain(this.#askedOfRules(query, { user, tenant, instance }))
    return { ...byRoles, allow: byRoles.allow || rules.allow, rules }
  }

  /** Looks up the names of a question, its tenant by contract A.2: the instance's own, else the default one. */
  #resolve(question: Partial<Query> & UserQuestion & { readonly action: string }) {
    const type = this.#schema.types.get(question.type)
    const instance = question.key === null ? undefined : type?.instances.get(question.key)
    const tenantKey = question.tenant ?? instance?.tenant.key ?? DEFAULT_TENANT
    return {
      type,
      instance,
      tenantKey,
      tenant: this.#facts.tenants.get(tenantKey),
      grants: type && this.#schema.grants(type, question.action),
      user: question.user === undefined ? undefined : this.#facts.users.get(question.user),
      // D-14: a known instance is not to be reached through a tenant it does not live in, by whatever role.
      isTenantMismatch: instance !== undefined && instance.tenant.key !== tenantKey,
    }
  }

  /** Conditions, section 6: of a user that is not stored, too. */
  #askedOfRules(
    { action, ...query }: Query,
    named: { user: User | undefined; tenant: Tenant; instance: Instance | undefined },
  ): AskedOfRules {
    return { type: query.type, action, ...this.#valuesOf(query, named) }
  }

  #valuesOf(
    { user: userKey, type, key, circumstances }: Omit<TriedQuestion, 'tenant'>,
    { user, tenant, instance }: { user: User | undefined; tenant: Tenant; instance: Instance | undefined },
  ): Pick<AskedOfRules, 'userRoles' | 'values'> {
    const tenantRoles = Array.from(this.#schema.tenantRoles.values())
    const userRoles = tenantRoles
      .filter(role => user && role.holders.has(user, tenant))
      .map(role => role.key)
      .toSorted(compareUtf8)
    const tenantsOf = (each: User) =>
      tenantRoles.flatMap(role => [...role.holders.rightsOf(each)]) as Tenant[]
    const values = new ValuesOfQuestion(
      { user: userKey, type, key, tenant: tenant.key, circumstances },
      {
        userRoles: () => userRoles,
        userTenants: () => [...new Set(user && tenantsOf(user).map(each => each.key))].toSorted(compareUtf8),
        userAttributes: () => user?.attributes ?? null,
        instanceAttributes: () => instance?.attributes ?? null,
        tenantAttributes: () => tenant.attributes,
        attributesOf: (otherType, otherKey, budget) => {
          const other = this.#schema.types.get(otherType)?.instances.get(otherKey)
          if (other?.tenant !== tenant) return undefined
          const attributes = other.attributes ?? {}
          return budget.spendParsing(JSON.stringify(attributes).length) ? attributes : undefined
        },
      },
    )
    return { userRoles, values }
  }

  #applyOne(change: Change): void {
    switch (change.kind) {
      case 'type-put':
        this.#schema.putType(change)
        return this.#rules.dropWhatNamesSomethingAbsent()
      case 'type-removed':
        return this.#removeType(change.type)
      case 'role-put':
        return this.#schema.putRole(change)
      case 'role-removed':
        return this.#removeRole(change.type, change.role)
      case 'relation-put':
        return this.#schema.putRelation(change)
      case 'relation-removed':
        return this.#removeRelation(change.type, change.relation)
      case 'tenant-put':
        return this.#facts.putTenant(change.tenant, change.attributes)
      case 'tenant-removed':
        return this.#facts.removeTenant(change.tenant)
      case 'user-put':
        return this.#facts.putUser(change.user, change.attributes ?? null)
      case 'user-removed':
        return this.#facts.removeUser(change.user)
      case 'instance-put':
        return this.#facts.putInstance(change.instance, change.tenant, change.attributes)
      case 'instance-removed':
        return this.#facts.removeInstance(change.instance)
      case 'assignment-put':
        return this.#facts.putAssignment(change)
      case 'assignment-removed':
        return this.#facts.removeAssignment(change)
      case 'tuple-put':
        return this.#facts.putTuple(change)
      case 'tuple-removed':
        return this.#facts.removeTuple(change)
      case 'condition-set-put':
        return this.#rules.putSet(change)
      case 'condition-set-removed':
        return this.#rules.removeSet(change.set)
      case 'rule-put':
        return this.#rules.putRule(change)
      case 'rule-removed':
        return this.#rules.removeRule(change)
      case 'mapping-put':
        return this.#mapping.put(change)
      case 'mapping-removed':
        return this.#mapping.remove(change.config)
      default:
        return unknownChange(change)
    }
  }

  #removeType(key: string): void {
    const type = this.#schema.types.get(key)
    if (!type) return
    this.#facts.removeInstancesOf(type)
    this.#schema.removeType(type)
    this.#rules.dropWhatNamesSomethingAbsent()
  }

  #removeRole(typeKey: string | null, key: string): void {
    const role = this.#schema.role(typeKey, key)
    if (role) this.#schema.removeRole(role)
    this.#rules.dropWhatNamesSomethingAbsent()
  }

  #removeRelation(typeKey: string, key: string): void {
    const relation = this.#schema.types.get(typeKey)?.relations.get(key)
    if (relation) this.#schema.removeRelation(relation)
  }
}

// oxlint-disable-next-line require-yield
function* given<Entry>(results: ResultSink<Entry>, entries: readonly Entry[]): Resumable<void> {
  results.begin()
  for (const entry of entries) if (!results.take(entry)) return
}

/** It throws: skipping an unknown change would leave an engine that answers from half of the facts. */
function unknownChange(change: never): never {
  throw new InvariantError(`the engine cannot apply this change: ${JSON.stringify(change)}`)
}
