/**
 * Computes effective access changes: which users gain or lose a permission through a change. It evaluates
 * checks before and after the change, but only for the users and instances that the change affects. If too
 * many are affected, the result is a scope instead; clients must list the permissions in this scope again.
 *
 * The computation has its own engine, which no other component reads, because it applies the changes of a
 * commit one by one.
 */
import type { AccessChange, AccessPair, AccessScope } from '#model/access-change.ts'
import type { Change, InstanceKey, Permission } from '#model/change.ts'
import type { Query } from '#model/decision.ts'
import { formatInstanceReference } from '#model/instance-reference.ts'
import { type Resumable, runAtOnce } from '#scheduling/resumable.ts'
import type { ChangeSink, DecisionEngine, KeyPage } from './engine.ts'

/** Searches that start at a fact (`shared-index/reach.ts`). */
export interface FactReach {
  below(instance: InstanceKey, limit: number): InstanceKey[] | null
  usersAbove(instance: InstanceKey, limit: number): string[] | null
}

export interface AccessLimits {
  /** Maximum number of instances, and maximum number of users, that a search from one fact may find. */
  readonly reached: number
  /** Maximum number of checks that are evaluated per commit. */
  readonly questions: number
  /** Maximum number of pairs, and maximum number of scopes, that are reported per permission. */
  readonly reported: number
}

export const ACCESS_LIMITS: AccessLimits = { reached: 1_000, questions: 20_000, reported: 1_000 }

/**
 * Maximum number of changes in a commit. If a commit has more, its effect is not computed, and all
 * permissions must be listed again.
 */
const CHANGES_MAX = 1_000
/** Number of checks that are evaluated between two pauses. */
const ASKED_AT_ONCE = 32
/** Number of changes that are loaded between two pauses. */
const LOADED_AT_ONCE = 200
const EVERYTHING: AccessScope = {}

/** The users and instances that a change affects. */
type Touched =
  | { readonly about: 'pairs'; readonly users: readonly string[]; readonly resources: readonly InstanceKey[] }
  /** A tenant role of a user. A single check on the type covers all instances of the type. */
  | { readonly about: 'tenant-role'; readonly user: string; readonly tenant: string }
  | { readonly about: 'user'; readonly user: string }
  /** All users on this instance. Also `pairs`: users with a role above it, and the instances below it. */
  | { readonly about: 'instance'; readonly instance: InstanceKey; readonly pairs: Pairs | null }
  | { readonly about: 'scope'; readonly scope: AccessScope }

type Pairs = Extract<Touched, { readonly about: 'pairs' }>

/** An engine that only this computation uses. */
export interface OwnEngine {
  readonly sink: ChangeSink
  /**
   * Opens the engine for reading. Called when loading is complete, because a load takes longer if the index
   * can already be read.
   */
  open(): { readonly engine: DecisionEngine; readonly reach: FactReach }
}

export class AccessChanges {
  readonly #own: OwnEngine
  readonly #limits: AccessLimits
  #opened: ReturnType<OwnEngine['open']> | null = null
  /** Subject type of each relation, by object type and then by key of the relation. */
  readonly #relations = new Map<string, Map<string, string>>()

  constructor(own: OwnEngine, limits = ACCESS_LIMITS) {
    this.#own = own
    this.#limits = limits
  }

  get #engine(): DecisionEngine {
    return (this.#opened ??= this.#own.open()).engine
  }

  get #reach(): FactReach {
    return (this.#opened ??= this.#own.open()).reach
  }

  /** Applies changes without computing their effect. */
  load(changes: readonly Change[]): void {
    for (const change of changes) this.#noteRelation(change)
    this.#own.sink.apply(changes)
  }

