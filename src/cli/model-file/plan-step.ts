/** Steps of a plan: their presentation, their requests, and the description of differences. */
import type { Fields } from './environment-state.ts'
import type { Finding } from './findings.ts'
import type { ValuePath } from './located-value.ts'

/** A request of the management API. Requests with a lower phase are sent first. */
export interface PlannedRequest {
  readonly phase: number
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Base of the path. */
  readonly base: 'schema' | 'facts'
  readonly path: string
  readonly body?: unknown
  /**
   * How a bulk operation contains the body as an element: in `operations`, in `idents`, or in a plain array.
   */
  readonly bulk?: 'operations' | 'idents' | 'array'
}

export interface Step {
  readonly mark: '+' | '~' | '-'
  readonly what: string
  /** Differences, one per line. */
  readonly details: readonly string[]
  readonly requests: readonly PlannedRequest[]
  /** Location in the file. Absent for removals, because the file does not contain the object. */
  readonly location?: ValuePath | undefined
}

export interface PruneOptions {
  /**
   * Whether to remove resources, roles, relations, actions, attributes, condition sets and rules that are not
   * in the file.
   */
  readonly model: boolean
  /** Whether to remove tenants, users, instances, groups, assignments and tuples that are not in the file. */
  readonly facts: boolean
}

/** Thrown if there are differences that no change can resolve. */
export class PlanError extends Error {
  override readonly name = 'PlanError'
  readonly conflicts: readonly Finding[]

  constructor(conflicts: readonly Finding[]) {
    super(conflicts.map(({ message }) => message).join('\n'))
    this.conflicts = conflicts
  }
}

/** Order in which requests are sent, independent of the order in which steps are shown. */
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

/**
 * Desired fields that differ, and a description of the differences. Null and absent are equal in the current
 * state.
 */
export function changedFields(
  current: Fields,
  desired: Fields,
): { readonly changed: Fields; readonly details: string[] } {
  const changed: Record<string, unknown> = {}
  const details: string[] = []
  for (const [name, value] of Object.entries(desired)) {
    if (value === undefined || canonical(value) === canonical(current[name])) continue
    changed[name] = value
    details.push(`${name}: ${JSON.stringify(current[name] ?? null)} → ${JSON.stringify(value)}`)
  }
  return { changed, details }
}

/** Describes the difference between two sets: `name: + added, − removed`. */
export function setDetails(
  name: string,
  current: ReadonlySet<string>,
  desired: ReadonlySet<string>,
): string[] {
  const added = [...desired].filter(item => !current.has(item)).map(item => `+ ${item}`)
  const removed = [...current].filter(item => !desired.has(item)).map(item => `− ${item}`)
  return added.length + removed.length === 0 ? [] : [`${name}: ${[...added, ...removed].join(', ')}`]
}

/** JSON with sorted members. Null, absent and an empty map are equal. */
function canonical(value: unknown): string {
  return JSON.stringify(value ?? {}, (_name, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : part,
  )
}
