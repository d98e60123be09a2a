/**
 * Actors of audit entries: how they are presented, and how entries are filtered by them (administration.md
 * N7).
 */
import { type ClaimedActor, claimedActor } from '#model/wire/organization/actor.ts'
import type { ActorKind } from '#model/wire/organization/audit.ts'
import type { AuditRecord } from '#entities/records.ts'

/** The actor of the call; null if the call named none. */
export function presentActor({ actor, keyId }: Pick<AuditRecord, 'actor' | 'keyId'>): ClaimedActor | null {
  return actor && claimedActor(actor, keyId)
}

/** Whether the entry has an actor of this kind. */
export function isOfKind({ actor }: AuditRecord, kind: ActorKind): boolean {
  return (actor === null ? 'none' : actor.kind) === kind
}

/** Whether the call named this actor, in either header. */
export function namesActor({ actor }: AuditRecord, name: string): boolean {
  return actor !== null && (actor.name === name || actor.onBehalfOf.includes(name))
}
