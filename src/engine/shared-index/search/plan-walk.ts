/**
 * Finds the instances that roles of a user allow, for a plan (filter.md P27 to P30). Like `forward-walk.ts`,
 * the walk goes forward from the direct assignments of the user. It follows only roles from which a
 * sufficient role can be derived, and records how instances are reached: the last step over a relation that
 * is a column of the row leads to a list of its subjects. It also finds the earliest expiration time of the
 * facts that it uses.
 *
 * It reads without the lock, so a result is valid only after validation.
 */
import { expiresAtOf } from '#engine/shared-index/memory/expiry-table.ts'
import * as L from '#engine/shared-index/memory/layout.ts'
import { NumberList } from '#engine/shared-index/memory/number-list.ts'
import { isDead, typeOf as typeNumberOf } from '#engine/shared-index/memory/records.ts'
import { isWithin, PAIRS } from '#engine/shared-index/memory/slab.ts'
import { VisitedPairs } from '#engine/shared-index/memory/visited-pairs.ts'
import type { ActionView, SchemaView, TypeView } from '#engine/shared-index/schema/schema-view.ts'
import { FORWARD_STEPS_MAX, STAGE_STEPS } from '#engine/shared-index/schema/walk-steps.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { assignmentsOf, assignmentWords, holdsAny, maskAt, roleIndexesIn } from './holdings.ts'
import { type ListingParts, tenantOf, typeOf } from './listings.ts'

/** Lines of instances, each once. At most `max` lines are kept. */
export class FoundLines {
  readonly lines = new Set<number>()
  isWhole = true
  readonly #max: number

  constructor(max: number) {
    this.#max = max
  }

  take(line: number): void {
    if (!this.isWhole || this.lines.has(line)) return
    if (this.lines.size >= this.#max) this.isWhole = false
    else this.lines.add(line)
  }
}

/** A relation that is a column, and its subjects from which a role on the row is derived. */
interface ColumnRelation {
  readonly relation: string
  readonly subjectType: number
  /** For each role index of a subject, 1 if a derivation leads to a sufficient role, 2 if all are guarded. */
  readonly sources: ReadonlyMap<number, 1 | 2>
  readonly open: FoundLines
  readonly guarded: FoundLines
}

export interface PlanWalkQuestion {
  readonly user: number
  readonly type: TypeView
  readonly action: ActionView
  /** Relations that are columns, by edge class. */
  readonly columns: ReadonlyMap<number, string>
  /** Returns whether instances of this tenant can be in the lists. */
  readonly accepts: (tenant: number) => boolean
  readonly keysMax: number
}

export class PlanWalk {
  readonly instances: FoundLines
  readonly relations: readonly ColumnRelation[]
  /** Earliest expiration time of a fact that the walk used; infinite if none expires. */
  end = Infinity
  readonly #parts: ListingParts
  readonly #question: PlanWalkQuestion
  /** For each type, the roles that matter. */
  readonly #relevant: ReadonlyMap<number, ReadonlySet<number>>
  readonly #items = new NumberList()
  readonly #seen = new VisitedPairs()
  #steps = 0

  constructor(parts: ListingParts, question: PlanWalkQuestion) {
    const { schema } = parts
    const { type, action, columns, keysMax } = question
    this.#parts = parts
    this.#question = question
    this.#relevant = relevantRoles(schema, type, action)
    this.instances = new FoundLines(keysMax)
    this.relations = [...columns].map(([edgeClass, relation]) => ({
      relation,
      subjectType: type.relationEnd(edgeClass),
      sources: sourcesOf(schema, edgeClass, action),
      open: new FoundLines(keysMax),
      guarded: new FoundLines(keysMax),
    }))
  }

