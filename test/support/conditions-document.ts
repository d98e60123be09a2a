/** What docs/conditions.md promises, as its tests run it: examples, refusals, and patterns with the questions asked of them. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TruthName } from '#conditions/truth.ts'
import type { JsonObject } from '#conditions/values.ts'
import { DEFAULT_TENANT } from '#model/decision.ts'

const DOCUMENT = readFileSync(fileURLToPath(new URL('../../docs/conditions.md', import.meta.url)), 'utf8')

/** A test of `user.a` and its value; `undefined`: the attribute is missing. */
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

/** A condition set as the API takes it. */
export interface DocumentedSet {
  readonly key: string
  readonly name: string
  readonly type: 'userset' | 'resourceset'
  readonly resource_id?: string
  readonly parent_id?: string
  readonly conditions: JsonObject
}

/** A rule as the API takes it. */
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

/** Attributes are without the key, which a question says by itself. */
export interface Question {
  /** The row of the table, by which a reader finds it. */
  readonly row: string
  readonly user: string
  readonly userAttributes: JsonObject
  /** A tenant role, and the tenant it is held in. */
  readonly holds: { readonly role: string; readonly tenant: string } | null
  readonly type: string
  readonly action: string
  readonly key: string | null
  readonly resourceAttributes: JsonObject
  readonly tenantAttributes: JsonObject | null
  readonly context: JsonObject | null
  /** In milliseconds since 1970; `null`: the answer is the same at any time. */
  readonly at: number | null
  readonly allow: boolean
}

/** What each question is asked on, beside its pattern's sets and rules. */
export const GROUND = {
  actions: { document: ['read', 'write'], project: ['create'] },
  roles: { member: [], reader: ['document:read'] },
  otherTenant: 'other',
} as const

/** The first requests of a reader, in the default environment. */
export const firstRequests: readonly DocumentedRequest[] = [
  ...sectionBehind('## On one page').matchAll(/^([A-Z]+) (\/.*)\n(.*)$/gmu),
].map(([, method, path, body]) => ({
  method: method!,
  path: path!.replace('{project}/{environment}', 'default/default'),
  body: JSON.parse(body!) as unknown,
}))

export const examples: readonly Example[] = rowsBehind('### Examples').map(row => ({
  attribute: cell(row, '`user.a`') === 'missing' ? undefined : json(cell(row, '`user.a`')),
  test: json(cell(row, 'Test')),
  truth: truthName(cell(row, 'Truth')),
}))

/** The connectives of two values, by the names of the columns. */
export const connectives = rowsBehind('### Three values').map(row => ({
  a: truthName(cell(row, 'a')),
  b: truthName(cell(row, 'b')),
  allOf: truthName(cell(row, '`allOf`')),
  anyOf: truthName(cell(row, '`anyOf`')),
  not: truthName(cell(row, '`not` a')),
}))

/** Their names, other spellings included. */
export const operators: readonly string[] = rowsBehind('### Operators').flatMap(row =>
  [...cell(row, 'Operator').matchAll(/`([^`]+)`/gu)].map(([, name]) => name!),
)

export const limits: readonly string[] = rowsBehind('## Limits').map(row => cell(row, 'Value'))

export const refused = rowsBehind('## What is refused when written').map(row => {
  const text = cell(row, 'Refused')
  return { text, conditions: json(text) }
})

export const patterns: readonly Pattern[] = sectionBehind('## Ten patterns worth copying')
  .split(/^### /mu)
  .slice(1)
  .map(readPattern)

function readPattern(section: string): Pattern {
  const [, block] = /^```json\n(.*?)^```$/msu.exec(section)!
  const { condition_sets: sets, set_rules: rules } = JSON.parse(block!) as {
    condition_sets: readonly DocumentedSet[]
    set_rules: readonly DocumentedRule[]
  }
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
      allow: readAnswer(cell(row, 'Answer')),
    }
  })
  return { title: section.slice(0, section.indexOf('\n')), sets, rules, questions }
}

type Row = ReadonlyMap<string, string>

function sectionBehind(heading: string): string {
  const from = DOCUMENT.indexOf(`\n${heading}\n`)
  if (from < 0) throw new Error(`docs/conditions.md has no ${heading}`)
  const behind = DOCUMENT.slice(from + heading.length + 2)
  const level = heading.slice(0, heading.indexOf(' '))
  const next = behind.search(new RegExp(`^#{2,${level.length}} `, 'mu'))
  return next < 0 ? behind : behind.slice(0, next)
}

function rowsBehind(heading: string): readonly Row[] {
  return tableIn(sectionBehind(heading))
}

/** The rows of the first table, each by the names of its columns. */
function tableIn(section: string): readonly Row[] {
  const [table] = /(?:^\|.*\|\n)+/mu.exec(section) ?? []
  if (table === undefined) throw new Error(`no table in ${section}`)
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
  if (text === undefined) throw new Error(`no column ${name} in ${[...row.keys()].join()}`)
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

function readAnswer(text: string): boolean {
  if (text !== 'allow' && text !== 'deny') throw new Error(`expected allow or deny, got ${text}`)
  return text === 'allow'
}
