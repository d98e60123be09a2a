/**
 * Explains a decision with names, roles and a shortest path of facts. Reads without the lock, so the result
 * is valid only after validation. The work is divided into stages and has a budget of steps. If a result
 * cannot be found within the budget, it is omitted, and the explanation states this.
 *
 * The roles that the user holds on an instance are found with one walk for all roles of the type. The walk
 * goes backward from the instance. Its steps are then followed forward from the roles that the user holds. If
 * too many paths lead to the instance, a forward walk from the roles of the user is used instead.
 */
import { type Explanation, type ExplanationStep, NO_NEAR_MISSES, NO_RULES } from '#engine/explanation.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import { isDead, keyText } from '#engine/shared-index/memory/records.ts'
import { bankOf, lineOfBank } from '#engine/shared-index/schema/tenant-role-overflow.ts'
import type { ActionView, TypeView } from '#engine/shared-index/schema/schema-view.ts'
import { STAGE_STEPS, StepBudget } from '#engine/shared-index/schema/walk-steps.ts'
import { type Query, DEFAULT_TENANT } from '#model/decision.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { BackwardWalk } from './backward-walk.ts'
import { ForwardWalk } from './forward-walk.ts'
import { assignmentsOf, holdsRole, maskAt, roleIndexesIn } from './holdings.ts'
import { keysOf, type ListingParts, tenantOf } from './listings.ts'
import { nearMissesOf } from './near-misses.ts'
import { NO_STEP, StepLists } from './step-lists.ts'
import { derivationSteps, expiryOfRole, nameOf, roleAt } from './explained-steps.ts'

/** Maximum number of derivations in a path that an explanation contains. */
const PATH_STEPS_MAX = 1_000

/** A query whose names have been looked up. Lines are 0 if the name is unknown. */
export interface ResolvedQuestion {
  readonly query: Query
  readonly type: TypeView | undefined
  readonly action: ActionView | undefined
  readonly user: number
  /** The instance that has the key in the query, in any tenant. */
  readonly instance: number
  readonly tenant: number
  readonly isMismatch: boolean
  /** The decision that is to be explained. */
  readonly isAllowed: boolean
  /** Whether the explanation should contain near misses. */
  readonly asksNearMisses: boolean
}

/** Indexes of the roles that the user holds, and whether this list is complete. */
interface HeldRoles {
  readonly roleIndexes: ReadonlySet<number>
  readonly isWhole: boolean
}

/**
 * Explains the decision. There are at most three walks of `stepsMax` steps: one in each direction, and one
 * for the path. If no path is needed, the search for near misses uses the steps of the third walk.
 */
export function* explain(
  parts: ListingParts,
  question: ResolvedQuestion,
  stepsMax: number,
): Resumable<Explanation> {
  const { regions, schema } = parts
  const { query, type, action, user, tenant, isMismatch, isAllowed } = question
  const { graph } = regions
  const instance =
    question.instance !== 0 && !isDead(graph, tenantOf(graph, question.instance)) ? question.instance : 0
  const budgets = Array.from({ length: 3 }, () => new StepBudget(stepsMax)) as [
    StepBudget,
    StepBudget,
    StepBudget,
  ]
  const held: HeldRoles =
    user === 0 || instance === 0 || !type
      ? { roleIndexes: new Set(), isWhole: true }
      : yield* heldOn(parts, user, { instance, type }, budgets)
  const path =
    user !== 0 && action && !isMismatch
      ? yield* pathOf(parts, { ...question, instance, action }, held, budgets[2])
      : []
  const isAllowedByRoles = path === null ? isAllowed : path.length > 0
  const isDenied = user !== 0 && instance !== 0 && !isAllowedByRoles
  const nearMisses =
    question.asksNearMisses && isDenied && type && action && !isMismatch
      ? yield* nearMissesOf(parts, { user, instance, type, action }, [budgets[2], budgets[1]])
      : NO_NEAR_MISSES
  const home = instance === 0 ? DEFAULT_TENANT : keyText(graph, tenantOf(graph, instance))
  return {
    allow: isAllowedByRoles,
    isAllowedByRoles,
    tenant: query.tenant ?? home,
    known: {
      user: user !== 0,
      tenant: tenant !== 0,
      type: type !== undefined,
      action: action !== undefined,
      instance: instance !== 0,
    },
    isTenantMismatch: isMismatch,
    tenantRoles: {
      held: user === 0 || tenant === 0 ? [] : heldInTenant(parts, user, tenant),
      allowing: keysOf(schema.tenant, action?.tenantRoleIndexes ?? []),
      isHeldAnywhere: user !== 0 && (yield* mayHoldInSomeTenant(parts, user, stepsMax)),
    },
    instanceRoles: {
      held: type ? namesOf(type, held.roleIndexes) : [],
      allowing: type ? keysOf(type, action?.roleIndexes ?? []) : [],
    },
    path: path ?? [],
    nearMisses,
    rules: NO_RULES,
    isCutShort: !held.isWhole || path === null,
    steps: budgets.reduce((sum, { spent }) => sum + spent, 0),
  }
}