  /** Runs the walk. Returns false if it would take more than `FORWARD_STEPS_MAX` steps. */
  *run(): Resumable<boolean> {
    const { regions, schema } = this.#parts
    const { graph } = regions
    const { user } = this.#question
    const masks = masksOf(schema, this.#relevant)
    // A user can have a million roles, so this loop creates no objects.
    const { from, end } = assignmentWords(regions, user)
    for (let at = from; at < end; at += 2) {
      // Pauses count free pairs as well; steps count only roles.
      if ((at - from + 2) % (2 * STAGE_STEPS) === 0) yield
      const scope = graph[at]!
      if (scope !== 0) this.#steps += 1
      const line = scope & L.LINE_MASK
      const type = typeNumberOf(graph, line)
      const bank = scope >>> L.BANK_SHIFT
      let rest = graph[at + 1]! & (masks[type]?.[bank] ?? 0)
      if (scope === 0 || rest === 0 || isDead(graph, line)) continue
      for (; rest !== 0; rest &= rest - 1) {
        const roleIndex = bank * L.BANK_ROLES + 31 - Math.clz32(rest & -rest)
        this.#noteRole(scope, roleIndex)
        this.#takeInstance(line, type, roleIndex)
        this.#reach(line, type, roleIndex, true)
      }
    }
    for (let next = 0; next < this.#items.length; next += 2) {
      const line = this.#items.items[next]!
      const roleIndex = this.#items.items[next + 1]!
      const container = graph[(line << L.LINE_WORDS_LOG2) + L.I_CONTAINER]! << L.LINE_WORDS_LOG2
      if (container === 0) continue
      yield* this.#follow(container + L.C_OUT_CONTAINERS, { line, roleIndex }, false)
      yield* this.#follow(container + L.C_OUT_OTHERS, { line, roleIndex }, true)
      if (this.#steps > FORWARD_STEPS_MAX) return false
    }
    return true
  }

  *#follow(
    descriptor: number,
    from: { readonly line: number; readonly roleIndex: number },
    isLast: boolean,
  ): Resumable<void> {
    const { graph } = this.#parts.regions
    const ptr = graph[descriptor]!
    const meta = graph[descriptor + 1]!
    if (!meta) return
    if ((meta & L.LOG2_MASK) === L.INLINE) {
      this.#derive(ptr, meta >>> L.COUNT_SHIFT, from, isLast)
      return
    }
    if (!isWithin(graph, ptr, meta & L.LOG2_MASK, PAIRS)) return
    const end = ptr + (2 << (meta & L.LOG2_MASK))
    for (let at = ptr; at < end; at += 2) {
      if (graph[at] !== 0) this.#derive(graph[at]!, graph[at + 1]!, from, isLast)
      if (this.#isStageOver()) yield
      if (this.#steps > FORWARD_STEPS_MAX) return
    }
  }

  #isStageOver(): boolean {
    this.#steps += 1
    return this.#steps % STAGE_STEPS === 0
  }

  #derive(
    object: number,
    edgeClass: number,
    from: { readonly line: number; readonly roleIndex: number },
    isLast: boolean,
  ): void {
    const { regions, schema } = this.#parts
    const { graph } = regions
    const { derivations, derivationsFrom } = schema
    const head = graph[object << L.LINE_WORDS_LOG2]!
    const type = head >>> L.TYPE_SHIFT
    const end = derivationsFrom[edgeClass + 1]!
    this.#steps += (end - derivationsFrom[edgeClass]!) >> 5
    for (let d = derivationsFrom[edgeClass]!; d < end; d += 3) {
      if (derivations[d] !== from.roleIndex || (head & L.FLAG_DEAD) !== 0) continue
      const roleIndex = derivations[d + 1]!
      if (!this.#isRelevant(type, roleIndex)) continue
      if (derivations[d + 2] === 1 && holdsAny(graph, schema, this.#question.user, object)) {
        this.#noteDirectRoles(object)
        continue
      }
      this.#noteTuple(from.line, edgeClass, object)
      if (!this.#question.columns.has(edgeClass)) this.#takeInstance(object, type, roleIndex)
      this.#reach(object, type, roleIndex, !isLast)
    }
  }

  /** Takes an instance on which the role is held in another way than over a column. */
  #takeInstance(line: number, type: number, roleIndex: number): void {
    const { type: wanted, action } = this.#question
    if (type !== wanted.id || !action.roleIndexes.has(roleIndex)) return
    if (this.#isAccepted(line)) this.instances.take(line)
  }

  /** Continues from a role on an instance. Without a container, no role is derived from the instance. */
  #reach(line: number, type: number, roleIndex: number, hasContainer: boolean): void {
    for (const { subjectType, sources, open, guarded } of this.relations) {
      const source = subjectType === type ? sources.get(roleIndex) : undefined
      if (source !== undefined && this.#isAccepted(line)) (source === 1 ? open : guarded).take(line)
    }
    const { graph } = this.#parts.regions
    if (!hasContainer || graph[(line << L.LINE_WORDS_LOG2) + L.I_CONTAINER] === 0) return
    if (!this.#seen.add(line, roleIndex)) return
    this.#items.push(line)
    this.#items.push(roleIndex)
  }

  #isAccepted(line: number): boolean {
    const { graph } = this.#parts.regions
    const tenant = tenantOf(graph, line)
    return !isDead(graph, tenant) && this.#question.accepts(tenant)
  }

  #isRelevant(type: number, roleIndex: number): boolean {
    return this.#relevant.get(type)?.has(roleIndex) ?? false
  }

  #noteRole(scope: number, roleIndex: number): void {
    const fact = { isTuple: false, line: this.#question.user, other: scope, link: roleIndex & 31 }
    this.#note(expiresAtOf(this.#parts.regions, fact))
  }

  #noteTuple(subject: number, edgeClass: number, object: number): void {
    const { regions } = this.#parts
    const other = regions.graph[(subject << L.LINE_WORDS_LOG2) + L.I_CONTAINER]!
    this.#note(expiresAtOf(regions, { isTuple: true, line: object, other, link: edgeClass }))
  }

  /** Notes the roles because of which a guard applies: when they expire, the derivation applies again. */
  #noteDirectRoles(line: number): void {
    const { regions, schema } = this.#parts
    const { graph } = regions
    for (const bank of (typeOf(schema, graph, line)?.liveMasks ?? []).keys()) {
      const scope = line | (bank << L.BANK_SHIFT)
      for (const roleIndex of roleIndexesIn(bank, maskAt(graph, this.#question.user, scope))) {
        this.#noteRole(scope, roleIndex)
      }
    }
  }

  #note(expiresAt: number | null): void {
    if (expiresAt !== null && expiresAt < this.end) this.end = expiresAt
  }

  /** Returns the instances of the type on which the user has a direct role. O(assignments of the user). */
  *direct(): Resumable<FoundLines> {
    const { regions, schema } = this.#parts
    const { graph } = regions
    const { user, type, keysMax } = this.#question
    const found = new FoundLines(keysMax)
    for (const [scope, held] of assignmentsOf(regions, user)) {
      if (this.#isStageOver()) yield
      const line = scope & L.LINE_MASK
      if (typeOf(schema, graph, line) !== type || isDead(graph, line) || !this.#isAccepted(line)) continue
      if ((held & (type.liveMasks[scope >>> L.BANK_SHIFT] ?? 0)) === 0) continue
      found.take(line)
      this.#noteDirectRoles(line)
    }
    return found
  }
}

/** Returns the masks of the live roles that matter, by type and bank. */
function masksOf(
  { typesById }: SchemaView,
  relevant: ReadonlyMap<number, ReadonlySet<number>>,
): readonly (Int32Array | undefined)[] {
  const masks: (Int32Array | undefined)[] = []
  for (const [type, roles] of relevant) {
    const { liveMasks } = typesById[type]!
    const ofType = new Int32Array(liveMasks.length)
    for (const roleIndex of roles)
      ofType[Math.floor(roleIndex / L.BANK_ROLES)]! |= 1 << (roleIndex % L.BANK_ROLES)
    masks[type] = ofType.map((mask, bank) => mask & liveMasks[bank]!)
  }
  return masks
}

/**
 * Returns the source roles of the derivations over an edge class that lead to a role which allows the action.
 */
function sourcesOf(
  { derivations, derivationsFrom }: SchemaView,
  edgeClass: number,
  action: ActionView,
): Map<number, 1 | 2> {
  const sources = new Map<number, 1 | 2>()
  for (let d = derivationsFrom[edgeClass]!; d < derivationsFrom[edgeClass + 1]!; d += 3) {
    if (!action.roleIndexes.has(derivations[d + 1]!)) continue
    const source = derivations[d]!
    if (derivations[d + 2] !== 1) sources.set(source, 1)
    else if (!sources.has(source)) sources.set(source, 2)
  }
  return sources
}

/**
 * Returns, for each type, the roles from which a role that allows the action can be derived, and these roles
 * themselves. O(derivations × depth).
 */
function relevantRoles(
  schema: SchemaView,
  target: TypeView,
  action: ActionView,
): ReadonlyMap<number, ReadonlySet<number>> {
  const relevant = new Map<number, Set<number>>([[target.id, new Set(action.roleIndexes)]])
  const pending: (readonly [TypeView, number])[] = Array.from(action.roleIndexes, index => [target, index])
  for (const [type, roleIndex] of pending) {
    for (const edgeClass of type.edgeClasses) {
      const sources = schema.derivationsTo(edgeClass, roleIndex)
      if (sources.length === 0) continue
      const subjectType = schema.typesById[type.relationEnd(edgeClass)]
      if (subjectType === undefined) continue
      let known = relevant.get(subjectType.id)
      if (known === undefined) relevant.set(subjectType.id, (known = new Set()))
      for (let at = 0; at < sources.length; at += 2) {
        if (known.has(sources[at]!)) continue
        known.add(sources[at]!)
        pending.push([subjectType, sources[at]!])
      }
    }
  }
  return relevant
}
