/**
 * Finds the candidates of a search in which rules apply: the users or instances that rules might allow. The
 * search then evaluates a check for each candidate.
 *
 * A side of a rule that does not depend on the searched entity is evaluated once. If it is false, the rule
 * yields no candidates. If a rule requires a test of equality or membership, the candidates are the entities
 * in a list of the attribute index (`attribute-index/`), or one entity by its key. If a rule requires no such
 * test, all entities have to be tried.
 *
 * Invariant: the candidates include every entity that a rule allows. Additional candidates only make the
 * search slower.
 */
import {
  ALL_OF,
  ALL_OF_TYPE,
  ANY_OF,
  LEAF,
  LOOKUP_WORDS,
  PLAN,
  UNREADABLE,
} from '#engine/shared-index/rules/rule-code.ts'
import { type PlanView, type RulesView, SOURCE } from '#engine/shared-index/rules/rules-view.ts'
import type { RuleEvaluation } from '#engine/shared-index/check/rule-evaluation.ts'
import { type AskedRules, MISSING, type RuleValues } from '#engine/shared-index/check/rule-values.ts'
import type { Regions } from '#engine/shared-index/memory/index-buffers.ts'
import {
  hashOfScalar,
  kindOf,
  LIST,
  NO_FORM,
  TEXT,
  valueIn,
  ValueWords,
  wordsBehind,
} from '#engine/shared-index/memory/values.ts'
import type { QueryContext } from '#model/decision.ts'
import {
  HASH_OF_UNLISTED,
  listOfAttribute,
  readyList,
  SLOT,
} from '#engine/shared-index/attribute-index/list-directory.ts'
import { estimate } from '#engine/shared-index/attribute-index/ordered-list.ts'
import { codeBehind, dependenceOfPath, dependenceOfSide, RESOURCE, TENANT, USER } from './dependence.ts'

/** The entities in one list that have one hash. */
export interface Range {
  readonly type: number
  readonly name: string
  readonly hash: number
}

export interface Candidates {
  readonly ranges: readonly Range[]
  readonly keys: readonly string[]
}

/** `nobody`: no rule allows any entity. `all`: every entity has to be tried. */
export type CandidateSet = Candidates | 'nobody' | 'all'

export interface SearchedFor {
  readonly what: 'user' | 'resource'
  /** The lists to use: those of users, or those of this resource type. */
  readonly type: number
  /** Whether instances of any tenant are searched for. */
  readonly isTenantOpen: boolean
}

/** Maximum number of sources of candidates. A search with more sources tries all entities. */
const SOURCES_MAX = 64
/**
 * Maximum number of rules and sources that are examined, which takes about ten milliseconds. If there are
 * more, all entities are tried.
 */
const LOOKED_MAX = 20_000

type Source = Range | { readonly key: string }

/** Finds candidates. Each thread has one instance. */
export class CandidateFinder {
  readonly #regions: Regions
  readonly #evaluation: RuleEvaluation
  readonly #scratch = new ValueWords()
  #values: RuleValues | null = null
  #view: RulesView | null = null
  #searched: SearchedFor | null = null
  /** The parts of a query that vary between the searched entities: user, resource or tenant. */
  #varying = 0
  #queryContext: QueryContext | undefined
  /** Total cost of all searches, in the unit of `RuleEvaluation.steps`. */
  steps = 0
  /** Rules and sources examined by the current search. */
  #looked = 0
  /** For each name of a list, the word of its slot; 0 if there is no list that can be read. */
  readonly #slots = new Map<string, number>()
  /** For each set, its sources. Cached, because many rules can share a set. */
  readonly #sourcesOfSets = new Map<number, readonly Source[] | null>()

  constructor(regions: Regions, evaluation: RuleEvaluation) {
    this.#regions = regions
    this.#evaluation = evaluation
  }

  /**
   * Returns the candidates. `asked` contains the values collected for the query, except those of the searched
   * entity. O(examined rules).
   */
  find(asked: AskedRules, searched: SearchedFor): CandidateSet {
    try {
      return this.#find(asked, searched)
    } finally {
      this.steps += this.#evaluation.spent + this.#looked
      this.#evaluation.end()
    }
  }

