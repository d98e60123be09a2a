/** Runs the resumable listings and searches of an engine to completion. */
import type {
  DecisionEngine,
  InstanceFilter,
  InstanceRoles,
  KeyPage,
  PageRequest,
  ResourceQuestion,
  ResultSink,
  TenantFilter,
  TenantRoles,
  UserGrant,
  UserQuestion,
} from '#engine/engine.ts'
import type { Attributes } from '#model/change.ts'
import { runAtOnce } from '#scheduling/resumable.ts'

type WithAttributes<Entry> = Omit<Entry, 'attributes'> & { readonly attributes: Attributes | null }

class Collected<Entry> implements ResultSink<Entry> {
  entries: Entry[] = []

  begin(): void {
    this.entries = []
  }

  take(entry: Entry): boolean {
    this.entries.push(entry)
    return true
  }
}

export function tenantRolesOf(
  engine: DecisionEngine,
  user: string,
  accepts: TenantFilter | null,
  limit: number,
): WithAttributes<TenantRoles>[] {
  const found = new Collected<TenantRoles>()
  runAtOnce(engine.tenantRolesOf(user, accepts, limit, found))
  return found.entries.map(withAttributes)
}

export function instanceRolesOf(
  engine: DecisionEngine,
  user: string,
  filter: InstanceFilter,
  limit: number,
): WithAttributes<InstanceRoles>[] {
  const found = new Collected<InstanceRoles>()
  runAtOnce(engine.instanceRolesOf(user, filter, limit, found))
  return found.entries.map(withAttributes)
}

export function grantsOn(engine: DecisionEngine, question: UserQuestion, limit: number): UserGrant[] {
  const found = new Collected<UserGrant>()
  runAtOnce(engine.grantsOn(question, limit, found))
  return found.entries
}

/** Maximum number of candidates, higher than any test needs. */
const TRIED_MAX = 1_000_000

export type Page = Omit<PageRequest, 'triedMax'> & Partial<PageRequest>

export function searchResources(engine: DecisionEngine, question: ResourceQuestion, page: Page): KeyPage {
  return runAtOnce(engine.searchResources(question, { triedMax: TRIED_MAX, ...page }))
}

export function searchUsers(engine: DecisionEngine, question: UserQuestion, page: Page): KeyPage {
  return runAtOnce(engine.searchUsers(question, { triedMax: TRIED_MAX, ...page }))
}

function withAttributes<Entry extends { readonly attributes: string | null }>(
  entry: Entry,
): WithAttributes<Entry> {
  const { attributes } = entry
  return { ...entry, attributes: attributes === null ? null : (JSON.parse(attributes) as Attributes) }
}
