/**
 * Applies the rules to the passages of a file. Markers accept findings. A marker without a finding is an
 * error.
 */
import type { FileText, Passage } from './passages.ts'
import { appliesTo, RULES } from './rules.ts'

export interface Finding {
  readonly line: number
  readonly rule: string
  readonly advice: string
  /** The wording that the rule found, with the text around it. */
  readonly excerpt: string
}

const EXCERPT_BEFORE = 30
const EXCERPT_AFTER = 70
const EMPHASIS = /\*\*|(?<![\w`])_(?=\w)|(?<=\w)_(?![\w`])/g
const INLINE_CODE = /`[^`]*`/g
const LINK_TARGET = /\]\([^)]*\)/g

export function findingsIn({ passages, markers }: FileText): Finding[] {
  const used = new Set<number>()
  const findings = passages.flatMap(findingsOf).filter(({ line }) => {
    const marker = markers.find(each => each.line === line || each.line === line - 1)
    if (marker) used.add(marker.line)
    return !marker
  })
  for (const { line, reason } of markers) {
    if (reason === '') findings.push(markerFinding(line, 'state the reason after "language:"'))
    else if (!used.has(line)) findings.push(markerFinding(line, 'remove the marker, it accepts nothing'))
  }
  return findings.toSorted((one, other) => one.line - other.line)
}

function markerFinding(line: number, advice: string): Finding {
  return { line, rule: 'marker', advice, excerpt: 'language:' }
}

function findingsOf(passage: Passage): Finding[] {
  const { text, lineAt } = joined(passage)
  const masked = masksOf(text)
  return RULES.filter(rule => appliesTo(rule, passage.kind)).flatMap(({ name, advice, patterns }) => {
    const offsets = patterns.flatMap(pattern => Array.from(masked.matchAll(pattern), ({ index }) => index))
    return [...new Set(offsets)]
      .filter(offset => !isQuestion(masked, offset))
      .map(offset => ({ line: lineAt(offset), rule: name, advice, excerpt: excerptOf(text, offset) }))
  })
}

/** Joins the lines of a passage to one text and removes emphasis. */
function joined({ lines }: Passage) {
  const starts: { readonly offset: number; readonly line: number }[] = []
  let text = ''
  for (const { number, text: line } of lines) {
    if (text !== '') text += ' '
    starts.push({ offset: text.length, line: number })
    text += line.replace(EMPHASIS, '')
  }
  return { text, lineAt: (at: number) => starts.findLast(({ offset }) => offset <= at)?.line ?? 0 }
}

/** Replaces inline code and targets of links, so that rules ignore them. All offsets stay the same. */
function masksOf(text: string): string {
  return text
    .replace(INLINE_CODE, code => `\`${'x'.repeat(Math.max(code.length - 2, 0))}\``)
    .replace(LINK_TARGET, link => `]${' '.repeat(link.length - 1)}`)
}

/** Whether the sentence at the offset ends with a question mark. */
function isQuestion(text: string, offset: number): boolean {
  return /^(?:[^.!?]|[.!?](?=\w))*\?["')\]]*(?: (?![a-z])|$)/.test(text.slice(offset))
}

function excerptOf(text: string, offset: number): string {
  return text.slice(Math.max(offset - EXCERPT_BEFORE, 0), offset + EXCERPT_AFTER).trim()
}
