/**
 * Evaluates compiled rules (`rules/rule-code.ts`) with the values collected for a query. A test or set is
 * evaluated at most once per query. If rules are selected by the value of an attribute, the tests of the
 * other rules are not evaluated.
 *
 * The results agree with those of `conditions/evaluate.ts` on the source trees, with one exception: compiled
 * rules use fewer steps of the query's budget, so they can give a result where the tree gives unknown. An
 * explanation therefore takes its decision from this class.
 */
import { evaluate } from '#conditions/evaluate.ts'
import { EvaluationBudget } from '#conditions/values/evaluation-budget.ts'
import { INSTANT_LENGTH_MAX } from '#conditions/values/instants.ts'
import { compareRanks, isInRelation, type Rank, rankOf } from '#conditions/nodes/ordering.ts'
import {
  equalitySteps,
  INSTANTS_STEPS,
  NODE_STEPS,
  rankSteps,
  READ_BYTE_STEPS,
  searchSteps,
  STORED_ELEMENT_STEPS,
  STORED_WORDS_A_STEP_LOG2,
  textSteps,
} from '#conditions/values/step-costs.ts'
import { FALSE, negated, TRUE, type Truth, truthOf, UNKNOWN } from '#conditions/values/truth.ts'
import { amongTruth, equality } from '#conditions/values/values.ts'
import type { AttributeNames } from '#engine/shared-index/memory/attribute-names.ts'
import {
  HEAD_MASK,
  isSameScalar,
  JSON_TEXT,
  kindOf,
  LIST,
  numberIn,
  PAYLOAD_MASK,
  TEXT,
  valueIn,
  wordsBehind,
} from '#engine/shared-index/memory/values.ts'
import {
  ALL_OF,
  ALL_OF_TYPE,
  ANY_OF,
  LEAF,
  LENGTH_RELATIONS,
  LOOKUP_WORDS,
  PLAN,
  PROBES_MAX,
  RELATIONS,
  ROLE_SIDE,
  UNREADABLE,
} from '#engine/shared-index/rules/rule-code.ts'
import type { PlanView, RulesView } from '#engine/shared-index/rules/rules-view.ts'
import type { Lookup } from './merged-values.ts'
import { type AskedRules, MISSING, RuleValues, STAMPS_MAX } from './rule-values.ts'

/**
 * Decision of the rules for a query, or the instances that must be looked up first. `exceeded`: the steps of
 * the query were not sufficient. `unread`: the conditions of the query still have to be parsed; the next
 * evaluation continues with them.
 */
export type RuledOutcome = boolean | { readonly lookups: readonly Lookup[] } | 'exceeded' | 'unread'

/** Evaluates rules. Each thread has one instance. */
export class RuleEvaluation {
  readonly #values: RuleValues
  #view: RulesView | null = null
  #program: Int32Array = new Int32Array(0)
  #asked: AskedRules | null = null
  #budget = new EvaluationBudget()
  /**
   * Caches. For each test and each set: the number of the query for which it was last evaluated, and the
   * result. The result is the truth value of the test, or whether the set is true.
   */
  #leafStamps = new Int32Array(0)
  #leafTruths = new Uint8Array(0)
  #setStamps = new Int32Array(0)
  #setHolds = new Uint8Array(0)
  #stamp = 0
  /** For each test, the rank of its constant. */
  #ranks: (Rank | null | undefined)[] = []
  /** Cost of all queries so far: the steps of their budgets, plus the number of examined rules. */
  steps = 0
  /** Position in the code after the last part that was evaluated. */
  #next = 0

  constructor(names: AttributeNames) {
    this.#values = new RuleValues(names)
  }

