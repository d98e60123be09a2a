/**
 * Reads the data for the permission listings (native.md A.4, A.5), in stages. Reads without the lock, so the
 * results are valid only after validation.
 */
import type {
  InstanceFilter,
  InstanceRoles,
  ResultSink,
  TenantFilter,
  TenantRoles,
  UserGrant,
} from '#engine/engine.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { LineSet } from '#engine/shared-index/memory/line-set.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import { attributesText, isDead, keyText } from '#engine/shared-index/memory/records.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import { VisitedPairs } from '#engine/shared-index/memory/visited-pairs.ts'
import { allowingLines, bankOf, tenantAt } from '#engine/shared-index/schema/tenant-role-overflow.ts'
import type { ActionView, SchemaView, TypeView } from '#engine/shared-index/schema/schema-view.ts'
import {
  BACKWARD_STEPS_MAX,
  FORWARD_STEPS_MAX,
  STAGE_STEPS,
  walkWhole,
} from '#engine/shared-index/schema/walk-steps.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import { BackwardWalk } from './backward-walk.ts'
import { ForwardWalk } from './forward-walk.ts'
import { GuardedGoals } from './guarded-goals.ts'
import { assigneesOf, assignmentsOf, maskAt, roleIndexesIn } from './holdings.ts'
import { type Permitted, RoleMeanings } from './role-meanings.ts'

/** Number of entries between two pauses. Their keys are scattered over memory. */
const STAGE_ENTRIES = 128

export interface ListingParts {
  readonly regions: Regions
  readonly schema: SchemaView
}

/**
 * Returns the tenants in which the user holds a tenant role, if the filter accepts them. O(assignments of the
 * user).
 */
export function* tenantRolesOf(
  { regions, schema }: ListingParts,
  {
    user,
    accepts,
    limit,
  }: { readonly user: number; readonly accepts: TenantFilter | null; readonly limit: number },
  results: ResultSink<TenantRoles>,
): Resumable<void> {
  const { graph } = regions
  const masksByTenant = new Map<number, number[]>()
  let steps = 0
  for (const [scope, mask] of assignmentsOf(regions, user)) {
    steps += 1
    if (steps % STAGE_STEPS === 0) yield
    const head = graph[(scope & L.LINE_MASK) << L.LINE_WORDS_LOG2]!
    if (head >>> L.TYPE_SHIFT !== L.TENANT_TYPE || (head & L.FLAG_DEAD) !== 0) continue
    const line = tenantAt(graph, scope & L.LINE_MASK)
    const bank = bankOf(graph, scope)
    const live = mask & (schema.tenant.liveMasks[bank] ?? 0)
    if (live === 0 || (accepts !== null && !accepts(keyText(graph, line)))) continue
    const known = masksByTenant.get(line)
    if (known) known.push(bank, live)
    else if (masksByTenant.size < limit) masksByTenant.set(line, [bank, live])
  }
  const permitted: Permitted<{ readonly type: string; readonly action: string }>[] = []
  for (const { key: type, actions } of masksByTenant.size === 0 ? [] : schema.types.values()) {
    if (permitted.length > STAGE_ENTRIES) yield
    for (const { key: action, tenantRoleIndexes } of actions.values()) {
      permitted.push([{ type, action }, tenantRoleIndexes])
    }
  }
  const meanings = new RoleMeanings(schema.tenant, permitted)
  let entries = 0
  for (const [line, masks] of masksByTenant) {
    const { roles, permissions } = yield* meanings.of(byBank(masks))
    const tenant = keyText(graph, line)
    if (!results.take({ tenant, attributes: attributesText(regions, line), roles, permissions })) return
    entries += 1
    if (entries % STAGE_ENTRIES === 0) yield
  }
}

/** Sorts pairs [bank, mask] by bank. Each bank must occur only once. */
function byBank(masks: readonly number[]): readonly number[] {
  if (masks.length <= 2) return masks
  const pairs = Array.from({ length: masks.length / 2 }, (_, index) => masks.slice(2 * index, 2 * index + 2))
  return pairs.toSorted((left, right) => left[0]! - right[0]!).flat()
}

