/** What the permission listings read (contract A.4, A.5). Reads without the lock: results count only after validation. */
import type { InstanceFilter, InstanceRoles, TenantFilter, TenantRoles, UserGrant } from '../engine.ts'
import { allowingLines, bankOf, tenantAt } from './annexes.ts'
import type { BackwardWalk } from './backward-walk.ts'
import type { ForwardWalk } from './forward-walk.ts'
import type { GuardedGoals } from './guarded-goals.ts'
import { assigneesOf, assignmentsOf, maskAt, placesIn } from './holdings.ts'
import * as L from './layout.ts'
import { attributesOf, isDead, keyText } from './records.ts'
import type { Regions } from './regions.ts'
import type { ActionView, SchemaView, TypeView } from './schema-view.ts'

const NO_LIMIT = 2 ** 52

export interface ListingParts {
  readonly regions: Regions
  readonly schema: SchemaView
}

/** The accepted tenants in which the user holds a tenant role, at most `limit`. O(the user's assignments). */
export function tenantRolesOf(
  { regions, schema }: ListingParts,
  user: number,
  accepts: TenantFilter | null,
  limit: number,
): TenantRoles[] {
  const { graph } = regions
  const placesByTenant = new Map<number, number[]>()
  for (const [scope, mask] of assignmentsOf(regions, user)) {
    const head = graph[(scope & L.LINE_MASK) << L.LINE_WORDS_LOG2]!
    if (head >>> L.TYPE_SHIFT !== L.TENANT_TYPE || (head & L.FLAG_DEAD) !== 0) continue
    const line = tenantAt(graph, scope & L.LINE_MASK)
    const bank = bankOf(graph, scope)
    const live = mask & (schema.tenant.liveMasks[bank] ?? 0)
    if (live === 0 || (accepts !== null && !accepts(keyText(graph, line)))) continue
    for (const place of placesIn(bank, live)) addTo(placesByTenant, line, place, limit)
  }
  return Array.from(placesByTenant, ([line, places]) => ({
    tenant: keyText(graph, line),
    attributes: attributesOf(graph, line),
    roles: keysOf(schema.tenant, places),
    permissions: Array.from(schema.types.values()).flatMap(type =>
      Array.from(type.actions.values())
        .filter(({ tenantPlaces }) => places.some(place => tenantPlaces.has(place)))
        .map(action => ({ type: type.key, action: action.key })),
    ),
  }))
}

/** The instances on which the user holds a role, at most `limit`. O(what the user reaches). */
export function instanceRolesOf(
  { regions, schema }: ListingParts,
  forward: ForwardWalk,
  user: number,
  filter: InstanceFilter,
  limit: number,
): InstanceRoles[] {
  const { graph } = regions
  const placesByInstance = new Map<number, number[]>()
  forward.run(user, { toOthers: true, stepsMax: NO_LIMIT })
  for (let i = 0; i < forward.length; i++) {
    const line = forward.lineAt(i)
    if (!placesByInstance.has(line) && !isWanted(regions, schema, line, filter)) continue
    addTo(placesByInstance, line, forward.placeAt(i), limit)
  }
  // Many instances share a few tenants and sets of roles.
  const tenantTexts = new Map<number, string>()
  const meanings = new Map<string, Pick<InstanceRoles, 'roles' | 'actions'>>()
  return Array.from(placesByInstance).flatMap(([line, places]) => {
    const type = typeOf(schema, graph, line)
    if (!type) return []
    const tenant = tenantOf(graph, line)
    return {
      instance: { type: type.key, key: keyText(graph, line) },
      tenant: knownOr(tenantTexts, tenant, () => keyText(graph, tenant)),
      attributes: attributesOf(graph, line),
      ...knownOr(meanings, `${type.id} ${places}`, () => meaningOf(type, places)),
    }
  })
}