/** Returns the tenant roles that the user holds in the tenant, by bank. */
export function tenantMasksOf({ regions, schema }: ListingParts, user: number, tenant: number): Int32Array {
  const { graph } = regions
  return schema.tenant.liveMasks.map((live, bank) => {
    const line = live === 0 ? 0 : lineOfBank(graph, tenant, bank)
    return line === 0 ? 0 : live & maskAt(graph, user, line | ((bank & (L.BANKS_MAX - 1)) << L.BANK_SHIFT))
  })
}

/**
 * Returns the keys of the tenant roles that the user holds in the tenant, in the order of their role indexes.
 * O(banks).
 */
export function heldInTenant(parts: ListingParts, user: number, tenant: number): string[] {
  const masks = Array.from(tenantMasksOf(parts, user, tenant))
  return masks.flatMap((mask, bank) => keysOf(parts.schema.tenant, roleIndexesIn(bank, mask)))
}

/**
 * Returns whether the user might hold a tenant role in some tenant. Also returns true if the search takes too
 * many steps. O(assignments of the user), but usually one of the first assignments decides.
 */
function* mayHoldInSomeTenant(
  { regions, schema }: ListingParts,
  user: number,
  stepsMax: number,
): Resumable<boolean> {
  let steps = 0
  for (const [scope, mask] of assignmentsOf(regions, user)) {
    steps += 1
    if (steps > stepsMax) return true
    if (steps % STAGE_STEPS === 0) yield
    const head = regions.graph[(scope & L.LINE_MASK) << L.LINE_WORDS_LOG2]!
    if (head >>> L.TYPE_SHIFT !== L.TENANT_TYPE || (head & L.FLAG_DEAD) !== 0) continue
    if ((mask & (schema.tenant.liveMasks[bankOf(regions.graph, scope)] ?? 0)) !== 0) return true
  }
  return false
}

function namesOf(type: TypeView, roleIndexes: ReadonlySet<number>): string[] {
  return type.roleKeys.flatMap((key, roleIndex) =>
    key !== undefined && roleIndexes.has(roleIndex) ? [key] : [],
  )
}

/**
 * Returns the roles of the instance's type that the user holds on the instance, directly or derived. If
 * `isWhole` is false, some roles might be missing.
 */
export function* heldOn(
  { regions, schema }: ListingParts,
  user: number,
  { instance, type }: { readonly instance: number; readonly type: TypeView },
  [back, forth]: readonly [StepBudget, StepBudget, ...unknown[]],
): Resumable<HeldRoles> {
  const backward = new BackwardWalk(regions, schema)
  const steps = new StepLists()
  const roles = type.roleKeys.flatMap((key, roleIndex) => (key === undefined ? [] : [roleIndex]))
  backward.begin(instance, roles, user, { listener: steps })
  const isWhole = yield* back.walk(backward)
  const roleIndexes = yield* rolesReached(regions.graph, backward, steps, user)
  if (isWhole) return { roleIndexes, isWhole }
  const forward = new ForwardWalk(regions, schema)
  forward.begin(user, true)
  const isForwardWhole = yield* forth.walk(forward)
  for (let item = 0; item < forward.length; item++) {
    if (item % STAGE_STEPS === STAGE_STEPS - 1) yield
    if (forward.lineAt(item) === instance) roleIndexes.add(forward.roleIndexAt(item))
  }
  return { roleIndexes, isWhole: isForwardWhole }
}