  /** Applies a commit. Returns the access changes of each of the given permissions. */
  *apply(changes: readonly Change[], permissions: readonly Permission[]): Resumable<AccessChange[]> {
    const tallies = permissions.map(permission => new AccessTally(permission, this.#limits.reported))
    let questionsLeft = changes.length > CHANGES_MAX ? 0 : this.#limits.questions
    let at = 0
    for (; at < changes.length && questionsLeft > 0 && tallies.some(({ isOpen }) => isOpen); at++) {
      questionsLeft -= yield* this.#applyOne(changes[at]!, tallies)
      yield
    }
    if (at < changes.length) {
      for (; at < changes.length; at += LOADED_AT_ONCE) {
        this.load(changes.slice(at, at + LOADED_AT_ONCE))
        yield
      }
      for (const tally of tallies) tally.listAnew(EVERYTHING)
    }
    return tallies.flatMap(tally => tally.result() ?? [])
  }

  /**
   * Like `apply`, for a commit that was applied earlier and was followed by other commits. Returns scopes
   * that cover everything that these commits might have affected together. For a tuple, the scopes contain
   * its object and the instances that are now below this object. If a later commit has detached an instance
   * from the object, the report of that commit covers the instance.
   */
  *scopesOf(changes: readonly Change[], permissions: readonly Permission[]): Resumable<AccessChange[]> {
    const tallies = permissions.map(permission => new AccessTally(permission, this.#limits.reported))
    if (changes.length > CHANGES_MAX) for (const tally of tallies) tally.listAnew(EVERYTHING)
    const isRuled = this.#ruled()
    const listed = new Set<string>()
    for (const change of changes) {
      if (!tallies.some(({ isOpen }) => isOpen)) break
      for (const tally of tallies) this.#listTouched(change, tally, isRuled(tally.permission))
      const spread = spreadsFrom(change)
      if (spread) this.#listBelow(spread, tallies, listed)
      yield
    }
    return tallies.flatMap(tally => tally.result() ?? [])
  }

  #listTouched(change: Change, tally: AccessTally, isRuled: boolean): void {
    const { permission } = tally
    switch (change.kind) {
      case 'assignment-put':
      case 'assignment-removed':
      case 'user-removed':
        return tally.listAnew({ user: change.user })
      case 'user-put':
        return isRuled ? tally.listAnew({ user: change.user }) : undefined
      case 'tuple-put':
      case 'tuple-removed':
      case 'instance-put':
        return // The result is the same for each permission: `spreadsFrom`.
      case 'instance-removed': {
        // If the instance had tuples, the instances that were below it are no longer known. Events of older
        // releases do not state whether it had tuples.
        const hadTuples = change.took?.tuple !== undefined || change.id === undefined
        if (hadTuples) return tally.listAnew(EVERYTHING)
        const { type, key } = change.instance
        return type === permission.type ? tally.listAnew({ resource: key }) : undefined
      }
      case 'tenant-removed':
        return tally.listAnew({ tenant: change.tenant })
      case 'tenant-put':
        return isRuled ? tally.listAnew({ tenant: change.tenant }) : undefined
      case 'condition-set-put':
      case 'condition-set-removed':
        return isRuled ? tally.listAnew(EVERYTHING) : undefined
      case 'relation-put':
      case 'mapping-put':
      case 'mapping-removed':
        return
      default:
        if (matters(change, permission)) tally.listAnew(EVERYTHING)
    }
  }

  /**
   * Reports the instance and all instances below it. `listed` contains the instances of this commit that were
   * already reported in this way.
   */
  #listBelow(instance: InstanceKey, tallies: readonly AccessTally[], listed: Set<string>): void {
    if (listed.has(formatInstanceReference(instance))) return
    const below = this.#reach.below(instance, this.#limits.reached)
    if (!below) for (const tally of tallies) tally.listAnew(EVERYTHING)
    for (const each of [instance, ...(below ?? [])]) {
      const name = formatInstanceReference(each)
      if (listed.has(name)) continue
      listed.add(name)
      for (const tally of tallies)
        if (each.type === tally.permission.type) tally.listAnew({ resource: each.key })
    }
  }

  /** Applies one change. Returns the number of checks that were evaluated. */
  *#applyOne(change: Change, tallies: readonly AccessTally[]): Resumable<number> {
    const before = this.#touchedBy(change)
    const isRuledBefore = this.#ruled()
    const looks: ChangeEffect[] = []
    for (const tally of tallies) {
      if (!tally.isOpen) continue
      const look = new ChangeEffect(this.#engine, tally, this.#limits)
      looks.push(look)
      for (const touched of before) yield* look.before(touched, change, isRuledBefore(tally.permission))
    }
    this.load([change])
    const isRuled = this.#ruled()
    let asked = 1
    for (const look of looks) {
      yield* look.after(change, isRuled(look.permission))
      asked += look.asked
    }
    return asked
  }

  #ruled(): (permission: Permission) => boolean {
    const ruled = this.#engine.ruledPermissions()
    return ({ type, action }) => ruled.some(each => each.type === type && each.action === action)
  }

  #touchedBy(change: Change): Touched[] {
    switch (change.kind) {
      case 'assignment-put':
      case 'assignment-removed': {
        const { user, scope } = change
        if ('tenant' in scope) return [{ about: 'tenant-role', user, tenant: scope.tenant }]
        const resources = this.#reach.below(scope.instance, this.#limits.reached)
        return [
          resources ? { about: 'pairs', users: [user], resources } : { about: 'scope', scope: { user } },
        ]
      }
      case 'tuple-put':
      case 'tuple-removed':
        return [this.#pairsOver(change.subject, change.object) ?? { about: 'scope', scope: EVERYTHING }]
      case 'user-put':
      case 'user-removed':
        return [{ about: 'user', user: change.user }]
      case 'instance-put':
      case 'instance-removed': {
        const { instance } = change
        return [{ about: 'instance', instance, pairs: this.#pairsOver(instance, instance) }]
      }
      case 'tenant-put':
      case 'tenant-removed':
        return [{ about: 'scope', scope: { tenant: change.tenant } }]
      case 'relation-put': {
        // A new relation has no tuples, and the roles that are derived over it are added by later changes. If
        // the subject type of a relation changes, the relation loses its tuples.
        const subjectType = this.#relations.get(change.type)?.get(change.relation) ?? change.subjectType
        return subjectType === change.subjectType ? [] : [{ about: 'scope', scope: EVERYTHING }]
      }
      case 'mapping-put':
      case 'mapping-removed':
        return []
      default:
        return [{ about: 'scope', scope: EVERYTHING }]
    }
  }

  #noteRelation(change: Change): void {
    if (change.kind === 'type-removed') this.#relations.delete(change.type)
    else if (change.kind === 'relation-removed') this.#relations.get(change.type)?.delete(change.relation)
    else if (change.kind === 'relation-put') {
      const ofType = this.#relations.get(change.type) ?? new Map<string, string>()
      this.#relations.set(change.type, ofType.set(change.relation, change.subjectType))
    }
  }

  /** Returns the users with a role on `from` or above it, and the instances `to` and below it. */
  #pairsOver(from: InstanceKey, to: InstanceKey): Pairs | null {
    const users = this.#reach.usersAbove(from, this.#limits.reached)
    const resources = users && this.#reach.below(to, this.#limits.reached)
    if (!users || !resources || users.length * resources.length > this.#limits.questions / 2) return null
    return { about: 'pairs', users, resources }
  }
}

/** Effect of one change on one permission. */
class ChangeEffect {
  readonly permission: Permission
  readonly #engine: DecisionEngine
  readonly #tally: AccessTally
  readonly #limits: AccessLimits
  /** Pairs that were checked before the change and must be checked again after the change. */
  readonly #askedBefore: { readonly pair: AccessPair; readonly isAllowed: boolean }[] = []
  #tenantRole: { readonly user: string; readonly tenant: string; readonly isAllowed: boolean } | null = null
  #holders: { readonly resource: string; readonly users: readonly string[] | null } | null = null
  asked = 0

  constructor(engine: DecisionEngine, tally: AccessTally, limits: AccessLimits) {
    this.permission = tally.permission
    this.#engine = engine
    this.#tally = tally
    this.#limits = limits
  }

  *before(touched: Touched, change: Change, isRuled: boolean): Resumable<void> {
    if (isRuled) return this.#listRuled(touched, change)
    switch (touched.about) {
      case 'pairs':
        return yield* this.#askPairs(touched)
      case 'tenant-role': {
        const { user, tenant } = touched
        this.#tenantRole = { user, tenant, isAllowed: this.#isAllowed(user, null, tenant) }
        return
      }
      case 'user':
        if (change.kind === 'user-removed') yield* this.#loseAll(touched.user)
        return
      case 'instance':
        return yield* this.#beforeInstance(touched, change)
      case 'scope':
        if (!isOfRules(change) && matters(change, this.permission)) this.#tally.listAnew(touched.scope)
    }
  }

  *after(change: Change, isRuled: boolean): Resumable<void> {
    // If the change has added a rule, the rule can allow anything.
    if (isRuled && change.kind === 'rule-put') this.#tally.listAnew(EVERYTHING)
    if (this.#tenantRole) {
      const { user, tenant, isAllowed } = this.#tenantRole
      if (this.#isAllowed(user, null, tenant) !== isAllowed) this.#tally.listAnew({ user, tenant })
    }
    let steps = 0
    for (const { pair, isAllowed } of this.#askedBefore) {
      this.#tally.note(pair, isAllowed, this.#isAllowed(pair.user, pair.resource, null))
      if (++steps % ASKED_AT_ONCE === 0) yield
    }
    if (!this.#holders) return
    const { resource, users } = this.#holders
    const now = users && this.#holdersOf(resource)
    if (!users || !now) return this.#tally.listAnew({ resource })
    const [was, is] = [new Set(users), new Set(now)]
    for (const user of new Set([...users, ...now])) {
      this.#tally.note({ user, resource }, was.has(user), is.has(user))
    }
  }

  *#askPairs({ users, resources }: Pairs): Resumable<void> {
    const keys = resources.filter(({ type }) => type === this.permission.type).map(({ key }) => key)
    for (const user of users) {
      for (const resource of keys) {
        const isAllowed = this.#isAllowed(user, resource, null)
        this.#askedBefore.push({ pair: { user, resource }, isAllowed })
        if (this.#askedBefore.length % ASKED_AT_ONCE === 0) yield
      }
    }
  }

  *#loseAll(user: string): Resumable<void> {
    const { type, action } = this.permission
    const page = { after: null, limit: this.#limits.reported, triedMax: this.#limits.reported }
    const listed = yield* this.#engine.searchResources({ user, action, type, tenant: null }, page)
    this.asked += listed.keys.length
    if (listed.hasMore) return this.#tally.listAnew({ user })
    for (const resource of listed.keys) this.#tally.note({ user, resource }, true, false)
  }

  *#beforeInstance(
    touched: Extract<Touched, { readonly about: 'instance' }>,
    change: Change,
  ): Resumable<void> {
    const { instance, pairs } = touched
    // Without rules, a change of attributes has no effect on the permission.
    const stored = this.#engine.tenantOf(instance.type, instance.key)
    if (change.kind === 'instance-put' && stored === change.tenant) return
    if (instance.type === this.permission.type) {
      this.#holders = { resource: instance.key, users: this.#holdersOf(instance.key) }
    }
    if (!pairs) return this.#tally.listAnew(EVERYTHING)
    yield* this.#askPairs({ ...pairs, resources: pairs.resources.filter(each => !isSame(each, instance)) })
  }

  /** Reports scopes instead of pairs. If there are rules, any permission of the affected users can change. */
  #listRuled(touched: Touched, change: Change): void {
    if (!matters(change, this.permission)) return
    if (touched.about === 'scope') return this.#tally.listAnew(touched.scope)
    if (touched.about === 'user') return this.#tally.listAnew({ user: touched.user })
    if (touched.about === 'tenant-role') return this.#tally.listAnew({ user: touched.user })
    const pairs = touched.about === 'pairs' ? touched : touched.pairs
    if (!pairs) return this.#tally.listAnew(EVERYTHING)
    if (touched.about === 'pairs' && pairs.users.length === 1)
      return this.#tally.listAnew({ user: pairs.users[0]! })
    for (const { type, key } of [...pairs.resources, ...('instance' in touched ? [touched.instance] : [])]) {
      if (type === this.permission.type) this.#tally.listAnew({ resource: key })
    }
  }

  /** Returns the users who have the permission on the instance, or null if there are too many. */
  #holdersOf(key: string): readonly string[] | null {
    const { type, action } = this.permission
    // If the instance is not stored, tenant roles can allow checks on it, but no listing contains it.
    if (this.#engine.tenantOf(type, key) === null) return []
    const page = { after: null, limit: this.#limits.reported, triedMax: this.#limits.reported }
    const listed: KeyPage = runAtOnce(this.#engine.searchUsers({ action, type, key, tenant: null }, page))
    this.asked += listed.keys.length
    return listed.hasMore ? null : listed.keys
  }

  #isAllowed(user: string, key: string | null, tenant: string | null): boolean {
    this.asked += 1
    const { type, action } = this.permission
    return this.#engine.evaluate({ user, action, type, key, tenant } satisfies Query)
  }
}

/** Returns an instance if the change affects all instances below it in the same way; otherwise null. */
function spreadsFrom(change: Change): InstanceKey | null {
  if (change.kind === 'instance-put') return change.instance
  return change.kind === 'tuple-put' || change.kind === 'tuple-removed' ? change.object : null
}

function isSame(one: InstanceKey, other: InstanceKey): boolean {
  return one.type === other.type && one.key === other.key
}

/**
 * Returns whether the change can only matter through rules. If a permission has no rules, it does not depend
 * on attributes of tenants or on condition sets.
 */
function isOfRules({ kind }: Change): boolean {
  return kind === 'tenant-put' || kind === 'condition-set-put' || kind === 'condition-set-removed'
}

/** Returns whether a change that affects a whole scope can change which users have the permission. */
function matters(change: Change, { type, action }: Permission): boolean {
  switch (change.kind) {
    case 'type-put':
      return change.type === type
    case 'rule-put':
    case 'rule-removed':
      return change.type === type && change.action === action
    default:
      return true
  }
}

/** Collects the access changes of one permission in one commit. */
class AccessTally {
  readonly permission: Permission
  readonly #reportedMax: number
  /** For each user and then each instance: the decision before the commit, and the current decision. */
  readonly #pairs = new Map<string, Map<string, { readonly was: boolean; is: boolean }>>()
  /** Scopes that must be listed again, by their content. */
  readonly #anew = new Map<string, AccessScope>()
  #noted = 0
  isOpen = true

  constructor(permission: Permission, reportedMax: number) {
    this.permission = permission
    this.#reportedMax = reportedMax
  }

  note({ user, resource }: AccessPair, was: boolean, is: boolean): void {
    const known = this.#pairs.get(user)?.get(resource)
    if (known) known.is = is
    else if (was !== is) this.#add(user, resource, { was, is })
  }

  #add(user: string, resource: string, state: { readonly was: boolean; is: boolean }): void {
    const ofUser = this.#pairs.get(user) ?? new Map<string, { readonly was: boolean; is: boolean }>()
    this.#pairs.set(user, ofUser.set(resource, state))
    this.#noted += 1
    if (this.#noted > this.#reportedMax) this.listAnew(EVERYTHING)
  }

  listAnew(scope: AccessScope): void {
    if (!this.isOpen) return
    const { user, resource, tenant } = scope
    const isAll = user === undefined && resource === undefined && tenant === undefined
    const name = JSON.stringify([user, resource, tenant])
    if (isAll || (this.#anew.size === this.#reportedMax && !this.#anew.has(name))) {
      this.isOpen = false
      this.#anew.clear()
      this.#anew.set(name, EVERYTHING)
      this.#pairs.clear()
    } else this.#anew.set(name, scope)
  }

  /** Returns the access changes, or null if there are none. */
  result(): AccessChange | null {
    const gained: AccessPair[] = []
    const lost: AccessPair[] = []
    for (const [user, resources] of this.#pairs) {
      for (const [resource, { was, is }] of resources) {
        if (was !== is) (is ? gained : lost).push({ user, resource })
      }
    }
    if (gained.length + lost.length + this.#anew.size === 0) return null
    return { permission: this.permission, gained, lost, many: [...this.#anew.values()] }
  }
}
