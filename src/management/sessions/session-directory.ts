/**
 * The sessions that this node accepts, with the grants of their members. The main thread keeps it up to date
 * with the commits of the organization, and sends the differences to the HTTP threads. A commit costs time
 * for the sessions that it concerns, and not for all sessions.
 *
 * A change of a member or of a group of members concerns the running sessions (administration.md S13). A
 * session at another issuer than the configured one does not count.
 */
import { isExpired, type SessionTimes } from '#management/members/session-ends.ts'
import { effectiveGrants, memberGroupsByName } from '#management/members/effective-grants.ts'
import type { OwnerSettings } from '#management/scopes/member-settings.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import type { Instant } from '#entities/instant.ts'
import type { MemberGroupRecord } from '#entities/organization-records.ts'
import type { GrantHolder } from '#model/members/member-reach.ts'
import type { OrganizationPlaceNames } from '#model/members/organization-places.ts'
import { rowKeys, lists } from '#store/keyspace/keyspace.ts'
import { KIND_BYTES } from '#store/keyspace/record-codec.ts'
import { readUuid } from '#store/keyspace/uuid-bytes.ts'
import type { Row } from '#store/ledger.ts'

/** A session as threads check it. */
export interface AcceptedSession extends GrantHolder {
  /** SHA-256 of the secret in lower-case hex. */
  readonly secretHash: string
  /** Milliseconds since 1970, as the two following. */
  readonly expiresAt: Instant
  readonly lastUsedAt: Instant
  /** Index of the counter for requests, which all sessions of a member share. */
  readonly slot: number
}

/** Differences from an earlier state, in the order in which threads apply them. */
export interface SessionChanges {
  /** Names of all projects and environments; null if they are unchanged. */
  readonly places: OrganizationPlaceNames | null
  readonly removedIds: readonly string[]
  /** New sessions, and those whose grants or names changed. */
  readonly set: readonly AcceptedSession[]
  readonly used: readonly SessionUse[]
}

/** Interval in which a use of a session is recorded once, if it ends after `idleMs` without a use. */
export function useIntervalMs(idleMs: number): number {
  return idleMs / 10
}

/** The last use of a session that was recorded. */
export interface SessionUse {
  readonly sessionId: string
  readonly at: Instant
}

/** The rows of a commit. */
export interface CommittedRows {
  readonly put: readonly Row[]
  readonly delete: readonly Uint8Array[]
}

export interface SessionDirectoryOptions {
  readonly records: () => RecordReader
  readonly places: () => OrganizationPlaceNames
  /** The issuer whose members can have sessions. */
  readonly issuer: string
  readonly owners: OwnerSettings
  readonly times: Pick<SessionTimes, 'sessionIdleMs'>
  readonly now: () => number
  /** Lets other work of the thread run. */
  readonly pause: () => Promise<void>
}

interface KeptSession {
  readonly accepted: AcceptedSession
  /** Names of the groups in its row. */
  readonly groups: readonly string[]
}

/** Sessions that are read, or only looked at, between two pauses. */
const READ_AT_ONCE = 10
const WALKED_AT_ONCE = 1_000

export class SessionDirectory {
  readonly #options: SessionDirectoryOptions
  readonly #sessions = new Map<string, KeptSession>()
  readonly #ofMembers = new Map<string, Set<string>>()
  readonly #slots = new Map<string, number>()
  readonly #freeSlots: number[] = []
  #groups: ReadonlyMap<string, MemberGroupRecord> = new Map()
  #places: OrganizationPlaceNames | null = null

  constructor(options: SessionDirectoryOptions) {
    this.#options = options
  }

