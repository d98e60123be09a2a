/**
 * Finds near misses of a check that roles deny: checks that fail because of exactly one condition. The user
 * holds another role on an instance of the path, a guard disables a derivation, or a tuple is missing. One
 * walk finds the roles of the user, and another walk finds the roles that would allow. Their results are
 * combined, nearest first.
 *
 * Reads without the lock, so a result is valid only after validation.
 */
import {
  type DerivationStep,
  NEAR_MISS_ROLES_MAX,
  NEAR_MISS_STEPS_MAX,
  NEAR_MISSES_MAX,
  type NearMiss,
  type NearMisses,
  NO_NEAR_MISSES,
  type NotRelated,
  type RoleHeldInstead,
} from '#engine/explanation.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import { VisitedPairs } from '#engine/shared-index/memory/visited-pairs.ts'
import type { ActionView, TypeView } from '#engine/shared-index/schema/schema-view.ts'
import { STAGE_STEPS, type StepBudget } from '#engine/shared-index/schema/walk-steps.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { compareUtf8 } from '#model/text/utf8-order.ts'
import { BackwardWalk, type StepListener } from './backward-walk.ts'
import { ForwardWalk } from './forward-walk.ts'
import { holdsAny, holdsRole, maskAt, roleIndexesIn } from './holdings.ts'
import { keysOf, type ListingParts, tenantOf, typeOf } from './listings.ts'
import { derivationSteps, expiryOfTuple, nameOf, roleAt } from './explained-steps.ts'

/** A check that roles deny. All its names are known. */
interface DeniedQuestion {
  readonly user: number
  readonly instance: number
  readonly type: TypeView
  readonly action: ActionView
}

/**
 * A near miss that has not been converted to names yet, with the number of derivations between it and the
 * requested instance.
 */
interface FoundMiss {
  readonly distance: number
  readonly describe: () => NearMiss
}

/** Returns the near misses. Near misses that the walks do not reach within their budgets are omitted. */
export function* nearMissesOf(
  parts: ListingParts,
  question: DeniedQuestion,
  [back, forth]: readonly [StepBudget, StepBudget],
): Resumable<NearMisses> {
  const { regions, schema } = parts
  const { user, instance, action } = question
  const forward = new ForwardWalk(regions, schema)
  forward.begin(user, false)
  // If the walk did not find all roles of the user, the user might hold a role that seems to be missing.
  // Therefore no near miss could be reported correctly.
  if (!(yield* forth.walk(forward))) return { ...NO_NEAR_MISSES, hasMore: true }
  const held = yield* HeldByLine.of(forward)
  const backward = new BackwardWalk(regions, schema)
  const ways = new Ways(backward, forward)
  backward.begin(instance, action.roleIndexes, user, { listener: ways })
  ways.questionGoals = backward.length
  const isWhole = yield* back.walk(backward)
  const walked = { backward, forward, held, ways }
  const all = [...(yield* otherRoles(parts, instance, walked)), ...blocked(parts, user, walked)]
  const near = all.filter(({ distance }) => distance <= NEAR_MISS_STEPS_MAX)
  const found = near
    .toSorted((left, right) => left.distance - right.distance)
    .slice(0, NEAR_MISSES_MAX + 1)
    .map(({ describe }) => describe())
  // Near misses with a missing tuple come last, after those whose facts all exist.
  if (isWhole && found.length <= NEAR_MISSES_MAX) found.push(...(yield* notRelated(parts, question, walked)))
  return {
    found: found.slice(0, NEAR_MISSES_MAX),
    hasMore: !isWhole || near.length < all.length || found.length > NEAR_MISSES_MAX,
  }
}

/** Items of a forward walk, grouped by line. */
class HeldByLine {
  /** Numbers the lines. The second number of each pair is not used. */
  readonly #lines = new VisitedPairs()
  /** For the number of each line, its first item; for each item, the next item of the same line. */
  readonly #first = new NumberList()
  readonly #next = new NumberList()
  readonly #walk: ForwardWalk;

  static *of(walk: ForwardWalk): Resumable<HeldByLine> {
    const held = new HeldByLine(walk)
    for (let item = 0; item < walk.length; item++) {
      if (item % STAGE_STEPS === STAGE_STEPS - 1) yield
      held.#add(item)
    }
    return held
  }

  private constructor(walk: ForwardWalk) {
    this.#walk = walk
  }

  has(line: number): boolean {
    return this.#lines.numberIfThere(line, 0) >= 0
  }

  *roleIndexes(line: number): Iterable<number> {
    const known = this.#lines.numberIfThere(line, 0)
    if (known < 0) return
    for (let item = this.#first.items[known]!; item >= 0; item = this.#next.items[item]!) {
      yield this.#walk.roleIndexAt(item)
    }
  }

