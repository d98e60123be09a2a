/**
 * Searches for instances and users. A search finds exactly the entities for which the check is allowed, each
 * once, as lines. `key-pages.ts` orders them. Searches read without the lock, so results are valid only after
 * validation.
 */
import * as L from '#engine/shared-index/memory/layout.ts'
import { LineSet } from '#engine/shared-index/memory/line-set.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import { isDead } from '#engine/shared-index/memory/records.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import * as table from '#engine/shared-index/memory/string-table.ts'
import { allowingLines, bankOf, tenantAt } from '#engine/shared-index/schema/tenant-role-overflow.ts'
import type { ActionView, TypeView } from '#engine/shared-index/schema/schema-view.ts'
import { FORWARD_STEPS_MAX, tooMuchToWalk } from '#engine/shared-index/schema/walk-steps.ts'
import type { BackwardWalk } from './backward-walk.ts'
import type { ForwardWalk } from './forward-walk.ts'
import type { GuardedGoals } from './guarded-goals.ts'
import { assignmentsOf, maskAt, roleIndexesIn, takeHolders } from './holdings.ts'

/** Number of records that are prefetched together (see `batch-check.ts`). */
const STAGE = 64

export class Search {
  /** Lines found by the last search. */
  readonly found = new NumberList()
  readonly #regions: Regions
  readonly #forward: ForwardWalk
  readonly #backward: BackwardWalk
  readonly #guardedGoals: GuardedGoals
  readonly #seen = new LineSet()
  readonly #all = new LineSet()
  readonly #candidates = new NumberList()
  /** For each role index, 1 if the role allows the action. */
  readonly #wanted = new Uint8Array(L.BANKS_MAX * L.BANK_ROLES)
  /**
   * Stores a value that depends on all prefetching loads, so that the compiler does not remove the loads. The
   * value has no meaning.
   */
  prefetchSink = 0

  /** `guardedGoals` must use the same `backward` walk. */
  constructor(
    regions: Regions,
    parts: { forward: ForwardWalk; backward: BackwardWalk; guardedGoals: GuardedGoals },
  ) {
    this.#regions = regions
    this.#forward = parts.forward
    this.#backward = parts.backward
    this.#guardedGoals = parts.guardedGoals
  }

