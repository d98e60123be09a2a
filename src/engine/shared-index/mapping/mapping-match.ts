/**
 * Matches one URL against compiled mapping rules.
 *
 * The match walks down the tree of path pieces. At each node, it follows the edges for the keys of the
 * current piece and the edge for placeholders. It thus visits only nodes whose rules match the previous
 * pieces in some spelling. The rule with the highest precedence that matches in any spelling decides. If that
 * rule does not match the URL as written, servers can disagree about which rule applies; the result is then
 * that no rule matches. A subtree is skipped if its best rule has lower precedence than a rule that was
 * already found.
 *
 * If a URL contains an encoded slash or an encoded end of the path, servers can also disagree about where a
 * segment ends. For such a URL, the match visits all matching nodes, each once per piece, to find rules that
 * would match only on such a server.
 */
import type { MappedRequest } from '#engine/engine.ts'
import {
  decodedOfQuery,
  MAPPING_METHODS,
  readRequestUrl,
  type RequestUrl,
  spellingKey,
  visitMembers,
  visitSpelledMembers,
} from '#model/mapping-urls.ts'
import { type Spelling, valueSpelling } from '#model/url-spellings.ts'
import { ANY, MEMBER, NO_NODE, NODE, RULE } from './mapping-code.ts'
import type { MappingView } from './mapping-view.ts'

const NOT_FOUND = -1
/** Stands for a value that is not parsed, because no rule has the name of its member. */
const NO_VALUE: Spelling = { exact: '', folded: '' }
/**
 * Maximum number of nodes that are visited for a URL with encoded slashes. If it is exceeded, the result is
 * that no rule matches. Only a hostile URL together with thousands of rules exceeds it.
 */
const VISITS_MAX = 16_384

/**
 * Ways in which a server might divide the path differently: into other segments (`PARTED`), or with an
 * earlier end of the path (`ENDED`).
 */
const PARTED = 1
const ENDED = 2

/** Members of the query string whose names occur in rules. */
interface ParsedQuery {
  /** Members by the atom of their name, as written. */
  readonly written: ReadonlyMap<number, ParsedMember>
  /**
   * Members by the atom of the key of their name, which all spellings share. Likewise, the atoms of their
   * values are those of keys.
   */
  readonly spelled: ReadonlyMap<number, ParsedMember>
  /** Whether the whole query string was read. */
  readonly isWhole: boolean
}

interface ParsedMember {
  /** The first value of the member. */
  value: string | null
  /** Atoms of all values of the member. Values that no rule contains have no atom and are omitted. */
  readonly atoms: Set<number>
  /** Whether the member has several different values. Servers might use any of them. */
  isAmbiguous: boolean
}

/**
 * Returns the request to which the URL is mapped. Returns `null` if no rule matches, or if the spellings of
 * the URL lead to different matches. O(parts of the URL × log of all texts + matching nodes and rules).
 */
export function mappedBy(view: MappingView, method: string, url: string): MappedRequest | null {
  const root = (MAPPING_METHODS as readonly string[]).indexOf(method.toLowerCase())
  const read = root < 0 ? null : readRequestUrl(url)
  return read && new Match(view, read).from(root)
}

class Match {
  readonly #view: MappingView
  readonly #url: RequestUrl
  /** For each piece, the atoms of its keys, computed on first use. */
  readonly #atoms: (readonly number[] | undefined)[] = []
  #query: ParsedQuery | null = null
  /** Number of segments that are not empty. */
  readonly #segmentCount: number
  readonly #hasOtherSegments: boolean
  /** Visited nodes. Each entry combines the node, the piece and the way in which the path is divided. */
  readonly #visited = new Set<number>()
  #found = Number.POSITIVE_INFINITY
  /** Number of the first rule that matches the URL as written. */
  #written = Number.POSITIVE_INFINITY
  /** Whether another rule would match on a server that ends segments or the path at other positions. */
  #hasOther = false

  constructor(view: MappingView, url: RequestUrl) {
    this.#view = view
    this.#url = url
    this.#segmentCount = url.segments.filter(text => text !== '').length
    this.#hasOtherSegments = url.pieces.some(piece => piece.isBehindEncoded || piece.endsPath)
  }

  from(root: number): MappedRequest | null {
    this.#visit(root, 0, 0)
    const isSure = this.#written === this.#found && !this.#hasOther
    return isSure && this.#found !== Number.POSITIVE_INFINITY ? this.#request(this.#found) : null
  }

