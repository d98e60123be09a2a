/** The steps of a plan: what to show of each, the requests it consists of, and how differences are told. */
import type { Fields } from './environment-state.ts'
import type { Finding } from './findings.ts'
import type { Way } from './place.ts'

/** A request of the management interface. Those of a lower phase come first. */
export interface PlannedRequest {
  readonly phase: number
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Relative to the base of the schema, or of the facts. */
  readonly base: 'schema' | 'facts'
  readonly path: string
  readonly body?: unknown
  /** The body is one element of a bulk call: in `operations` or `idents`, or in a bare array. */
  readonly bulk?: 'operations' | 'idents' | 'array'
}

export interface Step {
  readonly mark: '+' | '~' | '-'
  readonly what: string
  /** What is different, a line each. */
  readonly details: readonly string[]
  readonly requests: readonly PlannedRequest[]
  /** Where in the file it is said. Absent: what goes, the file does not name. */
  readonly way?: Way | undefined
}

export interface PruneOptions {
  /** Removes resources, roles, relations, actions, attributes, condition sets and rules that the file does not name. */
  readonly model: boolean
  /** Removes tenants, users, instances, groups, assignments and tuples that the file does not name. */
  readonly facts: boolean
}

/** There are differences that changes cannot remove. */
export class PlanError extends Error {
  override readonly name = 'PlanError'
  readonly conflicts: readonly Finding[]

  constructor(conflicts: readonly Finding[]) {
    super(conflicts.map(({ message }) => message).join('\n'))
    this.conflicts = conflicts
  }
}

/** The order in which requests are made, whatever the order in which steps are shown. */
export const PHASES = {
  resources: 0,
  parts: 1,
  relations: 2,
  roles: 3,
  extensions: 4,
  derivations: 5,
  ruleRemovals: 6,
  conditionSets: 7,
  tenants: 8,
  users: 9,
  instances: 10,
  groups: 11,
  groupParts: 12,
  assignments: 13,
  tuples: 14,
  rules: 15,
  factRemovals: 16,
  derivationRemovals: 17,
  conditionSetRemovals: 18,
  removals: 19,
} as const

/** The wanted fields that differ, and the differences in words. Null and absent are the same in the present state. */
export function changedFields(
  present: Fields,
  wanted: Fields,
): { readonly changed: Fields; readonly details: string[] } {
  const changed: Record<string, unknown> = {}
  const details: string[] = []
  for (const [name, value] of Object.entries(wanted)) {
    if (value === undefined || canonical(value) === canonical(present[name])) continue
    changed[name] = value
    details.push(`${name}: ${JSON.stringify(present[name] ?? null)} → ${JSON.stringify(value)}`)
  }
  return { changed, details }
}

/** `name: + added, − removed` for sets that differ. */
export function setDetails(
  name: string,
  present: ReadonlySet<string>,
  wanted: ReadonlySet<string>,
): string[] {
  const added = [...wanted].filter(item => !present.has(item)).map(item => `+ ${item}`)
  const removed = [...present].filter(item => !wanted.has(item)).map(item => `− ${item}`)
  return added.length + removed.length === 0 ? [] : [`${name}: ${[...added, ...removed].join(', ')}`]
}

/** JSON with members in order; null, absent and an empty map are one and the same. */
function canonical(value: unknown): string {
  return JSON.stringify(value ?? {}, (_name, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : part,
  )
}