/** Returns the instances on which the user holds a role. O(instances that the user reaches). */
export function* instanceRolesOf(
  parts: ListingParts,
  asked: { readonly user: number; readonly filter: InstanceFilter; readonly limit: number },
  results: ResultSink<InstanceRoles>,
): Resumable<void> {
  const { regions, schema } = parts
  const { graph } = regions
  const forward = new ForwardWalk(regions, schema)
  forward.begin(asked.user, true)
  yield* walkWhole(forward, FORWARD_STEPS_MAX)
  const wanted = yield* scopesAmong(parts, forward, asked)
  const tenantTexts = new Map<number, string>()
  const meanings = new Map<number, RoleMeanings<string>>()
  for (let number = 0; number < wanted.length; number++) {
    if (number % STAGE_ENTRIES === STAGE_ENTRIES - 1) yield
    const line = wanted.lineAt(number)
    const type = typeOf(schema, graph, line)
    if (!type) continue
    const home = tenantOf(graph, line)
    const tenant = knownOr(tenantTexts, home, () => keyText(graph, home))
    const ofType = knownOr(meanings, type.id, () => meaningsOf(type))
    const { roles, permissions: actions } = yield* ofType.of(wanted.masksAt(number, type))
    const instance = { type: type.key, key: keyText(graph, line) }
    if (!results.take({ instance, tenant, attributes: attributesText(regions, line), roles, actions })) return
  }
}

function meaningsOf(type: TypeView): RoleMeanings<string> {
  return new RoleMeanings(
    type,
    Array.from(type.actions.values(), action => [action.key, action.roleIndexes] as const),
  )
}

/** Instances, and the indexes of the roles held on each. A role index can be repeated. */
class ListedScopes {
  readonly #lines: NumberList
  /**
   * Role indexes of all instances, one instance after another, and for each instance the start of its
   * indexes.
   */
  readonly #roleIndexes: Int32Array
  readonly #from: Int32Array
  #masks = new Int32Array(L.BANKS_MAX)

  constructor(lines: NumberList, roleIndexes: Int32Array, from: Int32Array) {
    this.#lines = lines
    this.#roleIndexes = roleIndexes
    this.#from = from
  }

  get length(): number {
    return this.#lines.length
  }

  lineAt(number: number): number {
    return this.#lines.items[number]!
  }

  /** Returns the roles of one instance as pairs [bank, mask]. O(role indexes and banks). */
  masksAt(number: number, type: TypeView): number[] {
    const masks = this.#masks
    const banks = type.liveMasks.length
    masks.fill(0, 0, banks)
    for (let at = this.#from[number]!; at < this.#from[number + 1]!; at++) {
      const roleIndex = this.#roleIndexes[at]!
      masks[roleIndex >>> 5]! |= 1 << (roleIndex & 31)
    }
    const pairs: number[] = []
    for (let bank = 0; bank < banks; bank++) if (masks[bank] !== 0) pairs.push(bank, masks[bank]!)
    return pairs
  }
}

/**
 * Returns the items of a walk that the filter accepts, grouped by instance: all roles of the first `limit`
 * instances. O(items).
 */
function* scopesAmong(
  { regions, schema }: ListingParts,
  walk: ForwardWalk,
  { filter, limit }: { readonly filter: InstanceFilter; readonly limit: number },
): Resumable<ListedScopes> {
  const numbers = new VisitedPairs()
  const lines = new NumberList()
  const counts = new NumberList()
  const lookedAt = new LineSet()
  lookedAt.clear(regions.graph.length >>> L.LINE_WORDS_LOG2)
  for (let item = 0; item < walk.length; item++) {
    if (item % STAGE_STEPS === STAGE_STEPS - 1) yield
    const line = walk.lineAt(item)
    if (lookedAt.add(line)) {
      if (lines.length === limit || !isWanted(regions, schema, line, filter)) continue
      numbers.add(line, 0)
      lines.push(line)
      counts.push(1)
    } else {
      const number = numbers.numberIfThere(line, 0)
      if (number >= 0) counts.items[number]! += 1
    }
  }
  const from = new Int32Array(lines.length + 1)
  for (let number = 0; number < lines.length; number++)
    from[number + 1] = from[number]! + counts.items[number]!
  const roleIndexes = new Int32Array(from[lines.length]!)
  const next = from.slice()
  for (let item = 0; item < walk.length; item++) {
    if (item % STAGE_STEPS === STAGE_STEPS - 1) yield
    const number = numbers.numberIfThere(walk.lineAt(item), 0)
    if (number < 0) continue
    roleIndexes[next[number]!] = walk.roleIndexAt(item)
    next[number]! += 1
  }
  return new ListedScopes(lines, roleIndexes, from)
}

function knownOr<Name, Value>(known: Map<Name, Value>, name: Name, find: () => Value): Value {
  const found = known.get(name)
  if (found !== undefined) return found
  const value = find()
  known.set(name, value)
  return value
}

export interface GrantQuestion {
  /** Lines of the tenant and the instance; 0 if there is none. */
  readonly tenant: number
  readonly instance: number
  readonly action: ActionView
}

/**
 * Returns every assignment that gives a user the requested permission. O(goals and their holders; for guards
 * see `guarded-goals.ts`).
 */