  #visit(node: number, index: number, otherwise: number): void {
    const { pieces } = this.#url
    if (this.#hasOtherSegments && !this.#isNew(node, index, otherwise)) return
    if (index === pieces.length) {
      this.#tryEnds(node, otherwise)
      return
    }
    const piece = pieces[index]!
    const how = piece.isBehindEncoded ? otherwise | PARTED : otherwise
    const hasMore = index + 1 < pieces.length
    for (const next of this.#nextOf(node, index)) {
      if (!this.#hasOtherSegments && this.#bestOf(next) >= this.#found) continue
      this.#visit(next, index + 1, how)
      if (piece.endsPath && hasMore) this.#tryEnds(next, how | ENDED)
    }
    if (!this.#hasOtherSegments) return
    // A placeholder stands for a whole segment, so it can match several pieces that encoded slashes join.
    const any = this.#view.nodes[node * NODE.words + NODE.any]!
    if (any === NO_NODE) return
    for (let end = index + 1; end < pieces.length && pieces[end]!.isBehindEncoded; end++) {
      this.#visit(any, end + 1, how)
      if (pieces[end]!.endsPath && end + 1 < pieces.length) this.#tryEnds(any, how | ENDED)
    }
  }

  #isNew(node: number, index: number, otherwise: number): boolean {
    const visit = (node * (this.#url.pieces.length + 1) + index) * 4 + otherwise
    if (this.#visited.has(visit)) return false
    this.#hasOther ||= this.#visited.size >= VISITS_MAX
    // Visits no further nodes once it is certain that servers can disagree.
    if (!this.#hasOther) this.#visited.add(visit)
    return !this.#hasOther
  }

  /**
   * Returns the nodes to which a piece leads. The node with the better rule comes first, so that the other
   * nodes might be skipped.
   */
  #nextOf(node: number, index: number): readonly number[] {
    const { nodes } = this.#view
    const at = node * NODE.words
    const next: number[] = []
    const any = nodes[at + NODE.any]!
    if (any !== NO_NODE) next.push(any)
    const edgesFrom = nodes[at + NODE.edgesFrom]!
    const edgesTo = nodes[at + NODE.words + NODE.edgesFrom]!
    if (edgesFrom < edgesTo) {
      for (const atom of (this.#atoms[index] ??= this.#atomsOf(index))) {
        const to = this.#edge(edgesFrom, edgesTo, atom)
        if (to !== NO_NODE) next.push(to)
      }
    }
    return next.length > 1 ? next.toSorted((one, other) => this.#bestOf(one) - this.#bestOf(other)) : next
  }

  #atomsOf(index: number): readonly number[] {
    const piece = this.#url.pieces[index]!
    return piece.cut === null
      ? this.#atomsOfSpelling(piece)
      : [piece, piece.cut].flatMap(this.#atomsOfSpelling)
  }

  /**
   * Returns the atoms of a text: the atom of its case-insensitive key and, if there are case-sensitive rules,
   * the atom of its case-sensitive key.
   */
  readonly #atomsOfSpelling = (spelling: Spelling): number[] =>
    (this.#view.hasExactKeys ? [false, true] : [false])
      .map(isExact => this.#view.atomOf(spellingKey(spelling, isExact)))
      .filter(atom => atom !== NOT_FOUND)

  #bestOf(node: number): number {
    return this.#view.nodes[node * NODE.words + NODE.best]!
  }

  /** Returns the node to which the edge with this atom leads. */
  #edge(edgesFrom: number, edgesTo: number, atom: number): number {
    const { edges } = this.#view
    let from = edgesFrom
    for (let to = edgesTo; from < to;) {
      const middle = (from + to) >>> 1
      if (edges[2 * middle]! < atom) from = middle + 1
      else to = middle
    }
    return from < edgesTo && edges[2 * from] === atom ? edges[2 * from + 1]! : NO_NODE
  }

  /** Tries the rules that end at this node. */
  #tryEnds(node: number, otherwise: number): void {
    const { nodes, ends } = this.#view
    const at = node * NODE.words
    const to = nodes[at + NODE.words + NODE.endsFrom]!
    for (let end = nodes[at + NODE.endsFrom]!; end < to; end++) {
      const rule = ends[end]!
      // If the path is divided differently, rules of lower precedence are also tried. If one of them matches,
      // servers can disagree about the rule.
      if ((otherwise & PARTED) === 0 && rule >= this.#found) return
      if (!this.#isLikeLiteral(rule, otherwise) || !this.#fitsSpelled(rule)) continue
      if (this.#fitsWritten(rule)) this.#written = Math.min(this.#written, rule)
      else if ((otherwise & PARTED) !== 0) this.#hasOther = true
      this.#found = Math.min(this.#found, rule)
      if ((otherwise & PARTED) === 0) return
    }
  }

  /**
   * Returns whether the path fits a rule for which encoded slashes are literal: it must have as many segments
   * as the rule.
   */
  #isLikeLiteral(rule: number, otherwise: number): boolean {
    const count = this.#view.rules[this.#view.ruleFrom[rule]! + RULE.literalSegments]!
    return count === 0 || otherwise === ENDED || count === this.#segmentCount
  }

  /** Returns whether the query string matches a rule in any spelling. */
  #fitsSpelled(rule: number): boolean {
    const { rules } = this.#view
    const from = this.#membersFrom(rule)
    const count = rules[from]!
    if (count === 0) return true
    const { spelled, isWhole } = this.#parsedQuery()
    if (!isWhole) return true
    for (let member = 0; member < count; member++) {
      const at = from + 1 + member * MEMBER.words
      const values = spelled.get(rules[at + MEMBER.spelledName]!)
      const value = rules[at + MEMBER.spelledValue]!
      if (values === undefined || (value !== ANY && !values.atoms.has(value))) return false
    }
    return true
  }

  /** Returns whether the URL as written matches a rule unambiguously. */
  #fitsWritten(rule: number): boolean {
    const { rules } = this.#view
    const { segments } = this.#url
    const segmentsFrom = this.#segmentsFrom(rule)
    if (rules[segmentsFrom] !== segments.length) return false
    for (const [index, text] of segments.entries()) {
      const wanted = rules[segmentsFrom + 1 + index]!
      if (wanted === ANY ? text === '' : this.#view.compare(wanted, text) !== 0) return false
    }
    const from = this.#membersFrom(rule)
    const count = rules[from]!
    if (count === 0) return true
    const { written, spelled, isWhole } = this.#parsedQuery()
    if (!isWhole) return false
    for (let member = 0; member < count; member++) {
      const at = from + 1 + member * MEMBER.words
      const sent = written.get(rules[at + MEMBER.name]!)
      const value = rules[at + MEMBER.value]!
      if (sent === undefined || sent.isAmbiguous || (value !== ANY && !sent.atoms.has(value))) return false
      if (spelled.get(rules[at + MEMBER.spelledName]!)!.isAmbiguous) return false
    }
    return true
  }

  /** Returns the position of the number of segments of a rule. */
  #segmentsFrom(rule: number): number {
    const { ruleFrom, rules } = this.#view
    const at = ruleFrom[rule]! + RULE.captures
    return at + 1 + 2 * rules[at]!
  }

  /** Returns the position of the number of query members of a rule. */
  #membersFrom(rule: number): number {
    const at = this.#segmentsFrom(rule)
    return at + 1 + this.#view.rules[at]!
  }

  /** Parses the query string when a rule first needs it. */
  #parsedQuery(): ParsedQuery {
    if (this.#query !== null) return this.#query
    const written = new Map<number, ParsedMember>()
    const isRead = visitMembers(this.#url.query, (name, rawValue) => {
      const atom = this.#view.atomOf(name)
      if (atom === NOT_FOUND) return
      const value = decodedOfQuery(rawValue)
      const known = written.get(atom)
      const member = known ?? { value, atoms: new Set<number>(), isAmbiguous: false }
      if (known === undefined) written.set(atom, member)
      else if (known.value === value) return
      else known.isAmbiguous = true
      const valueAtom = this.#view.atomOf(value)
      if (valueAtom !== NOT_FOUND) member.atoms.add(valueAtom)
    })
    const spelled = new Map<number, ParsedMember>()
    const isSpelled =
      isRead &&
      visitSpelledMembers(this.#url, (name, rawValue, isAsWritten) => {
        const atoms = this.#atomsOfSpelling(name)
        const value = atoms.length === 0 ? NO_VALUE : valueSpelling(rawValue)
        if (value === null) return false
        for (const atom of atoms) {
          let member = spelled.get(atom)
          // Members that appear only if a server divides the query string further do not count as ambiguous,
          // because any text can contain a `;`.
          if (isAsWritten && member && member.value !== null && member.value !== value.exact)
            member.isAmbiguous = true
          if (!member) spelled.set(atom, (member = { value: null, atoms: new Set(), isAmbiguous: false }))
          if (isAsWritten) member.value ??= value.exact
          for (const valueAtom of this.#atomsOfSpelling(value)) member.atoms.add(valueAtom)
        }
        return true
      })
    this.#query = { written, spelled, isWhole: isSpelled }
    return this.#query
  }

  #request(rule: number): MappedRequest {
    const { ruleFrom, rules } = this.#view
    const from = ruleFrom[rule]!
    const captures = rules[from + RULE.captures]!
    const members = this.#membersFrom(rule)
    const attributes: [name: string, value: string][] = []
    for (let capture = 0; capture < captures; capture++) {
      const at = from + RULE.captures + 1 + 2 * capture
      const place = rules[at + 1]!
      const value =
        place < 0
          ? this.#parsedQuery().written.get(rules[members + 1 + MEMBER.words * ~place + MEMBER.name]!)!.value!
          : this.#url.segments[place]!
      attributes.push([this.#view.textOf(rules[at]!), value])
    }
    // `fromEntries` can create a member named `__proto__`; an assignment cannot.
    return {
      type: this.#view.textOf(rules[from + RULE.type]!),
      action: this.#view.textOf(rules[from + RULE.action]!),
      attributes: Object.fromEntries(attributes),
    }
  }
}