  #find(asked: AskedRules, searched: SearchedFor): CandidateSet {
    const { plan, source, index } = asked
    this.#searched = searched
    this.#slots.clear()
    this.#sourcesOfSets.clear()
    this.#looked = 0
    this.#view = plan.view
    this.#varying = searched.what === 'user' ? USER : RESOURCE | (searched.isTenantOpen ? TENANT : 0)
    this.#queryContext = source.queryContext(index)
    this.#values = this.#evaluation.consider(asked)
    const sources = new Map<string, Source>()
    const known = new Set<readonly Source[]>()
    for (const rules of this.#rulesOf(plan)) {
      for (let at = rules.from; at < rules.end; at += 2) {
        this.#looked += 1
        const ofRule = this.#sourcesOfRule(plan.view.program[at]!, plan.view.program[at + 1]!)
        // If tests were left unknown because the budget was used up, all entities are tried: a check of a
        // single entity uses fewer steps, so these tests might be true in such a check.
        if (ofRule === null || this.#looked > LOOKED_MAX || this.#evaluation.isIncomplete) return 'all'
        if (known.has(ofRule)) continue
        known.add(ofRule)
        for (const each of ofRule) sources.set(JSON.stringify(each), each)
        if (sources.size > SOURCES_MAX) return 'all'
      }
    }
    if (sources.size === 0) return 'nobody'
    const found = [...sources.values()]
    const ranges = found.filter(each => 'hash' in each)
    const unlisted = new Map(ranges.map(range => [range.name, { ...range, hash: HASH_OF_UNLISTED }]))
    const keys = found.flatMap(each => ('key' in each ? [each.key] : []))
    return { ranges: [...ranges, ...unlisted.values()], keys }
  }

