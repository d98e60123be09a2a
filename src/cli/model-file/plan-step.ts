/**
 * Steps of a plan. A step contains requests, a presentation for the user and a description of the
 * differences.
 */
import { isObject } from '#model/json-object.ts'
import type { EntityFields } from './environment-state.ts'
import type { Finding } from './findings.ts'
import type { ValuePath } from './located-value.ts'

/**
 * A request to the management API. Requests with a lower phase are sent before requests with a higher one.
 */
export interface PlannedRequest {
  readonly phase: number
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** First part of the path. */
  readonly base: 'schema' | 'facts'
  readonly path: string
  readonly body?: unknown
  /**
   * Where a bulk operation contains the body of this request: as an element of `operations`, of `idents`, or
   * of a plain array.
   */
  readonly bulk?: 'operations' | 'idents' | 'array'
}

export interface Step {
  readonly mark: '+' | '~' | '-'
  readonly what: string
  /** Descriptions of the differences, one per line. */
  readonly details: readonly string[]
  readonly requests: readonly PlannedRequest[]
  /**
   * Location of the object in the file. Absent for a removal, because the file does not contain the object.
   */
  readonly location?: ValuePath | undefined
}

export interface PruneOptions {
  /**
   * Whether objects of the model are removed if they are not in the file: resources, roles, relations,
   * actions, attributes, condition sets and rules.
   */
  readonly model: boolean
  /**
   * Whether facts are removed if they are not in the file: tenants, users, instances, groups, assignments and
   * tuples.
   */
  readonly facts: boolean
}

/** Thrown if the two states have differences that no request can resolve. */
export class PlanError extends Error {
  override readonly name = 'PlanError'
  readonly conflicts: readonly Finding[]

  constructor(conflicts: readonly Finding[]) {
    super(conflicts.map(({ message }) => message).join('\n'))
    this.conflicts = conflicts
  }
}

/**
 * Phases of requests, in the order in which the requests are sent. The steps of a plan are shown in another
 * order.
 */
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
 * Returns the desired fields that differ from the current ones, and a description of the differences. A null
 * value and an absent field count as equal.
 */
export function changedFields(
  current: EntityFields,
  desired: EntityFields,
): { readonly changed: EntityFields; readonly details: string[] } {
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

/** Returns JSON with sorted members. Null, an absent value and an empty map have the same result. */
function canonical(value: unknown): string {
  return JSON.stringify(value ?? {}, (_name, part: unknown) =>
    isObject(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([left], [right]) => (left < right ? -1 : 1)))
      : part,
  )
}
