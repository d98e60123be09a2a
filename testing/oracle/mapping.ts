/**
 * Reference implementation of mapping rules, exactly as specified (conditions.md 10.3). It compares each rule
 * with the URL, one after another. The normalized spellings of texts come from `src/model`. For each rule, it
 * tries all ways in which pieces of the URL can match the rule.
 */
import type { MappedRequest } from '#engine/engine.ts'
import type { Change, MappingPut, MappingRule } from '#model/change.ts'
import { ASKED_QUERY_MEMBERS_MAX } from '#model/limits.ts'
import {
  MAPPING_METHODS,
  type MappingUrl,
  readMappingUrl,
  readRequestUrl,
  type RequestUrl,
  spellingKey,
  visitSpelledMembers,
} from '#model/mapping-urls.ts'
import { type Spelling, valueSpelling } from '#model/url-spellings.ts'

interface UrlParts {
  readonly segments: readonly string[]
  readonly query: readonly (readonly [name: string, value: string])[]
}

/** How a rule matches a spelling: as written, split at an encoded slash, or with an earlier path end. */
type Way = 'alike' | 'parted' | 'ended'

export class MappingOracle {
  readonly #configs = new Map<string, MappingPut>()
  #rules: MappingRule[] | null = null

  apply(changes: Iterable<Change>): void {
    for (const change of changes) {
      if (change.kind === 'mapping-put') this.#configs.set(change.config, change)
      else if (change.kind === 'mapping-removed') this.#configs.delete(change.config)
    }
    this.#rules = null
  }

