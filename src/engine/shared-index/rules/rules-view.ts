/**
 * A thread's view of the rules: a copy of the compiled rules (`rule-code.ts`), and data that the thread has
 * derived from the copy. A view belongs to one state of the schema.
 */
import type { Condition } from '#conditions/condition.ts'
import { type Path, readPath } from '#conditions/values/paths.ts'
import { isRefused, readCondition } from '#conditions/read-condition.ts'
import { type AttributeNames, NAMES_MAX } from '#engine/shared-index/memory/attribute-names.ts'
import { unpackArrays } from '#engine/shared-index/memory/packed-arrays.ts'
import { textIn } from '#engine/shared-index/memory/values.ts'
import { assert } from '#model/assert.ts'
import type { Permission } from '#model/change.ts'
import { parsedJson } from '#model/text/json-numbers.ts'
import { hashOfName, permissionName, PLAN, UNIT, UNIT_ARRAYS } from './rule-code.ts'

/** Sources from which the value of a path can come. */
export const SOURCE = { computed: 0, user: 1, resource: 2, tenant: 3, context: 4, deep: 5 } as const
/**
 * Paths whose values the service computes. The `key` paths are included, because an entity without a `key`
 * attribute has the key in the query.
 */
const COMPUTED = new Set([
  'user.key',
  'user.roles',
  'user.tenants',
  'resource.type',
  'resource.tenant',
  'resource.key',
  'resource.id',
  'tenant.key',
  'server.time',
])

/** A path, and the numbers of the attribute names that can be its first part. */
export interface PathView extends Path {
  readonly source: (typeof SOURCE)[keyof typeof SOURCE]
  /**
   * At index n: the number of the attribute whose name is the first n + 1 names joined by dots; -1 if that
   * name had no number when `known` was set.
   */
  readonly numbers: Int32Array
  known: number
}

/**
 * For the number of each attribute name, the path that reads the attribute: of users, and of resources. -1 if
 * no path reads it.
 */
class Spread {
  readonly user = new Int16Array(NAMES_MAX).fill(-1)
  readonly resource = new Int16Array(NAMES_MAX).fill(-1)
  readonly #view: RulesView
  #known = -1

  constructor(view: RulesView) {
    this.#view = view
  }

  /** Updates the table. O(paths) if names have been added, otherwise O(1). */
  refresh(names: AttributeNames): void {
    if (names.known === this.#known) return
    this.#known = names.known
    for (let path = 0; path < this.#view.paths; path++) {
      const view = this.#view.path(path)
      refreshPath(view, names)
      const number = view.numbers[0]!
      if (number < 0) continue
      if (view.source === SOURCE.user) this.user[number] = path
      if (view.source === SOURCE.resource) this.resource[number] = path
    }
  }
}

/** The rules of one permission. */
export interface PlanView {
  readonly view: RulesView
  /** Position of the plan in the program. */
  readonly at: number
  readonly flags: number
}

/** A set in its source form, for explanations. */
export interface SetText {
  readonly key: string
  readonly type: string | null
  readonly conditions: Condition | null
  readonly parent: number
  /** Number of bytes of the text that was parsed. */
  readonly bytes: number
}

export class RulesView {
  readonly program: Int32Array
  readonly leafFrom: Int32Array
  readonly setFrom: Int32Array
  readonly setParent: Int32Array
  readonly paths: number
  readonly spread = new Spread(this)
  readonly #arrays: readonly Int32Array[]
  readonly #copyTexts: () => Int32Array | null
  readonly #plans = new Map<string, Map<string, PlanView | null>>()
  readonly #paths: PathView[]
  readonly #trees: Condition[]
  #texts: Int32Array | null = null
  #permissions: readonly Permission[] | null = null

  /**
   * Creates a view. Returns `null` if another schema is being published. `source` copies words of the unit,
   * which has `words` words. `known` is a view of an earlier state, whose derived data is reused.
   */
  static of(
    source: (from: number, to: number) => Int32Array | null,
    words: number,
    known: RulesView | null = null,
  ): RulesView | null {
    const lengths = source(0, UNIT_ARRAYS)
    if (lengths === null) return null
    const texts = words - lengths[UNIT.texts]!
    const unit = source(0, texts)
    return unit && new RulesView(unit, () => source(texts, words), known)
  }

  constructor(unit: Int32Array, copyTexts: () => Int32Array | null, known: RulesView | null) {
    const arrays = unpackArrays(unit, UNIT_ARRAYS)
    this.#arrays = arrays
    this.#copyTexts = copyTexts
    this.program = arrays[UNIT.program]!
    this.leafFrom = arrays[UNIT.leafFrom]!
    this.setFrom = arrays[UNIT.setFrom]!
    this.setParent = arrays[UNIT.setParent]!
    this.paths = arrays[UNIT.pathFrom]!.length
    const isNumberedAlike = known?.numbering === this.numbering
    this.#paths = isNumberedAlike ? known.#paths : []
    this.#trees = isNumberedAlike ? known.#trees : []
  }

