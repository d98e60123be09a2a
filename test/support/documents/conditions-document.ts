/**
 * Reads the tables of docs/conditions.md and the patterns of docs/condition-patterns.md for tests.
 */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TruthName } from '#conditions/values/truth.ts'
import type { JsonObject } from '#model/json-object.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'

const REFERENCE = 'conditions.md'
const PATTERNS = 'condition-patterns.md'
/** A request of a pattern. Its body can continue on further lines, which begin with spaces. */
const REQUEST = /^POST …\/(condition_sets|set_rules) (\{.*(?:\n {2}.*)*)$/gmu

/** A test of `user.a` and its value; `undefined` if the attribute is missing. */
export interface Example {
  readonly attribute: unknown
  readonly test: unknown
  readonly truth: TruthName
}

export interface DocumentedRequest {
  readonly method: string
  readonly path: string
  readonly body: unknown
}

/** Condition set in the form of the API. */
export interface DocumentedSet {
  readonly key: string
  readonly name: string
  readonly type: 'userset' | 'resourceset'
  readonly resource_id?: string
  readonly parent_id?: string
  readonly conditions: JsonObject
}

/** Rule in the form of the API. */
export interface DocumentedRule {
  readonly user_set: string
  readonly permission: string
  readonly resource_set: string
}

export interface Pattern {
  readonly title: string
  readonly sets: readonly DocumentedSet[]
  readonly rules: readonly DocumentedRule[]
  readonly questions: readonly Question[]
}

/** One check of a pattern. Its attributes exclude the key. */
export interface Question {
  /** Text of the table row, for messages. */
  readonly row: string
  readonly user: string
  readonly userAttributes: JsonObject
  /** Tenant role of the user, and the tenant in which the user holds it. */
  readonly holds: { readonly role: string; readonly tenant: string } | null
  readonly type: string
  readonly action: string
  readonly key: string | null
  readonly resourceAttributes: JsonObject
  readonly tenantAttributes: JsonObject | null
  readonly context: JsonObject | null
  /** In milliseconds since 1970; `null` if the decision does not depend on the time. */
  readonly at: number | null
  readonly allow: boolean
}

/** Model and facts of every check, in addition to the sets and rules of its pattern. */
export const GROUND = {
  actions: { document: ['read', 'write'], project: ['create'] },
  roles: { member: [], reader: ['document:read'] },
  otherTenant: 'other',
} as const

/** Requests of the first steps, in the default environment. */
export const firstRequests: readonly DocumentedRequest[] = [
  ...sectionOf(PATTERNS, '## First steps').matchAll(/^([A-Z]+) (\/.*)\n(.*)$/gmu),
].map(([, method, path, body]) => ({
  method: method!,
  path: path!.replace('{project}/{environment}', 'default/default'),
  body: JSON.parse(body!) as unknown,
}))

export const examples: readonly Example[] = rowsOf('### Examples').map(row => ({
  attribute: cell(row, '`user.a`') === 'missing' ? undefined : json(cell(row, '`user.a`')),
  test: json(cell(row, 'Test')),
  truth: truthName(cell(row, 'Value')),
}))

/** Results of the connectives for two values, by the names of the columns. */
export const connectives = rowsOf('### Three values').map(row => ({
  a: truthName(cell(row, 'a')),
  b: truthName(cell(row, 'b')),
  allOf: truthName(cell(row, '`allOf`')),
  anyOf: truthName(cell(row, '`anyOf`')),
  not: truthName(cell(row, '`not` a')),
}))

/** Names of the operators, including aliases. */
export const operators: readonly string[] = rowsOf('### Operators').flatMap(row =>
  [...cell(row, 'Operator').matchAll(/`([^`]+)`/gu)].map(([, name]) => name!),
)

export const limits: readonly string[] = rowsOf('## Limits').map(row => cell(row, 'Value'))

export const refused = rowsOf('### Rejected conditions').map(row => {
  const text = cell(row, 'Rejected')
  return { text, conditions: json(text) }
})

/** The text before the first pattern has the sets that several patterns use. */
const [sharedText = '', ...patternTexts] = sectionOf(PATTERNS, '## Patterns').split(/^### /mu)
const sharedSets = bodiesOf<DocumentedSet>(sharedText, 'condition_sets')

export const patterns: readonly Pattern[] = patternTexts.map(readPattern)

function readPattern(section: string): Pattern {
  const rules = bodiesOf<DocumentedRule>(section, 'set_rules')
  const sets = [
    ...sharedSets.filter(({ key }) => rules.some(rule => rule.user_set === key)),
    ...bodiesOf<DocumentedSet>(section, 'condition_sets'),
  ]
  const [type, onlyAction] = rules[0]!.permission.split(':')
  const questions = tableIn(section).map((row): Question => {
    const { key: user, ...userAttributes } = json(cell(row, 'User')) as JsonObject & { key: string }
    const resource = optional(row, 'Resource')
    const { key, ...resourceAttributes } = (resource ?? {}) as JsonObject & { key?: string }
    const [, role, inTenant] = /^`(\w+)`(?: in `(\w+)`)?$/u.exec(row.get('Holds') ?? '') ?? []
    const time = row.get('Time')?.replaceAll('`', '') ?? 'any'
    return {
      row: [...row.values()].join(' | '),
      user,
      userAttributes,
      holds: role === undefined ? null : { role, tenant: inTenant ?? DEFAULT_TENANT },
      type: type!,
      action: row.get('Action') ?? onlyAction!,
      key: key ?? null,
      resourceAttributes,
      tenantAttributes: optional(row, 'Tenant'),
      context: optional(row, 'Context'),
      at: time === 'any' ? null : Date.parse(time),
      allow: readDecision(cell(row, 'Decision')),
    }
  })
  return { title: section.slice(0, section.indexOf('\n')), sets, rules, questions }
}

