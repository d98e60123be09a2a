/**
 * Defines the precedence of mapping rules (conditions.md 10.3), and finds rules that never apply because of
 * it.
 */
import type { MappingRule } from './change.ts'
import { MAPPING_METHODS, type MappingUrl, readMappingUrl } from './mapping-urls.ts'

export interface ReadRule {
  readonly rule: MappingRule
  readonly url: MappingUrl
  /**
   * Numbers by which rules of the same priority are compared. At the first difference, the rule with the
   * greater number takes precedence.
   */
  readonly narrowness: readonly number[]
}

/**
 * Parses a rule. Returns null if it has a form that this release cannot parse, because another release wrote
 * it. O(length of its URL).
 */
export function readRule(rule: MappingRule): ReadRule | null {
  const url = MAPPING_METHODS.includes(rule.method) ? readMappingUrl(rule.url, rule.caseSensitive) : ''
  return typeof url === 'string' ? null : { rule, url, narrowness: narrownessOf(url) }
}

/**
 * Compares two rules. The result is negative if the first rule takes precedence. The criteria, in this order,
 * are: highest priority, most literal segments, most segments, most literal query members, most query
 * members, longest text outside of placeholders. If all criteria are equal, the older rule takes
 * precedence.
 */
export function compareRules(one: ReadRule, other: ReadRule): number {
  if (one.rule.priority !== other.rule.priority) return other.rule.priority - one.rule.priority
  const at = one.narrowness.findIndex((number, index) => number !== other.narrowness[index])
  return at < 0 ? 0 : other.narrowness[at]! - one.narrowness[at]!
}

function narrownessOf({ segments, query }: MappingUrl): readonly number[] {
  const texts = segments.flatMap(part => ('text' in part ? [part.text] : []))
  const values = query.flatMap(({ value }) => ('text' in value ? [value.text] : []))
  const written = [...texts, ...values, ...query.map(({ member }) => member)].join('').length
  return [texts.length, segments.length, values.length, query.length, written]
}

/** A rule, and its identity among all rules of an environment. */
export interface PlacedRule<Place> {
  readonly rule: MappingRule
  readonly place: Place
}

interface CoveringNode<Place> {
  any: CoveringNode<Place> | null
  readonly edges: Map<string, CoveringNode<Place>>
  readonly ends: Covering<Place>[]
}

interface Covering<Place> extends ReadRule {
  readonly place: Place
  readonly age: number
}

/**
 * Finds rules that can never apply. For each, also returns a rule that takes precedence over it and matches
 * all of its URLs. `rules` contains all rules of an environment, the oldest first. O(rules × matching nodes),
 * in steps of several rules.
 */
export function* rulesThatNeverDecide<Place>(
  rules: readonly PlacedRule<Place>[],
): Generator<void, { readonly rule: Place; readonly because: Place }[]> {
  const roots = new Map<string, CoveringNode<Place>>()
  const read: Covering<Place>[] = []
  for (const [age, { rule, place }] of rules.entries()) {
    const readable = readRule(rule)
    if (readable === null) continue
    const covering = { ...readable, place, age }
    read.push(covering)
    let node = roots.get(rule.method)
    if (node === undefined) roots.set(rule.method, (node = newNode()))
    for (const key of covering.url.pieces) node = key === null ? (node.any ??= newNode()) : edgeOf(node, key)
    node.ends.push(covering)
    if (age % RULES_A_STEP === 0) yield
  }
  const hasExactKeys = read.some(({ rule }) => rule.caseSensitive)
  const found: { readonly rule: Place; readonly because: Place }[] = []
  for (const [index, covered] of read.entries()) {
    const because = coveringOf(roots.get(covered.rule.method)!, covered, hasExactKeys)
    if (because !== null) found.push({ rule: covered.place, because: because.place })
    if (index % RULES_A_STEP === 0) yield
  }
  return found
}

const RULES_A_STEP = 64

function newNode<Place>(): CoveringNode<Place> {
  return { any: null, edges: new Map(), ends: [] }
}

function edgeOf<Place>(node: CoveringNode<Place>, key: string): CoveringNode<Place> {
  let next = node.edges.get(key)
  if (next === undefined) node.edges.set(key, (next = newNode()))
  return next
}

/** Returns a rule that takes precedence over this rule and matches all of its URLs. */
function coveringOf<Place>(
  root: CoveringNode<Place>,
  covered: Covering<Place>,
  hasExactKeys: boolean,
): Covering<Place> | null {
  const forms = formsOf(covered, hasExactKeys)
  let nodes = [root]
  for (const [index, key] of covered.url.pieces.entries()) {
    const next: CoveringNode<Place>[] = []
    for (const { any, edges } of nodes) {
      if (any !== null) next.push(any)
      if (key === null) continue
      for (const form of forms) {
        const edge = edges.get(form.pieces[index]!)
        if (edge !== undefined) next.push(edge)
      }
    }
    nodes = next
  }
  for (const { ends } of nodes) {
    for (const one of ends) {
      const order = compareRules(one, covered) || one.age - covered.age
      if (order < 0 && hasNoFurtherMembers(one.url, forms)) return one
    }
  }
  return null
}

/**
 * Returns the URL of a rule with keys that ignore the case of letters. If some rule is case-sensitive, also
 * returns it with exact keys.
 */
function formsOf({ rule, url }: ReadRule, hasExactKeys: boolean): readonly MappingUrl[] {
  if (!hasExactKeys) return [url]
  return [url, readMappingUrl(rule.url, rule.caseSensitive !== true) as MappingUrl]
}

/**
 * Returns whether each query member that the URL requires is present in one of the forms of a rule, and thus
 * in all URLs that match the rule.
 */
function hasNoFurtherMembers({ query }: MappingUrl, forms: readonly MappingUrl[]): boolean {
  return query.every(wanted =>
    forms.some(form =>
      form.query.some(
        ({ spelledMember, spelledValue }) =>
          spelledMember === wanted.spelledMember &&
          (wanted.spelledValue === null || spelledValue === wanted.spelledValue),
      ),
    ),
  )
}