/** What these roles of a type are called, and what they allow. */
function meaningOf(type: TypeView, places: readonly number[]): Pick<InstanceRoles, 'roles' | 'actions'> {
  return {
    roles: keysOf(type, places),
    actions: Array.from(type.actions.values())
      .filter(({ rolePlaces }) => places.some(place => rolePlaces.has(place)))
      .map(action => action.key),
  }
}

function knownOr<Name, Value>(known: Map<Name, Value>, name: Name, find: () => Value): Value {
  const found = known.get(name)
  if (found !== undefined) return found
  const value = find()
  known.set(name, value)
  return value
}

export interface GrantQuestion {
  /** Lines; 0 for none. */
  readonly tenant: number
  readonly instance: number
  readonly action: ActionView
}

/**
 * Every assignment that gives some user what the question asks for, at most `limit`. `guarded` looks along `walk`.
 * O(goals and who holds them; where guards are met see `guarded-goals.ts`).
 */
export function grantsOn(
  { regions, schema }: ListingParts,
  { walk, guarded }: { readonly walk: BackwardWalk; readonly guarded: GuardedGoals },
  { tenant, instance, action }: GrantQuestion,
  limit: number,
): UserGrant[] {
  const { graph } = regions
  const grants: UserGrant[] = []
  if (tenant !== 0) {
    for (const [line, masks] of allowingLines(graph, tenant, action)) {
      for (const { user, place } of holdersOf(regions, line, masks)) {
        if (grants.length === limit) return grants
        grants.push({ user: keyText(graph, user), role: schema.tenant.roleKeys[place] ?? '', instance: null })
      }
    }
  }
  if (instance === 0) return grants
  walk.run(instance, action.rolePlaces, 0)
  const { hasGuards } = walk
  if (hasGuards) guarded.look(instance, action.rolePlaces)
  for (const [scope, mask] of walk.masks()) {
    const line = scope & L.LINE_MASK
    const type = typeOf(schema, graph, line)
    if (!type) continue
    for (const { user, place } of holdersOf(regions, line, [scope >>> L.BANK_SHIFT, mask])) {
      if (hasGuards && !guarded.counts(user, walk.goalAt(line, place))) continue
      if (grants.length === limit) return grants
      const held = { type: type.key, key: keyText(graph, line) }
      grants.push({ user: keyText(graph, user), role: type.roleKeys[place] ?? '', instance: held })
    }
  }
  guarded.forget()
  return grants
}

/** Who holds which of these roles on the instance or tenant; `masks` are pairs [bank, mask]. O(assignees × banks). */
function* holdersOf(
  regions: Regions,
  line: number,
  masks: ArrayLike<number>,
): Iterable<{ readonly user: number; readonly place: number }> {
  for (const user of masks.length === 0 ? [] : assigneesOf(regions, line)) {
    for (let m = 0; m < masks.length; m += 2) {
      const bank = masks[m]!
      const held = maskAt(regions.graph, user, line | (bank << L.BANK_SHIFT)) & masks[m + 1]!
      for (const place of placesIn(bank, held)) yield { user, place }
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

/** Adds the place to a known scope, or to a new one while there are fewer than `limit`. */
function addTo(places: Map<number, number[]>, line: number, place: number, limit: number): void {
  const known = places.get(line)
  if (known) {
    if (!known.includes(place)) known.push(place)
  } else if (places.size < limit) places.set(line, [place])
}

export function keysOf(type: TypeView, places: Iterable<number>): string[] {
  return Array.from(places, place => type.roleKeys[place] ?? '')
}

export function typeOf(schema: SchemaView, graph: Int32Array, line: number): TypeView | undefined {
  return schema.typesById[graph[line << L.LINE_WORDS_LOG2]! >>> L.TYPE_SHIFT]
}

export function tenantOf(graph: Int32Array, instance: number): number {
  return graph[(instance << L.LINE_WORDS_LOG2) + L.I_TENANT]!
}