  /**
   * Finds the instances on which the user may do the action. If `tenant` is 0, finds instances of all
   * tenants. O(instances that the user reaches, plus all records if a tenant role of the user allows). Throws
   * `LIMIT_EXCEEDED` if the walk takes too many steps.
   */
  resources(user: number, type: TypeView, action: ActionView, tenant: number): void {
    this.#begin()
    const { graph } = this.#regions
    const whole = this.#tenantsAllowing(user, action)
    if (whole.size > 0) this.#takeInstancesOf(type.id, whole, tenant)
    const forward = this.#forward
    if (!forward.run(user, { toOthers: true, stepsMax: FORWARD_STEPS_MAX }))
      throw tooMuchToWalk(FORWARD_STEPS_MAX)
    this.#wanted.fill(0)
    for (const roleIndex of action.roleIndexes) this.#wanted[roleIndex] = 1
    for (let from = 0; from < forward.length; from += STAGE) {
      const to = Math.min(from + STAGE, forward.length)
      let sink = 0
      for (let i = from; i < to; i++) sink ^= graph[forward.lineAt(i) << L.LINE_WORDS_LOG2]!
      this.prefetchSink ^= sink
      for (let i = from; i < to; i++) {
        const line = forward.lineAt(i)
        if (this.#wanted[forward.roleIndexAt(i)] === 0) continue
        const record = line << L.LINE_WORDS_LOG2
        const head = graph[record]!
        if (head >>> L.TYPE_SHIFT !== type.id || (head & L.FLAG_DEAD) !== 0) continue
        const home = graph[record + L.I_TENANT]!
        if (tenant !== 0 && home !== tenant) continue
        if (!whole.has(home) && !isDead(graph, home)) this.#take(line)
      }
    }
  }

  /**
   * Finds the users who may do the action. The line of the tenant or instance is 0 if there is none. O(goals
   * and their holders; for guards see `guarded-goals.ts`).
   */
  users(tenant: number, instance: number, action: ActionView): void {
    this.#begin()
    if (tenant !== 0) {
      for (const [line, masks] of allowingLines(this.#regions.graph, tenant, action)) {
        for (let m = 0; m < masks.length; m += 2) {
          this.#findHolders(line | (masks[m]! << L.BANK_SHIFT), masks[m + 1]!)
          for (let i = 0; i < this.#candidates.length; i++) this.#take(this.#candidates.items[i]!)
        }
      }
    }
    if (instance === 0) return
    const backward = this.#backward
    backward.run(instance, action.roleIndexes, 0)
    const { hasGuards } = backward
    if (hasGuards) this.#guardedGoals.look(instance, action.roleIndexes)
    for (const [scope, mask] of backward.masks()) {
      this.#findHolders(scope, mask)
      for (let i = 0; i < this.#candidates.length; i++) {
        const user = this.#candidates.items[i]!
        if (!hasGuards || this.#counts(user, scope, mask)) this.#take(user)
      }
    }
    if (hasGuards) this.#guardedGoals.forget()
  }

  /** Returns whether a goal with one of these roles in this scope is valid for the user. */
  #counts(user: number, scope: number, mask: number): boolean {
    const guarded = this.#guardedGoals
    if (!guarded.isBlocked(user)) return true
    const held = maskAt(this.#regions.graph, user, scope) & mask
    for (const roleIndex of roleIndexesIn(scope >>> L.BANK_SHIFT, held)) {
      if (guarded.counts(user, this.#backward.goalAt(scope & L.LINE_MASK, roleIndex))) return true
    }
    return false
  }

  /**
   * Returns whether the user holds a goal that is valid for this user, considering guards. O(goals and their
   * in-edges).
   */
  mayReach(user: number, instance: number, action: ActionView): boolean {
    const backward = this.#backward
    backward.begin(instance, action.roleIndexes, user, { endsAtHeld: true })
    backward.advance(Infinity)
    return backward.heldGoal !== -1
  }

  /**
   * Finds all instances of a type, or all users, without evaluating checks. If `tenant` is 0, finds instances
   * of all tenants. O(all records).
   */
  all(type: number, tenant: number): void {
    this.#begin()
    const { graph } = this.#regions
    const lines = this.#records()
    for (let i = 0; i < lines.length; i++) {
      const line = lines.items[i]!
      const record = line << L.LINE_WORDS_LOG2
      if (graph[record]! >>> L.TYPE_SHIFT !== type) continue
      const home = type === L.USER_TYPE ? 0 : graph[record + L.I_TENANT]!
      if (type === L.USER_TYPE || (tenant === 0 ? !isDead(graph, home) : home === tenant))
        this.found.push(line)
    }
  }

  #findHolders(scope: number, mask: number): void {
    this.#candidates.length = 0
    this.prefetchSink ^= takeHolders(this.#regions, scope, mask, this.#candidates)
  }

  #begin(): void {
    this.found.length = 0
    this.#seen.clear(this.#regions.graph.length >>> L.LINE_WORDS_LOG2)
  }

  #take(line: number): void {
    if (this.#seen.add(line)) this.found.push(line)
  }

  /** Returns the tenants in which a tenant role of the user allows the action. O(assignments × banks). */
  #tenantsAllowing(user: number, { tenantMasks, overflowMasks }: ActionView): Set<number> {
    const { graph } = this.#regions
    const tenants = new Set<number>()
    if (tenantMasks.length + overflowMasks.length === 0) return tenants
    for (const [scope, held] of assignmentsOf(this.#regions, user)) {
      const line = scope & L.LINE_MASK
      const head = graph[line << L.LINE_WORDS_LOG2]!
      if (head >>> L.TYPE_SHIFT !== L.TENANT_TYPE || (head & L.FLAG_DEAD) !== 0) continue
      const bank = bankOf(graph, scope)
      const masks = bank < L.BANKS_MAX ? tenantMasks : overflowMasks
      for (let m = 0; m < masks.length; m += 2) {
        if (masks[m] === bank && (held & masks[m + 1]!) !== 0) tenants.add(tenantAt(graph, line))
      }
    }
    return tenants
  }

  #takeInstancesOf(type: number, tenants: ReadonlySet<number>, onlyTenant: number): void {
    const lines = this.#records()
    for (let i = 0; i < lines.length; i++) this.#takeIfOf(lines.items[i]!, type, tenants, onlyTenant)
  }

  /**
   * Returns all records. Scans the string table, because tenants have no list of their instances. The table
   * is in the order of hashes. The result is in the order of memory, because this makes it cheaper to read
   * the records and, later, to sort them by key. O(records).
   */
  #records(): NumberList {
    const { header, graph } = this.#regions
    this.#all.clear(graph.length >>> L.LINE_WORDS_LOG2)
    for (let partition = 0; partition < L.PARTITION_COUNT; partition++) {
      const slots = table.slotCount(header, partition)
      for (let slot = 0; slot < slots; slot++) {
        const line = table.recordInSlot(this.#regions, partition, slot)
        if (line) this.#all.add(line)
      }
    }
    const lines = this.#candidates
    lines.length = 0
    this.#all.appendTo(lines)
    return lines
  }

  #takeIfOf(line: number, type: number, tenants: ReadonlySet<number>, onlyTenant: number): void {
    const { graph } = this.#regions
    const record = line << L.LINE_WORDS_LOG2
    if (graph[record]! >>> L.TYPE_SHIFT !== type) return
    const home = graph[record + L.I_TENANT]!
    if (tenants.has(home) && (onlyTenant === 0 || home === onlyTenant)) this.#take(line)
  }
}