export function* grantsOn(
  { regions, schema }: ListingParts,
  { tenant, instance, action }: GrantQuestion,
  limit: number,
  results: ResultSink<UserGrant>,
): Resumable<void> {
  const { graph } = regions
  let left = limit
  if (tenant !== 0) {
    for (const [line, masks] of allowingLines(graph, tenant, action)) {
      for (const holder of holdersOf(regions, line, masks)) {
        if (holder === null) {
          yield
          continue
        }
        if (left-- === 0) return
        const role = schema.tenant.roleKeys[holder.roleIndex] ?? ''
        if (!results.take({ user: keyText(graph, holder.user), role, instance: null })) return
      }
    }
  }
  if (instance === 0) return
  const walk = new BackwardWalk(regions, schema)
  walk.begin(instance, action.roleIndexes, 0, {})
  yield* walkWhole(walk, BACKWARD_STEPS_MAX)
  const masks = walk.masks()
  if (walk.length > STAGE_STEPS) yield
  const guarded = walk.hasGuards ? new GuardedGoals(regions, { schema, walk }) : null
  guarded?.look(instance, action.roleIndexes)
  for (const [scope, mask] of masks) {
    const line = scope & L.LINE_MASK
    const type = typeOf(schema, graph, line)
    if (!type) continue
    const held = { type: type.key, key: keyText(graph, line) }
    for (const holder of holdersOf(regions, line, [scope >>> L.BANK_SHIFT, mask])) {
      if (holder === null) {
        yield
        continue
      }
      const { user, roleIndex } = holder
      if (guarded && !guarded.counts(user, walk.goalAt(line, roleIndex))) continue
      if (left-- === 0) return
      const role = type.roleKeys[roleIndex] ?? ''
      if (!results.take({ user: keyText(graph, user), role, instance: held })) return
    }
  }
}

/** Returns the actions that one of these roles allows, in the order of their UTF-8 bytes. */
export function actionsOf(
  type: TypeView,
  held: { readonly inTenant: Int32Array; readonly roleIndexes: ReadonlySet<number> },
): string[] {
  const isPermitted = ({ tenantMasks, overflowMasks, roleIndexes }: ActionView): boolean => {
    for (const masks of [tenantMasks, overflowMasks]) {
      for (let m = 0; m < masks.length; m += 2) {
        if (((held.inTenant[masks[m]!] ?? 0) & masks[m + 1]!) !== 0) return true
      }
    }
    for (const roleIndex of held.roleIndexes) if (roleIndexes.has(roleIndex)) return true
    return false
  }
  const permitted = Array.from(type.actions.values()).filter(isPermitted)
  return permitted.map(({ key }) => key).toSorted(compareUtf8)
}

/**
 * Returns the users who hold one of these roles on the instance or tenant. `masks` are pairs [bank, mask].
 * From time to time, yields null as a pause for other work. O(assignees × banks).
 */
function* holdersOf(
  regions: Regions,
  line: number,
  masks: ArrayLike<number>,
): Iterable<{ readonly user: number; readonly roleIndex: number } | null> {
  let users = 0
  for (const user of masks.length === 0 ? [] : assigneesOf(regions, line)) {
    users += 1
    if (users % STAGE_ENTRIES === 0) yield null
    for (let m = 0; m < masks.length; m += 2) {
      const bank = masks[m]!
      const held = maskAt(regions.graph, user, line | (bank << L.BANK_SHIFT)) & masks[m + 1]!
      for (const roleIndex of roleIndexesIn(bank, held)) yield { user, roleIndex }
    }
  }
}

function isWanted(
  { graph }: Regions,
  schema: SchemaView,
  line: number,
  { tenants, types, accepts }: InstanceFilter,
): boolean {
  const type = typeOf(schema, graph, line)
  const tenant = tenantOf(graph, line)
  if (!type || isDead(graph, line) || isDead(graph, tenant)) return false
  if (tenants !== null && !tenants.has(keyText(graph, tenant))) return false
  if (types !== null && !types.has(type.key)) return false
  return accepts === null || accepts({ type: type.key, key: keyText(graph, line) })
}

export function keysOf(type: TypeView, roleIndexes: Iterable<number>): string[] {
  return Array.from(roleIndexes, roleIndex => type.roleKeys[roleIndex] ?? '')
}

export function typeOf(schema: SchemaView, graph: Int32Array, line: number): TypeView | undefined {
  return schema.typesById[graph[line << L.LINE_WORDS_LOG2]! >>> L.TYPE_SHIFT]
}

export function tenantOf(graph: Int32Array, instance: number): number {
  return graph[(instance << L.LINE_WORDS_LOG2) + L.I_TENANT]!
}
