/**
 * What the rules of one permission see of one question, in words (`values.ts`). A value is worked out when a leaf first asks for it, and
 * kept for the question. Everyday ones, stored or sent, are found in place; what several sources say of one name, and what is no row, is
 * asked of `ValuesOfQuestion`, which is also what leaves ask that are kept as text.
 */
import type { QuestionValues } from '#conditions/evaluate.ts'
import { ValuesOfQuestion } from '#conditions/question-values.ts'
import { isObject, type JsonObject, memberOf } from '#conditions/values.ts'
import { findInRow, type Found, isRow, textOfBlock } from '#engine/shared-index/memory/attribute-rows.ts'
import type { AttributeNames } from '#engine/shared-index/memory/attribute-names.ts'
import {
  JSON_TEXT,
  kindOf,
  KIND_SHIFT,
  NO_FORM,
  valueIn,
  type ValueWords,
} from '#engine/shared-index/memory/values.ts'
import { type PathView, type Plan, refreshPath } from '#engine/shared-index/rules/rules-view.ts'
import type { Query, SentAttributes } from '#model/decision.ts'

/** An instance that conditions look up, by its names. */
export interface Lookup {
  readonly type: string
  readonly key: string
}

/** What was read of one state for a question: copies, which nothing changes any more. */
export interface AskedRules {
  readonly plan: Plan
  /** Makes the question in strings. */
  readonly query: () => Query
  readonly tenant: string
  /** Where attributes begin in `words`; 0: there are none. */
  readonly words: ValueWords
  readonly user: number
  readonly instance: number
  readonly tenantBlock: number
  /** By bank, if the plan asks for it: the tenant roles of the user in the tenant. */
  readonly roleMasks: Int32Array
  readonly userRoles: readonly string[]
  readonly userTenants: readonly string[]
  /** Instances that were known to be looked up. */
  readonly lookups: readonly Lookup[]
  /** What was found of them. `undefined`: no such instance in the tenant. */
  readonly found: ReadonlyMap<string, string | null | undefined>
}

/** The head of what is missing, and the kind of what is an object of this thread. */
export const MISSING = 0
const OBJECT = 10
export const OBJECT_HEAD = OBJECT << KIND_SHIFT
/** Questions told apart by their number, before the numbers begin anew. */
const STAMPS_MAX = 2 ** 31 - 1
const NOTHING_SENT: SentAttributes = { user: null, resource: null, tenant: null, context: null }

export class RuleValues {
  readonly #names: AttributeNames
  #asked: AskedRules | null = null
  #query: Query | null = null
  #sent: SentAttributes | null = null
  #merged: ValuesOfQuestion | null = null
  /** Looked up in vain, as nobody knew that they would be. */
  readonly missing = new Map<string, Lookup>()
  /** By path: the question for which the rest was worked out. */
  #stamps = new Int32Array(0)
  #stamp = 0
  heads = new Int32Array(0)
  /** Where the words behind a head lie, in the words of the question. */
  ats = new Int32Array(0)
  #objects: unknown[] = []
  readonly #found: Found = { head: 0, at: 0 }
  /** The time that was last asked for, and its text. */
  #readAt = Number.NaN
  #time = ''

  constructor(names: AttributeNames) {
    this.#names = names
  }

  /** `paths`: how many its view has. */
  begin(asked: AskedRules, paths: number): void {
    this.#asked = asked
    this.#query = null
    this.#sent = null
    this.#merged = null
    if (this.missing.size > 0) this.missing.clear()
    if (this.#stamps.length < paths || this.#stamp === STAMPS_MAX) {
      this.#stamps = new Int32Array(paths)
      this.heads = new Int32Array(paths)
      this.ats = new Int32Array(paths)
      this.#objects = []
      this.#stamp = 0
    }
    this.#stamp += 1
  }

  get words(): Int32Array {
    return this.#asked!.words.words
  }

  get query(): Query {
    return (this.#query ??= this.#asked!.query())
  }

  /** Works a value out: its head, and `ats` with it. */
  head(path: number): number {
    if (this.#stamps[path] !== this.#stamp) {
      this.#stamps[path] = this.#stamp
      this.#resolve(path, this.#asked!.plan.view.path(path))
    }
    return this.heads[path]!
  }

  /** As JSON has it; `undefined`: it is missing. */
  value(path: number): unknown {
    const head = this.head(path)
    if (head === MISSING) return undefined
    if (head === OBJECT_HEAD) return this.#objects[path]
    const value = valueIn(head, this.words, this.ats[path]!)
    if (kindOf(head) < JSON_TEXT) return value
    this.heads[path] = OBJECT_HEAD
    this.#objects[path] = value
    return value
  }

  /** All there is to know, for leaves that are kept as text. */
  get merged(): QuestionValues {
    return (this.#merged ??= mergedValues(this.#asked!, this.query, this.#names, this.missing))
  }

  #resolve(path: number, view: PathView): void {
    const { root, names } = view
    if (names.length > 1) return this.#resolveDeep(path, view)
    const name = names[0]!
    const asked = this.#asked!
    switch (root) {
      case 'user':
        if (name === 'key') return this.#put(path, this.query.user)
        if (name === 'roles') return this.#put(path, asked.userRoles)
        if (name === 'tenants') return this.#put(path, asked.userTenants)
        return this.#sentOrStored(path, view, this.#sentOf().user, asked.user)
      case 'resource':
        if (name === 'type') return this.#put(path, this.query.type)
        if (name === 'tenant') return this.#put(path, asked.tenant)
        if (name === 'key' && this.query.key !== null) return this.#put(path, this.query.key)
        this.#sentOrStored(path, view, this.#sentOf().resource, asked.instance)
        if (name === 'id' && this.heads[path] === MISSING) this.#put(path, this.query.key ?? undefined)
        return
      case 'tenant': {
        if (name === 'key') return this.#put(path, asked.tenant)
        // Of a tenant in which the user has no role its attributes are not told.
        const block = asked.roleMasks.some(mask => mask !== 0) ? asked.tenantBlock : 0
        return this.#sentOrStored(path, view, this.#sentOf().tenant, block)
      }
      case 'context':
        return this.#put(path, ownOf(this.#sentOf().context, name))
      case 'server':
        return this.#put(path, this.#timeText())
    }
  }

  #sentOrStored(path: number, view: PathView, sent: JsonObject | null, block: number): void {
    const value = ownOf(sent, view.names[0]!)
    if (value === undefined) return this.#stored(path, view, block)
    // Members of two objects are merged.
    if (isObject(value) && block !== 0) return this.#put(path, this.merged.valueOf(view))
    this.#put(path, value)
  }