  /**
   * Returns the ranges of rules in the program that might allow. The values of attributes select them; rules
   * outside these ranges allow nothing.
   */
  *#rulesOf({ at, view }: PlanView): Iterable<{ readonly from: number; readonly end: number }> {
    const { program } = view
    const stretch = (from: number, count: number) => ({ from, end: from + 2 * count })
    const lookups = program[at + PLAN.lookupsAt]!
    const end = lookups + program[at + PLAN.lookups]! * LOOKUP_WORDS
    for (let from = lookups; from < end; from += LOOKUP_WORDS) {
      const path = program[from]!
      const table = program[from + 1]!
      if (this.#isFixed(path)) {
        const rules = this.#evaluation.rulesByValue(path, table)
        if (rules !== 0) yield stretch(rules + 1, program[rules]!)
        continue
      }
      for (let slot = table + 1; slot <= table + (1 << program[table]!); slot++) {
        const entry = program[slot]!
        if (entry === 0) continue
        const rules = entry + 1 + wordsBehind(program[entry]!, program, entry + 1)
        yield stretch(rules + 1, program[rules]!)
      }
    }
    yield stretch(program[at + PLAN.othersAt]!, program[at + PLAN.others]!)
  }

  /**
   * Returns the sources of a rule's candidates, or `null` if the rule requires no test by which candidates
   * can be found.
   */
  #sourcesOfRule(user: number, resource: number): readonly Source[] | null {
    let best: readonly Source[] | null = null
    for (const side of [user, resource]) {
      if (side === ALL_OF_TYPE) continue
      if ((dependenceOfSide(this.#view!, side) & this.#varying) === 0) {
        if (this.#evaluation.isSide(side)) continue
        // A side that is false now might be true after instances have been looked up.
        if (this.#isLookedUpLater()) continue
        return []
      }
      for (let set = side; set >= 0; set = this.#view!.setParent[set]!) {
        best = this.#better(best, this.#sourcesOfSet(set))
      }
    }
    return best
  }

  #sourcesOfSet(set: number): readonly Source[] | null {
    let sources = this.#sourcesOfSets.get(set)
    if (sources === undefined) {
      this.#sourcesOfSets.set(set, (sources = this.#sourcesOfCode(this.#view!.setFrom[set]!)))
    }
    return sources
  }

  #sourcesOfCode(at: number): readonly Source[] | null {
    const { program } = this.#view!
    this.#looked += 1
    const word = program[at]!
    if (word >= 0) return this.#sourcesOfLeaf(this.#view!.leafFrom[word]!)
    // A set that cannot be parsed is never true.
    if (word === UNREADABLE) return []
    const end = at + program[at + 1]!
    if (word === ALL_OF) {
      let best: readonly Source[] | null = null
      for (let item = at + 2; item < end; item = codeBehind(program, item)) {
        best = this.#better(best, this.#sourcesOfCode(item))
      }
      return best
    }
    if (word !== ANY_OF) return null
    const all: Source[] = []
    for (let item = at + 2; item < end; item = codeBehind(program, item)) {
      const sources = this.#sourcesOfCode(item)
      if (sources === null || all.length + sources.length > SOURCES_MAX) return null
      all.push(...sources)
    }
    return all
  }

  #sourcesOfLeaf(at: number): readonly Source[] | null {
    const { program } = this.#view!
    const path = program[at + 1]!
    switch (program[at]!) {
      case LEAF.equals:
        return program[at + 2] === 1 ? null : this.#byConstants(path, [at + 3])
      case LEAF.equalsRef: {
        if (program[at + 2] === 1) return null
        const other = program[at + 3]!
        return this.#byValueOf(path, other) ?? this.#byValueOf(other, path)
      }
      case LEAF.isIn: {
        const constants: number[] = []
        for (let slot = 0; slot < 1 << program[at + 2]!; slot++) {
          const from = program[at + 3 + slot]!
          if (from !== 0) constants.push(at + from)
        }
        return this.#byConstants(path, constants)
      }
      case LEAF.hasElement:
        return this.#byConstants(path, [at + 2])
      case LEAF.isInRef:
        return this.#byElement(path, program[at + 2]!)
      case LEAF.hasElementRef:
        return this.#byElement(program[at + 2]!, path)
      default:
        return null
    }
  }

  /**
   * Returns the sources for a test that the value of the path, or an element of it, is one of these
   * constants.
   */
  #byConstants(path: number, constants: readonly number[]): readonly Source[] | null {
    const { program } = this.#view!
    if (constants.length > SOURCES_MAX) return null
    return whole(constants.map(at => this.#byScalar(path, program[at]!, program, at + 1)))
  }

  /**
   * Returns the sources for a test that two paths have equal values. The value of the other path must be
   * known.
   */
  #byValueOf(path: number, other: number): readonly Source[] | null {
    if (!this.#isFixed(other) || this.#isFixed(path)) return null
    const values = this.#values!
    const head = values.head(other)
    if (head === MISSING) return this.#isLookedUpLater() ? null : []
    if (kindOf(head) >= LIST) return null
    return whole([this.#byScalar(path, head, values.words, values.ats[other]!)])
  }

  /** Returns the sources for a test that the element is in the list. One of the two values must be known. */
  #byElement(element: number, list: number): readonly Source[] | null {
    if (this.#isFixed(element)) return this.#byValueOf(list, element)
    if (!this.#isFixed(list)) return null
    const elements = this.#values!.value(list)
    if (elements === undefined) return this.#isLookedUpLater() ? null : []
    if (!Array.isArray(elements) || elements.length > SOURCES_MAX) return null
    const scratch = this.#scratch
    return whole(
      elements.map(value => {
        // The first word is not used, because position 0 means that a value is absent.
        scratch.length = 1
        const head = scratch.scalar(value)
        return head === NO_FORM ? null : this.#byScalar(element, head, scratch.words, 1)
      }),
    )
  }

  #byScalar(path: number, head: number, words: Int32Array, at: number): readonly Source[] | null {
    this.#looked += 1
    const { what, type } = this.#searched!
    const view = this.#view!.path(path)
    if (view.text === `${what}.key`) {
      return kindOf(head) === TEXT ? [{ key: valueIn(head, words, at) as string }] : []
    }
    // If the request contains attributes of the searched entity, they take precedence over the stored ones,
    // and the index does not contain them.
    if (view.source !== SOURCE[what] || this.#hasSentOfCandidate()) return null
    const name = listOfAttribute(view.names[0]!)
    if (this.#slotOf(type, name) === 0) return null
    return [{ type, name, hash: hashOfScalar(head, words, at) }]
  }

  /**
   * The request attributes are read only here, so that invalid ones cause an error only if a rule reads them.
   */
  #hasSentOfCandidate(): boolean {
    const queryContext = this.#queryContext
    return (
      queryContext !== undefined &&
      queryContext.isBare !== true &&
      queryContext.sent()[this.#searched!.what] !== null
    )
  }

  #better(one: readonly Source[] | null, other: readonly Source[] | null): readonly Source[] | null {
    if (one === null || other === null) return one ?? other
    // If the limit is exceeded, sizes are no longer compared.
    if (one === other || this.#looked > LOOKED_MAX) return one
    return this.#size(other) < this.#size(one) ? other : one
  }

  #size(sources: readonly Source[]): number {
    let size = 0
    this.#looked += sources.length
    for (const source of sources) size += 'key' in source ? 1 : 1 + this.#rangeSize(source)
    return size
  }

  #rangeSize({ type, name, hash }: Range): number {
    const { lists, graph } = this.#regions
    const slot = this.#slotOf(type, name)
    return slot === 0 ? 0 : estimate({ memory: lists, at: slot + SLOT.chunks, graph }, hash)
  }

  #slotOf(type: number, name: string): number {
    let slot = this.#slots.get(name)
    if (slot === undefined) this.#slots.set(name, (slot = readyList(this.#regions.lists, type, name)))
    return slot
  }

  #isFixed(path: number): boolean {
    return (dependenceOfPath(this.#view!.path(path)) & this.#varying) === 0
  }

  #isLookedUpLater(): boolean {
    return this.#values!.missing.size > 0
  }
}

function whole(found: readonly (readonly Source[] | null)[]): readonly Source[] | null {
  return found.every(sources => sources !== null) ? found.flat() : null
}