  /**
   * Returns the numbering. In views with the same numbering, the number of a path or test has the same
   * meaning.
   */
  get numbering(): number {
    return this.#arrays[UNIT.numbering]![0]!
  }

  /** Returns the plan of a permission, or `null` if it has no rules. Expected O(1). */
  planOf(type: string, action: string): PlanView | null {
    let ofType = this.#plans.get(type)
    if (ofType === undefined) this.#plans.set(type, (ofType = new Map()))
    let plan = ofType.get(action)
    if (plan === undefined) ofType.set(action, (plan = this.#find(permissionName(type, action))))
    return plan
  }

  /** Returns the types and actions that have rules. O(number of permissions); cached. */
  permissions(): readonly Permission[] {
    const all = this.#arrays[UNIT.permissionFrom]!
    return (this.#permissions ??= Array.from(
      all.filter(at => at !== 0),
      at => {
        const [type, action] = JSON.parse(textAt(this.program, at)) as [string, string]
        return { type, action }
      },
    ))
  }

  path(path: number): PathView {
    return (this.#paths[path] ??= this.#readPath(path))
  }

  /** Returns whether `tree` has already parsed this test. */
  hasTree(leaf: number): boolean {
    return this.#trees[leaf] !== undefined
  }

  /** Returns the parsed form of a test that is stored as text. */
  tree(leaf: number, at: number): Condition {
    return (this.#trees[leaf] ??= this.#readTree(at))
  }

  /**
   * Copies the texts, which only explanations need, if that has not been done. Returns false if another
   * schema has been published.
   */
  hasTexts(): boolean {
    this.#texts ??= this.#copyTexts()
    return this.#texts !== null
  }

  set(number: number): SetText {
    assert(this.#texts !== null, 'the texts are copied before a set is read from them')
    const text = textAt(this.#texts, this.#arrays[UNIT.setText]![number]!)
    const [key, type, raw] = parsedJson(text) as [string, string | null, unknown]
    const conditions = readCondition(raw, [])
    return {
      key,
      type,
      conditions: isRefused(conditions) ? null : conditions,
      parent: this.setParent[number]!,
      bytes: text.length,
    }
  }

  /** Returns all rules of a plan, as pairs of sides. Call `hasTexts` first. */
  rulesOf({ at }: PlanView): Int32Array {
    assert(this.#texts !== null, 'the texts are copied before rules are read from them')
    const from = this.program[at + PLAN.rulesAt]!
    return this.#texts.subarray(from, from + 2 * this.program[at + PLAN.rules]!)
  }

  #find(name: string): PlanView | null {
    const hashes = this.#arrays[UNIT.permissionHashes]!
    const hash = hashOfName(name)
    let from = 0
    for (let to = hashes.length / 2; from < to;) {
      const middle = (from + to) >>> 1
      if (hashes[2 * middle]! < hash) from = middle + 1
      else to = middle
    }
    for (; hashes[2 * from] === hash; from++) {
      const number = hashes[2 * from + 1]!
      if (textAt(this.program, this.#arrays[UNIT.permissionFrom]![number]!) !== name) continue
      const at = this.#arrays[UNIT.planFrom]![number]!
      return { view: this, at, flags: this.program[at + PLAN.flags]! }
    }
    return null
  }

  #readPath(path: number): PathView {
    const read = readPath(textAt(this.program, this.#arrays[UNIT.pathFrom]![path]!))
    assert(typeof read !== 'string', 'a compiled path can be read')
    const numbers = new Int32Array(read.names.length).fill(-1)
    const { root, names, text } = read
    const ofRoot = root === 'server' ? SOURCE.computed : SOURCE[root]
    const source = names.length > 1 ? SOURCE.deep : COMPUTED.has(text) ? SOURCE.computed : ofRoot
    return { root, names, text, source, numbers, known: -1 }
  }

  #readTree(at: number): Condition {
    const condition = readCondition(parsedJson(textAt(this.program, at)), [])
    assert(!isRefused(condition), 'a compiled leaf can be read')
    return condition
  }
}

/** Updates the numbers of a path's names, because names might have received a number since the last call. */
export function refreshPath(path: PathView, names: AttributeNames): void {
  if (path.known === names.known) return
  path.known = names.known
  for (let joined = 1; joined <= path.names.length; joined++) {
    path.numbers[joined - 1] = names.numberOf(path.names.slice(0, joined).join('.'))
  }
}

function textAt(words: Int32Array, at: number): string {
  return textIn(words, at + 1, words[at]!)
}