  #add(item: number): void {
    const number = this.#lines.numberOf(this.#walk.lineAt(item), 0)
    const isNew = number === this.#first.length
    this.#next.push(isNew ? -1 : this.#first.items[number]!)
    if (isNew) this.#first.push(item)
    else this.#first.items[number] = item
  }
}

/** A step that a guard disables, although the user holds the role from which it starts. */
interface BlockedStep {
  readonly subject: number
  readonly roleIndex: number
  readonly goal: number
  readonly edgeClass: number
}

/**
 * Listens to the backward walk. Records the edge classes over which steps lead to the instance itself, and
 * the guards that disable derivations from roles of the user.
 */
class Ways implements StepListener {
  readonly #backward: BackwardWalk
  readonly #forward: ForwardWalk
  /** Goals with a smaller number are goals of the query itself. */
  questionGoals = 0
  /** Edge classes of tuples to the instance over which a role that allows is derived. */
  readonly classes = new Set<number>()
  /**
   * For each object, the first step that a guard on it disables. Goals are followed nearest first, so this is
   * one of the nearest steps.
   */
  readonly blockedSteps: BlockedStep[] = []
  readonly #objects = new Set<number>()

  constructor(backward: BackwardWalk, forward: ForwardWalk) {
    this.#backward = backward
    this.#forward = forward
  }

  step(_from: number, to: number, _isGuarded: boolean, edgeClass: number): void {
    if (to < this.questionGoals) this.classes.add(edgeClass)
  }