  mapped(method: string, url: string): MappedRequest | null {
    const asked = readRequestUrl(url)
    if (asked === null) return null
    const rules = (this.#rules ??= this.#inOrder()).filter(rule => rule.method === method.toLowerCase())
    const fits = rules.map(rule => ({ rule, written: fitOf(rule, partsOf(url)), ways: waysOf(rule, asked) }))
    const first = fits.find(({ written, ways }) => written !== null || ways.has('alike') || ways.has('ended'))
    if (first === undefined || first.written === null || first.written === 'ambiguous') return null
    if (isSpelledTwice(first.rule, asked)) return null
    if (fits.some(({ written, ways }) => written === null && ways.has('parted'))) return null
    const { type, action, method: ruled } = first.rule
    return { type, action: action ?? ruled, attributes: first.written }
  }

  #inOrder(): MappingRule[] {
    return [...this.#configs.values()]
      .toSorted((one, other) => one.createdAt - other.createdAt || (one.config < other.config ? -1 : 1))
      .flatMap(config => config.rules)
      .filter(rule => MAPPING_METHODS.includes(rule.method))
      .filter(({ url: ruled }) => typeof readMappingUrl(ruled) !== 'string')
      .toSorted(narrowerFirst)
  }
}

function narrowerFirst(one: MappingRule, other: MappingRule): number {
  const [ones, others] = [one, other].map(rule => {
    const { segments, query } = partsOf(rule.url)
    const texts = segments.filter(raw => placeholderIn(raw) === null).map(decodeURIComponent)
    const values = query.filter(([, raw]) => placeholderIn(raw) === null).map(([, raw]) => fromForm(raw))
    const length = [...texts, ...values, ...query.map(([name]) => fromForm(name))].join('').length
    return [rule.priority, texts.length, segments.length, values.length, query.length, length]
  }) as [number[], number[]]
  return others.map((number, index) => number - ones[index]!).find(difference => difference !== 0) ?? 0
}

/** Returns the values of the placeholders; null if the URL as written does not match the rule. */
function fitOf(rule: MappingRule, asked: UrlParts): Record<string, string> | 'ambiguous' | null {
  const wanted = partsOf(rule.url)
  if (asked.segments.length !== wanted.segments.length) return null
  const captured: [string, string][] = []
  for (const [index, raw] of wanted.segments.entries()) {
    const value = writtenOf(asked.segments, index)
    const name = placeholderIn(raw)
    if (name === null) {
      if (writtenOf(wanted.segments, index) !== value) return null
    } else if (value === '') return null
    else captured.push([name, value])
  }
  if (wanted.query.length > 0 && asked.query.length > ASKED_QUERY_MEMBERS_MAX) return 'ambiguous'
  let isAmbiguous = false
  for (const [rawName, raw] of wanted.query) {
    const values = asked.query
      .filter(([name]) => fromForm(name) === fromForm(rawName))
      .map(([, value]) => fromForm(value))
    const name = placeholderIn(raw)
    const isThere = name === null ? values.includes(fromForm(raw)) : values.length > 0
    if (!isThere) return null
    if (new Set(values).size > 1) isAmbiguous = true
    if (name !== null) captured.push([name, values[0]!])
  }
  return isAmbiguous ? 'ambiguous' : Object.fromEntries(captured)
}

/** Returns a segment, decoded once. Scheme and host are in lower case and without the default port. */
function writtenOf(segments: readonly string[], index: number): string {
  const text = decodeURIComponent(segments[index]!)
  if (segments[1] !== '' || (index !== 0 && index !== 2)) return text
  const scheme = decodeURIComponent(segments[0]!).toLowerCase()
  const port = { 'https:': '443', 'http:': '80' }[scheme]
  const [, host, asked] = /^(.*?)(?::(\d*))?$/u.exec(text.toLowerCase())!
  const isDefault = index === 2 && port !== undefined && (asked === '' || asked === port)
  return isDefault ? host! : text.toLowerCase()
}

/** Returns the ways in which the rule matches spellings of the URL. */
function waysOf(rule: MappingRule, asked: RequestUrl): Set<Way> {
  const wanted = readMappingUrl(rule.url, rule.caseSensitive) as MappingUrl
  const ways = new Set<Way>()
  if (!hasSpelledMembers(wanted, asked)) return ways
  const keysAt = asked.pieces.map(piece => new Set([piece, piece.cut].flatMap(keysOf)))
  const isFilled = (text: unknown) => text !== ''
  const [ofRule, ofUrl] = [wanted.segments.map(part => ('text' in part ? part.text : null)), asked.segments]
  const isLiteral = rule.encodedSlashes === 'literal'
  const hasOtherCount = ofRule.filter(isFilled).length !== ofUrl.filter(isFilled).length
  const visit = (piece: number, at: number, isParted: boolean): void => {
    const isWhole = at === asked.pieces.length
    if (piece === wanted.pieces.length) {
      const hasEnded = at > 0 && asked.pieces[at - 1]!.endsPath
      if (!isWhole && !hasEnded) return
      if (isLiteral && hasOtherCount && (isParted || isWhole)) return
      ways.add(isParted ? 'parted' : isWhole ? 'alike' : 'ended')
      return
    }
    if (isWhole) return
    const key = wanted.pieces[piece]!
    const isPartedHere = isParted || asked.pieces[at]!.isBehindEncoded
    if (key === null) {
      let end = at + 1
      visit(piece + 1, end, isPartedHere)
      while (asked.pieces[end]?.isBehindEncoded) visit(piece + 1, ++end, isPartedHere)
    } else if (keysAt[at]!.has(key)) visit(piece + 1, at + 1, isPartedHere)
  }
  visit(0, 0, false)
  return ways
}

function hasSpelledMembers(wanted: MappingUrl, asked: RequestUrl): boolean {
  if (wanted.query.length === 0) return true
  const members: [name: string, value: string][] = []
  const isWhole = visitSpelledMembers(asked, (name, rawValue) => {
    for (const key of keysOf(name))
      for (const said of keysOf(valueSpelling(rawValue))) members.push([key, said])
    return true
  })
  const count = asked.query.split('&').filter(member => member !== '').length
  if (!isWhole || count > ASKED_QUERY_MEMBERS_MAX) return true
  return wanted.query.every(({ spelledMember, spelledValue }) =>
    members.some(([name, value]) => name === spelledMember && (spelledValue ?? value) === value),
  )
}

/** Returns true if spellings of a name in the rule's query have different values in the URL. */
function isSpelledTwice(rule: MappingRule, asked: RequestUrl): boolean {
  const { query } = readMappingUrl(rule.url, rule.caseSensitive) as MappingUrl
  return query.some(({ spelledMember }) => {
    const values = new Set<string>()
    visitSpelledMembers(asked, (name, rawValue, isAsWritten) => {
      if (isAsWritten && keysOf(name).includes(spelledMember)) values.add(valueSpelling(rawValue)!.exact)
      return true
    })
    return values.size > 1
  })
}

function keysOf(spelling: Spelling | null): string[] {
  return spelling ? [false, true].map(isExact => spellingKey(spelling, isExact)) : []
}

/** Decodes a name or value in a query as form data. */
function fromForm(raw: string): string {
  return decodeURIComponent(raw.replaceAll('+', ' '))
}

function placeholderIn(raw: string): string | null {
  return raw.startsWith('{') ? raw.slice(1, -1) : null
}

/** Splits a URL into its parts, without decoding them. */
function partsOf(url: string): UrlParts {
  const [path = '', ...more] = url.split('?')
  const members = more
    .join('?')
    .split('&')
    .filter(member => member !== '')
  return {
    segments: path.replace(/\/$/, '').split('/'),
    query: members.map(member => {
      const [name = '', ...value] = member.split('=')
      return [name, value.join('=')] as const
    }),
  }
}