type Row = ReadonlyMap<string, string>

function sectionOf(document: string, heading: string): string {
  const text = readFileSync(fileURLToPath(new URL(`../../../docs/${document}`, import.meta.url)), 'utf8')
  const from = text.indexOf(`\n${heading}\n`)
  if (from < 0) throw new Error(`docs/${document} has no heading ${heading}`)
  const section = text.slice(from + heading.length + 2)
  const level = heading.slice(0, heading.indexOf(' '))
  const next = section.search(new RegExp(`^#{2,${level.length}} `, 'mu'))
  return next < 0 ? section : section.slice(0, next)
}

function rowsOf(heading: string): readonly Row[] {
  return tableIn(sectionOf(REFERENCE, heading))
}

function bodiesOf<Body>(text: string, collection: string): readonly Body[] {
  return [...text.matchAll(REQUEST)]
    .filter(([, name]) => name === collection)
    .map(([, , body]) => JSON.parse(body!) as Body)
}

/** Rows of the first table, each as its cells by the name of their column. */
function tableIn(section: string): readonly Row[] {
  const [table] = /(?:^\|.*\|\n)+/mu.exec(section) ?? []
  if (table === undefined) throw new Error(`the section has no table: ${section}`)
  const [head, , ...rows] = table.trimEnd().split('\n').map(cellsOf)
  return rows.map(cells => new Map(head!.map((name, index) => [name, cells[index]!])))
}

function cellsOf(line: string): string[] {
  return line
    .slice(1, -1)
    .split('|')
    .map(text => text.trim())
}

function cell(row: Row, name: string): string {
  const text = row.get(name)
  if (text === undefined) throw new Error(`the table has no column ${name}, only ${[...row.keys()].join()}`)
  return text
}

function optional(row: Row, name: string): JsonObject | null {
  const text = row.get(name) ?? '–'
  return text === '–' ? null : (json(text) as JsonObject)
}

function json(text: string): unknown {
  return JSON.parse(text.replace(/^`(.*)`$/u, '$1'))
}

function truthName(text: string): TruthName {
  const name = text.replaceAll('*', '')
  if (name !== 'true' && name !== 'false' && name !== 'unknown')
    throw new Error(`expected a truth, got ${text}`)
  return name
}

function readDecision(text: string): boolean {
  if (text !== 'allow' && text !== 'deny') throw new Error(`expected allow or deny, got ${text}`)
  return text === 'allow'
}
