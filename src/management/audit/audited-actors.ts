/**
 * Actors of audit entries: how they are presented, and how entries are filtered by them (administration.md
 * N7).
 */
import { type Actor, claimedActor, type EventActor, memberActor } from '#model/wire/organization/actor.ts'
import type { ActorKind } from '#model/wire/organization/audit.ts'
import type { AuditRecord } from '#entities/records.ts'

/** The actor of the call; null if the call named none. */
export function presentActor({ actor, keyId }: Pick<AuditRecord, 'actor' | 'keyId'>): Actor | null {
  if (actor === null) return null
  return actor.kind === 'member' ? memberActor(actor) : claimedActor(actor, keyId)
}

/** The actor of the call in a change event, which does not contain the id of the session. */
export function presentEventActor(audit: Pick<AuditRecord, 'actor' | 'keyId'>): EventActor | null {
  const actor = presentActor(audit)
  if (actor?.kind !== 'member') return actor
  const { session_id: _session, ...rest } = actor
  return rest
}

/** Whether the entry has an actor of this kind. */
export function isOfKind({ actor }: AuditRecord, kind: ActorKind): boolean {
  return (actor === null ? 'none' : actor.kind) === kind
}

/**
 * Whether the call came with this key. `keyId`: null for `ADMIN_API_KEY`, which neither members nor the
 * service use.
 */
export function isByKey(entry: AuditRecord, keyId: string | null): boolean {
  return entry.keyId === keyId && entry.requestId !== '' && entry.actor?.kind !== 'member'
}

/** Whether the call came in a session of this member. `memberId`: the id in lower case. */
export function isOfMember({ actor }: AuditRecord, memberId: string): boolean {
  return actor?.kind === 'member' && actor.memberId === memberId
}

/** Whether the call named this actor, in either header. */
export function namesActor({ actor }: AuditRecord, name: string): boolean {
  return actor?.kind === 'claimed' && (actor.name === name || actor.onBehalfOf.includes(name))
}