  /** Decides a query. If a condition reads invalid request attributes, throws their error. */
  decide(asked: AskedRules): RuledOutcome {
    this.consider(asked)
    const isAllowed = this.#isAllowed(asked.plan)
    this.steps += this.#budget.spent
    // Missing values counted as unknown. Unknown never allows, so an allow is valid even if values are
    // missing.
    if (isAllowed) return true
    if (this.#budget.isExceeded) return 'exceeded'
    if (this.#budget.isUnread) return 'unread'
    if (this.#values.missing.size === 0) return false
    return { lookups: [...this.#values.missing.values()] }
  }

  /**
   * Starts a query whose sides and values the caller evaluates one by one. Results are cached until the next
   * query.
   */
  consider(asked: AskedRules): RuleValues {
    const { view } = asked.plan
    if (view !== this.#view || this.#stamp === STAMPS_MAX) this.#useView(view)
    this.#asked = asked
    this.#budget = new EvaluationBudget(asked.stepsMax)
    this.#stamp += 1
    this.#values.begin(asked, view.paths, this.#budget)
    return this.#values
  }

  /** Number of steps that the last query used of its budget. */
  get spent(): number {
    return this.#budget.spent
  }

  /**
   * Returns whether a test was left unknown because its cost would exceed the limit of the query or of this
   * evaluation.
   */
  get isIncomplete(): boolean {
    return this.#budget.isExceeded || this.#budget.isUnread
  }

  /** Releases the last query. */
  end(): void {
    this.#asked = null
    this.#values.end()
  }

  #useView(view: RulesView): void {
    this.#view = view
    this.#program = view.program
    this.#leafStamps = new Int32Array(view.leafFrom.length)
    this.#leafTruths = new Uint8Array(view.leafFrom.length)
    this.#setStamps = new Int32Array(view.setFrom.length)
    this.#setHolds = new Uint8Array(view.setFrom.length)
    this.#ranks = []
    this.#stamp = 0
  }

  #isAllowed({ at }: PlanView): boolean {
    const program = this.#program
    const lookups = program[at + PLAN.lookupsAt]!
    const end = lookups + program[at + PLAN.lookups]! * LOOKUP_WORDS
    for (let from = lookups; from < end; from += LOOKUP_WORDS) {
      const rules = this.rulesByValue(program[from]!, program[from + 1]!)
      if (rules !== 0 && this.#someAllows(rules + 1, program[rules]!)) return true
    }
    return this.#someAllows(program[at + PLAN.othersAt]!, program[at + PLAN.others]!)
  }

  /**
   * Looks up the rules that the value of an attribute selects. Returns the position in the code at which the
   * number of these rules is stored, or 0 if the value selects no rules.
   */
  rulesByValue(path: number, table: number): number {
    const values = this.#values
    const head = values.head(path)
    if (head === MISSING || kindOf(head) >= LIST) return 0
    const { words } = values
    const at = values.ats[path]!
    const program = this.#program
    const log2 = program[table]!
    const mask = (1 << log2) - 1
    const home = values.hash(path) >>> (32 - log2)
    for (let probe = 0; probe < PROBES_MAX; probe++) {
      const entry = program[table + 1 + ((home + probe) & mask)]!
      if (entry === 0) return 0
      const constant = program[entry]!
      if (isSameScalar(head, words, at, constant, program, entry + 1)) {
        return entry + 1 + wordsBehind(constant, program, entry + 1)
      }
    }
    return 0
  }

  #someAllows(from: number, count: number): boolean {
    const program = this.#program
    const end = from + 2 * count
    this.steps += count
    for (let at = from; at < end; at += 2) {
      if (this.isSide(program[at]!) && this.isSide(program[at + 1]!)) return true
    }
    return false
  }

  /** Returns whether this side of a rule, a user side or a resource side, is true. */
  isSide(side: number): boolean {
    if (side >= 0) return this.#holds(side)
    if (side === ALL_OF_TYPE) return true
    const roleIndex = ROLE_SIDE - side
    return ((this.#asked!.roleMasks[roleIndex >>> 5] ?? 0) & (1 << (roleIndex & 31))) !== 0
  }

  /** Returns whether the set and all its ancestors are true. */
  #holds(set: number): boolean {
    if (this.#setStamps[set] === this.#stamp) return this.#setHolds[set] === 1
    const view = this.#view!
    const parent = view.setParent[set]!
    const holds = this.#truth(view.setFrom[set]!) === TRUE && (parent < 0 || this.#holds(parent))
    this.#setStamps[set] = this.#stamp
    this.#setHolds[set] = holds ? 1 : 0
    return holds
  }

  /** Evaluates the code at this position. */
  #truth(at: number): Truth {
    const program = this.#program
    const word = program[at]!
    if (word >= 0) {
      this.#next = at + 1
      return this.#leaf(word)
    }
    if (word === UNREADABLE) return UNKNOWN
    const end = at + program[at + 1]!
    this.#next = end
    if (!this.#budget.spend(NODE_STEPS)) return UNKNOWN
    let value: Truth
    if (word === ALL_OF) {
      value = TRUE
      for (this.#next = at + 2; this.#next < end && value !== FALSE;) {
        value = Math.min(value, this.#truth(this.#next)) as Truth
      }
    } else if (word === ANY_OF) {
      value = FALSE
      for (this.#next = at + 2; this.#next < end && value !== TRUE;) {
        value = Math.max(value, this.#truth(this.#next)) as Truth
      }
    } else value = negated(this.#truth(at + 2))
    this.#next = end
    return value
  }

  #leaf(leaf: number): Truth {
    if (this.#leafStamps[leaf] === this.#stamp) return this.#leafTruths[leaf] as Truth
    if (!this.#budget.spend(NODE_STEPS)) return UNKNOWN
    const truth = this.#test(leaf, this.#view!.leafFrom[leaf]!)
    // A value that was too expensive to read looks like a missing value. The result is unknown, because
    // otherwise `exists` would be false.
    if (this.#budget.isExceeded) return UNKNOWN
    this.#leafStamps[leaf] = this.#stamp
    this.#leafTruths[leaf] = truth
    return truth
  }

  #test(leaf: number, at: number): Truth {
    const program = this.#program
    const kind = program[at]!
    if (kind === LEAF.tree) {
      const view = this.#view!
      // The first word of the text is its length in bytes.
      const isRead = view.hasTree(leaf) || this.#budget.spendReading(program[at + 2]! * READ_BYTE_STEPS)
      return isRead ? evaluate(view.tree(leaf, at + 2), this.#values.merged, this.#budget) : UNKNOWN
    }
    const path = program[at + 1]!
    const head = this.#values.head(path)
    if (kind === LEAF.exists) return truthOf((head !== MISSING) === (program[at + 2] === 1))
    if (!this.#values.isReadable(path)) return UNKNOWN
    switch (kind) {
      case LEAF.equals: {
        if (!this.#spendSame(head, program[at + 3]!)) return UNKNOWN
        const isSame = this.#isConstant(head, path, at + 3)
        return truthOf(isSame !== (program[at + 2] === 1))
      }
      case LEAF.equalsRef: {
        const equal = this.#equal(path, program[at + 3]!)
        return program[at + 2] === 1 ? negated(equal) : equal
      }
      case LEAF.ordered:
        return this.#ordered(path, program[at + 2]!, this.#rankOfConstant(leaf, at + 3))
      case LEAF.orderedRef:
        return this.#ordered(path, program[at + 2]!, this.#values.rank(program[at + 3]!))
      case LEAF.isIn:
        return truthOf(this.#isInList(head, path, at))
      case LEAF.isInRef:
        return this.#isElement(path, program[at + 2]!)
      case LEAF.hasElement:
        return this.#hasConstant(path, at + 2)
      case LEAF.hasElementRef:
        return this.#values.isReadable(program[at + 2]!) ? this.#isElement(program[at + 2]!, path) : UNKNOWN
      default:
        return this.#lengthCompared(path, program[at + 2]!, at + 3)
    }
  }

  #isConstant(head: number, path: number, constant: number): boolean {
    const { words, ats } = this.#values
    const program = this.#program
    return isSameScalar(head, words, ats[path]!, program[constant]!, program, constant + 1)
  }

  /** Compares the value of `path`, which exists, with the value of the other path. */
  #equal(path: number, other: number): Truth {
    const values = this.#values
    const head = values.head(other)
    if (!values.isReadable(other)) return UNKNOWN
    const own = values.head(path)
    if (kindOf(own) < LIST && kindOf(head) < LIST) {
      if (!this.#spendSame(own, head)) return UNKNOWN
      return truthOf(
        isSameScalar(own, values.words, values.ats[path]!, head, values.words, values.ats[other]!),
      )
    }
    // Each scalar has exactly one encoding. Therefore scalars with different encodings are not equal.
    if (kindOf(own) < LIST || kindOf(head) < LIST) return FALSE
    const left = values.value(path)
    const right = values.value(other)
    if (!this.#budget.spend(equalitySteps(left, right))) return UNKNOWN
    return equality(left, right)
  }

  #ordered(path: number, relation: number, rank: Rank | null): Truth {
    if (typeof rank === 'object' && !this.#budget.spend(INSTANTS_STEPS)) return UNKNOWN
    const order = compareRanks(this.#values.rank(path), rank)
    return order === null ? UNKNOWN : truthOf(isInRelation(order, RELATIONS[relation]!))
  }

  /** Returns the rank of a constant. It is parsed once for all queries. */
  #rankOfConstant(leaf: number, constant: number): Rank | null {
    const known = this.#ranks[leaf]
    if (known !== undefined) return known
    const value = valueIn(this.#program[constant]!, this.#program, constant + 1)
    const steps = rankSteps(value, INSTANT_LENGTH_MAX)
    if (steps > 0 && !this.#budget.spendReading(steps)) return null
    return (this.#ranks[leaf] = rankOf(value))
  }

  /**
   * Charges a comparison of two scalars. Texts of equal length cost the steps of their whole length; other
   * scalars cost nothing.
   */
  #spendSame(head: number, other: number): boolean {
    if (kindOf(head) !== TEXT || ((head ^ other) & HEAD_MASK) !== 0) return true
    return this.#budget.spend(textSteps(head & PAYLOAD_MASK))
  }

  /**
   * Charges a search for a scalar in a stored list. The elements with the length of the scalar have at most
   * as many words as the whole list.
   */
  #spendStored(list: number, at: number, head: number): boolean {
    const count = list & PAYLOAD_MASK
    const ownWords = kindOf(head) === TEXT ? ((head & PAYLOAD_MASK) + 3) >>> 2 : 0
    const compared = Math.min(this.#values.words[at]!, count * ownWords)
    return this.#budget.spend(count * STORED_ELEMENT_STEPS + (compared >>> STORED_WORDS_A_STEP_LOG2))
  }

  #isInList(head: number, path: number, leaf: number): boolean {
    if (kindOf(head) >= LIST) return false
    const values = this.#values
    const { words } = values
    const at = values.ats[path]!
    const program = this.#program
    const log2 = program[leaf + 2]!
    const mask = (1 << log2) - 1
    const home = values.hash(path) >>> (32 - log2)
    for (let probe = 0; probe < PROBES_MAX; probe++) {
      const from = program[leaf + 3 + ((home + probe) & mask)]!
      if (from === 0) return false
      const constant = leaf + from
      if (isSameScalar(head, words, at, program[constant]!, program, constant + 1)) return true
    }
    return false
  }

  /** Returns whether the value of `path`, which exists, is an element of the value of `list`. */
  #isElement(path: number, list: number): Truth {
    const values = this.#values
    const head = values.head(list)
    if (kindOf(head) === LIST) {
      const own = values.head(path)
      if (kindOf(own) >= LIST) return FALSE
      if (!this.#spendStored(head, values.ats[list]!, own)) return UNKNOWN
      return truthOf(this.#isInWords(head, values.ats[list]!, own, values.words, values.ats[path]!))
    }
    if (kindOf(head) < JSON_TEXT) return UNKNOWN
    const elements = values.value(list)
    if (!Array.isArray(elements)) return UNKNOWN
    const value = values.value(path)
    if (!this.#budget.spend(searchSteps(elements, value))) return UNKNOWN
    return amongTruth(elements, value)
  }

  #hasConstant(path: number, constant: number): Truth {
    const values = this.#values
    const program = this.#program
    const head = values.head(path)
    if (kindOf(head) === LIST) {
      if (!this.#spendStored(head, values.ats[path]!, program[constant]!)) return UNKNOWN
      return truthOf(this.#isInWords(head, values.ats[path]!, program[constant]!, program, constant + 1))
    }
    if (kindOf(head) < JSON_TEXT) return UNKNOWN
    const elements = values.value(path)
    if (!Array.isArray(elements)) return UNKNOWN
    const value = valueIn(program[constant]!, program, constant + 1)
    if (!this.#budget.spend(searchSteps(elements, value))) return UNKNOWN
    return amongTruth(elements, value)
  }

  /** Returns whether a scalar is an element of a list that is encoded in words. */
  #isInWords(list: number, at: number, head: number, words: Int32Array, from: number): boolean {
    const all = this.#values.words
    const count = list & PAYLOAD_MASK
    let behind = at + 1 + count
    for (let index = at + 1; index <= at + count; index++) {
      const element = all[index]!
      if (isSameScalar(element, all, behind, head, words, from)) return true
      behind += wordsBehind(element, all, behind)
    }
    return false
  }

  #lengthCompared(path: number, relation: number, constant: number): Truth {
    const values = this.#values
    const head = values.head(path)
    let length = head & PAYLOAD_MASK
    if (kindOf(head) !== LIST) {
      const value = kindOf(head) < JSON_TEXT ? null : values.value(path)
      if (!Array.isArray(value)) return UNKNOWN
      length = value.length
    }
    const wanted = numberIn(this.#program[constant]!, this.#program, constant + 1)
    switch (LENGTH_RELATIONS[relation]!) {
      case 'equal':
        return truthOf(length === wanted)
      case 'above':
        return truthOf(length > wanted)
      case 'below':
        return truthOf(length < wanted)
    }
  }
}