  #stored(path: number, view: PathView, block: number): void {
    this.heads[path] = MISSING
    if (block === 0) return
    if (!isRow(this.words[block]!)) return this.#put(path, this.merged.valueOf(view))
    refreshPath(view, this.#names)
    const number = view.numbers[0]!
    if (number < 0 || !findInRow(this.words, block, number, this.#found)) return
    this.heads[path] = this.#found.head
    this.ats[path] = this.#found.at
  }

  /** A member of an object, or an attribute whose own name has dots, which comes first. */
  #resolveDeep(path: number, view: PathView): void {
    const { root, names } = view
    const block = this.#blockOf(view)
    if (block === 0 || !isRow(this.words[block]!)) return this.#put(path, this.merged.valueOf(view))
    refreshPath(view, this.#names)
    for (let joined = names.length; joined > 0; joined--) {
      if (joined === 1 && isComputed(root, names[0]!)) return this.#put(path, this.merged.valueOf(view))
      const number = view.numbers[joined - 1]!
      if (number < 0 || !findInRow(this.words, block, number, this.#found)) continue
      this.heads[path] = this.#found.head
      this.ats[path] = this.#found.at
      if (joined === names.length) return
      let value = kindOf(this.#found.head) === JSON_TEXT ? this.value(path) : undefined
      for (let index = joined; index < names.length; index++) {
        value = isObject(value) ? memberOf(value, names[index]!) : undefined
      }
      return this.#put(path, value)
    }
    this.#put(path, this.merged.valueOf(view))
  }

  /** The only source of a root; 0: there are others. */
  #blockOf({ root }: PathView): number {
    const asked = this.#asked!
    if (root === 'user' && this.#sentOf().user === null) return asked.user
    return root === 'resource' && this.#sentOf().resource === null ? asked.instance : 0
  }

  #put(path: number, value: unknown): void {
    if (value === undefined) {
      this.heads[path] = MISSING
      return
    }
    const { words } = this.#asked!
    const at = words.length
    const head = words.scalar(value)
    this.heads[path] = head === NO_FORM ? OBJECT_HEAD : head
    this.ats[path] = at
    if (head === NO_FORM) this.#objects[path] = value
  }

  #sentOf(): SentAttributes {
    return (this.#sent ??= this.query.circumstances?.sent() ?? NOTHING_SENT)
  }

  #timeText(): string | undefined {
    const { circumstances } = this.query
    if (!circumstances) return undefined
    if (circumstances.readAt !== this.#readAt) {
      this.#time = new Date(circumstances.readAt).toISOString()
      this.#readAt = circumstances.readAt
    }
    return this.#time
  }
}

/** The values of a question as the rules of conditions say them, one source after the other. */
export function mergedValues(
  asked: AskedRules,
  query: Query,
  names: AttributeNames,
  missing: Map<string, Lookup>,
): ValuesOfQuestion {
  const { words, tenant, userRoles, userTenants, found } = asked
  const parsed = (block: number): JsonObject | null =>
    block === 0 ? null : (JSON.parse(textOfBlock(words.words, block, names)) as JsonObject)
  return new ValuesOfQuestion(
    { ...query, tenant },
    {
      userRoles: () => userRoles,
      userTenants: () => userTenants,
      userAttributes: () => parsed(asked.user),
      instanceAttributes: () => parsed(asked.instance),
      tenantAttributes: () => parsed(asked.tenantBlock),
      attributesOf: (type, key) => {
        const name = nameOf({ type, key })
        if (!found.has(name)) {
          missing.set(name, { type, key })
          return undefined
        }
        const text = found.get(name)
        return text === undefined ? undefined : ((JSON.parse(text ?? '{}') ?? {}) as JsonObject)
      },
    },
  )
}

export function nameOf({ type, key }: Lookup): string {
  return JSON.stringify([type, key])
}

function ownOf(sent: JsonObject | null, name: string): unknown {
  return sent === null ? undefined : memberOf(sent, name)
}

const COMPUTED = { user: ['key', 'roles', 'tenants'], resource: ['type', 'tenant', 'key', 'id'] }

function isComputed(root: string, name: string): boolean {
  return root === 'user' ? COMPUTED.user.includes(name) : COMPUTED.resource.includes(name)
}