  blocked(subject: number, roleIndex: number, goal: number, edgeClass: number): void {
    if (goal < this.questionGoals) this.classes.add(edgeClass)
    const object = this.#backward.lineAt(goal)
    if (this.#objects.size > NEAR_MISSES_MAX || this.#objects.has(object)) return
    if (!this.#forward.has(subject, roleIndex)) return
    this.#objects.add(object)
    this.blockedSteps.push({ subject, roleIndex, goal, edgeClass })
  }
}

/** Results of the two walks. */
interface Walked {
  readonly backward: BackwardWalk
  readonly forward: ForwardWalk
  readonly held: HeldByLine
  readonly ways: Ways
}

/**
 * Returns the near misses in which the user holds roles on an instance, but none of the roles that are needed
 * there. O(goals), but usually the first goals are sufficient.
 */
function* otherRoles(parts: ListingParts, instance: number, walked: Walked): Resumable<FoundMiss[]> {
  const { backward, held } = walked
  const found: FoundMiss[] = []
  const lines = new Set<number>()
  for (let goal = 0; goal < backward.length && lines.size <= NEAR_MISSES_MAX; goal++) {
    if (goal % STAGE_STEPS === STAGE_STEPS - 1) yield
    const line = backward.lineAt(goal)
    if (line === instance || !held.has(line) || lines.has(line)) continue
    lines.add(line)
    const distance = backward.distanceOf(goal, NEAR_MISS_STEPS_MAX)
    found.push({ distance, describe: () => describeOtherRole(parts, walked, goal) })
  }
  return found
}

/** Describes the near miss on the instance of `goal`, which is the first goal on that instance. */
function describeOtherRole(parts: ListingParts, { backward, held }: Walked, goal: number): NearMiss {
  const line = backward.lineAt(goal)
  const distance = backward.distanceOf(goal, NEAR_MISS_STEPS_MAX)
  const type = typeOf(parts.schema, parts.regions.graph, line)!
  const needed = [...type.roleKeys.keys()].filter(roleIndex => {
    const other = backward.goalAt(line, roleIndex)
    return other >= 0 && backward.distanceOf(other, distance) === distance
  })
  const extending = type.extending(needed)
  const roles = Array.from(held.roleIndexes(line), (roleIndex): RoleHeldInstead => {
    return { role: type.roleKeys[roleIndex] ?? '', extendsNeeded: extending.has(roleIndex) }
  })
  return {
    kind: 'other-role',
    instance: nameOf(parts, line),
    needed: someOf(keysOf(type, needed)),
    held: roles.toSorted(byUse).slice(0, NEAR_MISS_ROLES_MAX),
    path: derivationSteps(parts, backward, goal),
  }
}

/**
 * Compares two roles. Roles that extend a needed role come first, because users might expect them to be
 * sufficient.
 */
function byUse(left: RoleHeldInstead, right: RoleHeldInstead): number {
  return Number(right.extendsNeeded) - Number(left.extendsNeeded) || compareUtf8(left.role, right.role)
}

/** Returns the near misses in which a guard disables a derivation from a role of the user. */
function blocked(parts: ListingParts, user: number, { backward, ways }: Walked): FoundMiss[] {
  return ways.blockedSteps.map(step => {
    // Adds 1 for the disabled derivation.
    const distance = 1 + backward.distanceOf(step.goal, NEAR_MISS_STEPS_MAX)
    return { distance, describe: () => describeBlocked(parts, user, backward, step) }
  })
}

function describeBlocked(
  parts: ListingParts,
  user: number,
  backward: BackwardWalk,
  step: BlockedStep,
): NearMiss {
  const { graph } = parts.regions
  const line = backward.lineAt(step.goal)
  const instance = nameOf(parts, line)
  const type = typeOf(parts.schema, graph, line)!
  const direct = type.liveMasks.reduce<number[]>((found, live, bank) => {
    const mask = live & maskAt(graph, user, line | (bank << L.BANK_SHIFT))
    return [...found, ...roleIndexesIn(bank, mask)]
  }, [])
  const subject = nameOf(parts, step.subject)
  const relation = parts.schema.relationKey(step.edgeClass)
  const role = typeOf(parts.schema, graph, step.subject)?.roleKeys[step.roleIndex] ?? ''
  const first: DerivationStep = {
    kind: 'derivation',
    subject,
    relation,
    object: instance,
    role: roleAt(parts, backward, step.goal),
    derivation: { role, onType: subject.type, relation, guarded: true },
    ...expiryOfTuple(parts.regions, step.subject, step.edgeClass, line),
  }
  return {
    kind: 'guard',
    instance,
    blocking: someOf(keysOf(type, direct)),
    path: [first, ...derivationSteps(parts, backward, step.goal)],
  }
}

/** A derivation over a relation for which the instance has no tuple. */
interface Unrelated {
  readonly edgeClass: number
  readonly roleIndex: number
  readonly guarded: boolean
}

/**
 * Returns the near misses in which only a tuple is missing. Its subject would be another instance of the
 * tenant on which the user directly holds the required role. Returns at most one near miss per relation for
 * which the instance has no tuple. O(derivations of roles of the type + roles of the user).
 */
function* notRelated(
  parts: ListingParts,
  { user, instance, type, action }: DeniedQuestion,
  { forward, ways }: Walked,
): Resumable<NotRelated[]> {
  const { regions, schema } = parts
  const { graph } = regions
  const { derivations, derivationsFrom } = schema
  const wanted = new Map<string, Unrelated[]>()
  const isBlocked = holdsAny(graph, schema, user, instance)
  for (const edgeClass of type.edgeClasses) {
    if (ways.classes.has(edgeClass)) continue
    yield
    const end = type.relationEnd(edgeClass)
    for (let d = derivationsFrom[edgeClass]!; d < derivationsFrom[edgeClass + 1]!; d += 3) {
      const roleIndex = derivations[d + 1]!
      const guarded = derivations[d + 2] === 1
      if (!action.roleIndexes.has(roleIndex) || (guarded && isBlocked)) continue
      const name = `${end} ${derivations[d]!}`
      const others = wanted.get(name) ?? []
      // A single derivation per relation is sufficient.
      if (others.at(-1)?.edgeClass === edgeClass) continue
      others.push({ edgeClass, roleIndex, guarded })
      wanted.set(name, others)
    }
  }
  const found = new Map<number, NotRelated>()
  for (let item = 0; item < forward.length && found.size <= NEAR_MISSES_MAX; item++) {
    if (item % STAGE_STEPS === STAGE_STEPS - 1) yield
    const [line, held] = [forward.lineAt(item), forward.roleIndexAt(item)]
    const end = typeOf(schema, graph, line)!
    for (const { edgeClass, roleIndex, guarded } of wanted.get(`${end.id} ${held}`) ?? []) {
      if (found.has(edgeClass) || line === instance || !holdsRole(graph, user, line, held)) continue
      if (tenantOf(graph, line) !== tenantOf(graph, instance)) continue
      const relation = type.relationKey(edgeClass)
      found.set(edgeClass, {
        kind: 'no-tuple',
        instance: nameOf(parts, instance),
        role: type.roleKeys[roleIndex] ?? '',
        derivation: { role: end.roleKeys[held] ?? '', onType: end.key, relation, guarded },
        heldOn: nameOf(parts, line),
      })
    }
  }
  return [...found.values()]
}

/** Returns the first keys in key order, up to the limit. */
function someOf(keys: readonly string[]): string[] {
  return keys.toSorted(compareUtf8).slice(0, NEAR_MISS_ROLES_MAX)
}
