/**
 * Everything a user holds: the least fixed point of contract C.2, forward from the user's direct assignments along
 * out-edges. One item per (instance, role), except at the last instances of a path (see `#derive`); the list is its own
 * worklist, so cycles end and depth costs nothing.
 *
 * Serves searches whole, and checks on wide instances within a budget of steps. It reads without the lock as checks
 * do: a result counts only after validation.
 */
import { holdsAny } from './holdings.ts'
import * as L from './layout.ts'
import { NumberList } from './number-list.ts'
import type { Regions } from './regions.ts'
import type { SchemaView } from './schema-view.ts'
import { isWithin, PAIRS } from './slab.ts'
import { VisitedPairs } from './visited-pairs.ts'

export interface WalkScope {
  /** Also to instances without a container, i.e. those that give nothing further. */
  readonly toOthers: boolean
  readonly stepsMax: number
}

export class ForwardWalk {
  readonly #regions: Regions
  #schema: SchemaView
  readonly #items = new NumberList()
  readonly #seen = new VisitedPairs()
  #user = 0
  #steps = 0
  #toOthers = false

  constructor(regions: Regions, schema: SchemaView) {
    this.#regions = regions
    this.#schema = schema
  }

  useSchema(schema: SchemaView): void {
    this.#schema = schema
  }

  /** Items found by the last run. */
  get length(): number {
    return this.#items.length >>> 1
  }

  lineAt(index: number): number {
    return this.#items.items[index * 2]!
  }

  /** The place of the role held there: bank × 32 + bit. */
  placeAt(index: number): number {
    return this.#items.items[index * 2 + 1]!
  }

  /** False if it gave up after `stepsMax` steps, with part of the items found. */
  run(user: number, { toOthers, stepsMax }: WalkScope): boolean {
    this.#user = user << L.LINE_WORDS_LOG2
    this.#toOthers = toOthers
    this.#steps = stepsMax
    this.#items.length = 0
    this.#seen.clear()
    this.#takeAssignments()
    for (let next = 0; next < this.#items.length; next += 2) {
      if (this.#steps <= 0) return false
      this.#follow(this.#items.items[next]!, this.#items.items[next + 1]!)
    }
    return this.#steps > 0
  }

  #takeAssignments(): void {
    const { graph } = this.#regions
    const ptr = graph[this.#user + L.U_ASSIGNMENTS]!
    const meta = graph[this.#user + L.U_ASSIGNMENTS + 1]!
    if (meta === 0 || !isWithin(graph, ptr, meta & L.LOG2_MASK, PAIRS)) return
    const end = ptr + (2 << (meta & L.LOG2_MASK))
    for (let at = ptr; at < end && this.#steps > 0; at += 2) {
      const scope = graph[at]!
      if (scope === 0) continue
      this.#steps -= 1
      const line = scope & L.LINE_MASK
      const head = graph[line << L.LINE_WORDS_LOG2]!
      const type = this.#schema.typesById[head >>> L.TYPE_SHIFT]
      if (type === undefined || type.id === L.TENANT_TYPE || (head & L.FLAG_DEAD) !== 0) continue
      const bank = scope >>> L.BANK_SHIFT
      const mask = graph[at + 1]! & (type.liveMasks[bank] ?? 0)
      for (let rest = mask; rest !== 0; rest &= rest - 1) {
        this.#add(line, bank * L.BANK_ROLES + 31 - Math.clz32(rest & -rest))
      }
    }
  }

  #follow(line: number, place: number): void {
    const { graph } = this.#regions
    const container = graph[(line << L.LINE_WORDS_LOG2) + L.I_CONTAINER]! << L.LINE_WORDS_LOG2
    if (container === 0) return
    this.#followList(container + L.C_OUT_CONTAINERS, place, false)
    if (this.#toOthers) this.#followList(container + L.C_OUT_OTHERS, place, true)
  }

  #followList(descriptor: number, place: number, isLast: boolean): void {
    const { graph } = this.#regions
    const ptr = graph[descriptor]!
    const meta = graph[descriptor + 1]!
    // `!meta`: a torn container may lie beyond the view.
    if (!meta) return
    if ((meta & L.LOG2_MASK) === L.INLINE) return this.#derive(ptr, meta >>> L.COUNT_SHIFT, place, isLast)
    if (!isWithin(graph, ptr, meta & L.LOG2_MASK, PAIRS)) return
    const end = ptr + (2 << (meta & L.LOG2_MASK))
    for (let at = ptr; at < end && this.#steps > 0; at += 2) {
      if (graph[at] !== 0) this.#derive(graph[at]!, graph[at + 1]!, place, isLast)
    }
  }

  /**
   * An instance without a container gives nothing further. So it is neither looked at nor remembered here: such items
   * may be dead or come several times, and whoever reads them looks at them anyway (see `search.ts`).
   */
  #derive(object: number, edgeClass: number, place: number, isLast: boolean): void {
    this.#steps -= 1
    const { graph } = this.#regions
    const { derivations, derivationsFrom } = this.#schema
    const end = derivationsFrom[edgeClass + 1]!
    for (let d = derivationsFrom[edgeClass]!; d < end; d += 3) {
      if (derivations[d] !== place) continue
      if (
        derivations[d + 2] === 1 &&
        holdsAny(graph, this.#schema, this.#user >>> L.LINE_WORDS_LOG2, object)
      ) {
        continue
      }
      if (isLast) {
        this.#items.push(object)
        this.#items.push(derivations[d + 1]!)
      } else if ((graph[object << L.LINE_WORDS_LOG2]! & L.FLAG_DEAD) === 0) {
        this.#add(object, derivations[d + 1]!)
      }
    }
  }

  #add(line: number, place: number): void {
    if (!this.#seen.add(line, place)) return
    this.#items.push(line)
    this.#items.push(place)
  }
}