  /** All accepted sessions. */
  *all(): Iterable<AcceptedSession> {
    for (const { accepted } of this.#sessions.values()) yield accepted
  }

  /** Number of sessions that have not expired. O(sessions). */
  count(): number {
    const { now, times } = this.#options
    const at = now()
    let count = 0
    for (const { expiresAt, lastUsedAt } of this.all()) {
      if (expiresAt > at && lastUsedAt + times.sessionIdleMs > at) count += 1
    }
    return count
  }

  get places(): OrganizationPlaceNames | null {
    return this.#places
  }

  /** Reads all rows, and returns the differences from the state before. O(sessions). */
  async load(): Promise<SessionChanges> {
    const records = this.#options.records()
    this.#groups = memberGroupsByName(records)
    const ids = new Set(this.#sessions.keys())
    for (const { id } of records.list('session', lists.all('session'))) ids.add(id)
    return this.#changesOf(ids, true)
  }

  /** Returns the differences that a commit makes. The rows can already include later commits. */
  async apply({ put, delete: deleted }: CommittedRows): Promise<SessionChanges> {
    const ids = new Set<string>()
    const groupIds = new Set<string>()
    let hasPlaces = false
    for (const key of [...put.map(row => row.key), ...deleted]) {
      switch (key[0]) {
        case KIND_BYTES.session:
          ids.add(idIn(key))
          break
        case KIND_BYTES.member:
          for (const id of this.#ofMembers.get(idIn(key)) ?? []) ids.add(id)
          break
        case KIND_BYTES['member-group']:
          groupIds.add(idIn(key))
          break
        case KIND_BYTES.project:
        case KIND_BYTES.environment:
          hasPlaces = true
          break
        default:
      }
    }
    if (groupIds.size > 0) await this.#addSessionsOf(this.#changedGroups(groupIds), ids)
    return this.#changesOf(ids, hasPlaces)
  }

  /** Records a use that this node has seen, until a commit records it. */
  noteUse({ sessionId, at }: SessionUse): boolean {
    const known = this.#sessions.get(sessionId)
    if (!known || known.accepted.lastUsedAt >= at) return false
    this.#sessions.set(sessionId, { ...known, accepted: { ...known.accepted, lastUsedAt: at } })
    return true
  }

  /**
   * Reads all groups again. Returns the names of those with these ids, and of those that differ from the ones
   * that were read before: the rows can include a later commit, which must not be missed when it is applied.
   */
  #changedGroups(ids: ReadonlySet<string>): ReadonlySet<string> {
    const before = this.#groups
    const after = memberGroupsByName(this.#options.records())
    this.#groups = after
    const isChanged = (name: string): boolean => {
      const [old, present] = [before.get(name), after.get(name)]
      if (old === undefined || present === undefined) return true
      return old.id !== present.id || old.updatedAt !== present.updatedAt || ids.has(present.id)
    }
    return new Set([...before.keys(), ...after.keys()].filter(isChanged))
  }

  /** Adds the ids of the sessions in one of the groups. O(sessions). */
  async #addSessionsOf(names: ReadonlySet<string>, ids: Set<string>): Promise<void> {
    let count = 0
    for (const [id, { groups }] of this.#sessions) {
      if (++count % WALKED_AT_ONCE === 0) await this.#options.pause()
      if (groups.some(name => names.has(name))) ids.add(id)
    }
  }

  async #changesOf(ids: ReadonlySet<string>, hasPlaces: boolean): Promise<SessionChanges> {
    const places = hasPlaces ? this.#changedPlaces() : null
    const removedIds: string[] = []
    const set: AcceptedSession[] = []
    const used: SessionUse[] = []
    let count = 0
    for (const id of ids) {
      if (++count % READ_AT_ONCE === 0) await this.#options.pause()
      const before = this.#sessions.get(id)?.accepted
      const after = this.#read(id)
      if (after === null) {
        if (before) removedIds.push(id)
      } else if (!before || !isSame(before, after)) set.push(after)
      else if (before.lastUsedAt < after.lastUsedAt) used.push({ sessionId: id, at: after.lastUsedAt })
    }
    return { places, removedIds, set, used }
  }

  #changedPlaces(): OrganizationPlaceNames | null {
    const before = this.#places
    this.#places = this.#options.places()
    return JSON.stringify(before) === JSON.stringify(this.#places) ? null : this.#places
  }

  /** Reads a session, and keeps it. Null if it does not exist or does not count. */
  #read(id: string): AcceptedSession | null {
    const { records: reader, issuer, owners, times, now } = this.#options
    const records = reader()
    const session = records.get('session', rowKeys.session(id))
    const member = session && records.get('member', rowKeys.member(session.memberId))
    const before = this.#sessions.get(id)?.accepted
    const lastUsedAt = Math.max(session?.lastUsedAt ?? 0, before?.lastUsedAt ?? 0)
    const counts = member?.issuer === issuer && !isExpired({ ...session!, lastUsedAt }, now(), times)
    if (!session || !member || !counts || member.subject === null) {
      this.#forget(id)
      return null
    }
    const { id: memberId, subject, name } = member
    const accepted: AcceptedSession = {
      caller: { sessionId: id, memberId, issuer, subject, name },
      grants: effectiveGrants(member, session, this.#groups, owners).map(({ grant }) => grant),
      secretHash: session.secretHash,
      expiresAt: session.expiresAt,
      lastUsedAt,
      slot: this.#slotOf(memberId),
    }
    this.#sessions.set(id, { accepted, groups: session.groups })
    const own = this.#ofMembers.get(memberId)
    if (own) own.add(id)
    else this.#ofMembers.set(memberId, new Set([id]))
    return accepted
  }

  #forget(id: string): void {
    const known = this.#sessions.get(id)
    if (!known) return
    this.#sessions.delete(id)
    const { memberId } = known.accepted.caller
    const own = this.#ofMembers.get(memberId)!
    own.delete(id)
    if (own.size > 0) return
    this.#ofMembers.delete(memberId)
    this.#freeSlots.push(this.#slots.get(memberId)!)
    this.#slots.delete(memberId)
  }

  #slotOf(memberId: string): number {
    const known = this.#slots.get(memberId)
    if (known !== undefined) return known
    const slot = this.#freeSlots.pop() ?? this.#slots.size
    this.#slots.set(memberId, slot)
    return slot
  }
}

/** Id in the key of a row of a member or a session. */
function idIn(key: Uint8Array): string {
  return readUuid(key, 1)
}

function isSame(
  { lastUsedAt: _one, ...before }: AcceptedSession,
  { lastUsedAt: _other, ...after }: AcceptedSession,
): boolean {
  return JSON.stringify(before) === JSON.stringify(after)
}