/**
 * Returns, by role index, the goals of the query itself that can be reached from the roles of the user.
 * O(goals and steps).
 */
function* rolesReached(
  graph: Int32Array,
  walk: BackwardWalk,
  steps: StepLists,
  user: number,
): Resumable<Set<number>> {
  const reached = new Uint8Array(walk.length)
  const goals = new NumberList()
  const reach = (goal: number): void => {
    if (reached[goal] === 1) return
    reached[goal] = 1
    goals.push(goal)
  }
  for (let goal = 0; goal < walk.length; goal++) {
    if (goal % STAGE_STEPS === STAGE_STEPS - 1) yield
    if (holdsRole(graph, user, walk.lineAt(goal), walk.roleIndexAt(goal))) reach(goal)
  }
  const roleIndexes = new Set<number>()
  for (let i = 0; i < goals.length; i++) {
    if (i % STAGE_STEPS === STAGE_STEPS - 1) yield
    const goal = goals.items[i]!
    if (walk.nextOf(goal) < 0) roleIndexes.add(walk.roleIndexAt(goal))
    for (let step = steps.firstOf(goal); step !== NO_STEP; step = steps.after(step)) reach(steps.toOf(step))
  }
  return roleIndexes
}

/**
 * Returns a shortest path. Returns an empty path if there is none, and null if the budget was used up or the
 * path is too long.
 */
function* pathOf(
  parts: ListingParts,
  { user, tenant, instance, action }: ResolvedQuestion & { readonly action: ActionView },
  held: HeldRoles,
  budget: StepBudget,
): Resumable<readonly ExplanationStep[] | null> {
  const { graph } = parts.regions
  if (tenant !== 0) {
    const masks = tenantMasksOf(parts, user, tenant)
    for (const roleIndex of action.tenantRoleIndexes) {
      if ((masks[roleIndex >>> 5]! & (1 << (roleIndex & 31))) === 0) continue
      const role = parts.schema.tenant.roleKeys[roleIndex] ?? ''
      const line = lineOfBank(graph, tenant, roleIndex >>> 5)
      const expiration = expiryOfRole(parts.regions, user, line, roleIndex)
      return [{ kind: 'tenant-role', tenant: keyText(graph, tenant), role, ...expiration }]
    }
  }
  if (instance === 0) return []
  if (held.isWhole && !Array.from(action.roleIndexes).some(roleIndex => held.roleIndexes.has(roleIndex)))
    return []
  const backward = new BackwardWalk(parts.regions, parts.schema)
  // The walk finds the nearest goals first, so the first goal that the user holds is the beginning of a
  // shortest path.
  backward.begin(instance, action.roleIndexes, user, { endsAtHeld: true })
  if (!(yield* budget.walk(backward))) return null
  return backward.heldGoal < 0 ? [] : stepsFrom(parts, user, backward)
}

/**
 * Returns the steps of a path from the goal that the user holds to the query. Each step leads to the goal
 * from which the previous one was found. Returns null if there are too many steps.
 */
function stepsFrom(parts: ListingParts, user: number, backward: BackwardWalk): ExplanationStep[] | null {
  const held = backward.heldGoal
  if (backward.distanceOf(held, PATH_STEPS_MAX) > PATH_STEPS_MAX) return null
  const instance = nameOf(parts, backward.lineAt(held))
  const expiration = expiryOfRole(parts.regions, user, backward.lineAt(held), backward.roleIndexAt(held))
  return [
    { kind: 'instance-role', instance, role: roleAt(parts, backward, held), ...expiration },
    ...derivationSteps(parts, backward, held),
  ]
}
