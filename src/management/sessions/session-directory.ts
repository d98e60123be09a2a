/**
 * The sessions that this node accepts, with the grants of their members, and the grants of member groups. The
 * main thread keeps it up to date with the commits of the organization, and sends the differences to the HTTP
 * threads. These combine the grants of a session and of its groups (`threads/channel/known-session.ts`).
 * Therefore a commit costs time for the sessions and groups that it changes, and not for all sessions in
 * these groups.
 *
 * A change of a member or of a group of members concerns the running sessions (administration.md S13). A
 * session at another issuer than the configured one does not count.
 */
import { isExpired, type SessionTimes } from '#management/members/session-ends.ts'
import { effectiveOwnGrants, settingsGrants } from '#management/members/effective-grants.ts'
import type { OwnerSettings } from '#management/scopes/member-settings.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import type { Instant } from '#entities/instant.ts'
import type { AccessGrant, SessionCaller } from '#model/principal.ts'
import type { OrganizationPlaceNames } from '#model/members/organization-places.ts'
import { rowKeys, lists } from '#store/keyspace/keyspace.ts'
import { KIND_BYTES } from '#store/keyspace/record-codec.ts'
import { readUuid } from '#store/keyspace/uuid-bytes.ts'
import type { Row } from '#store/ledger.ts'

/** A session as threads check it. */
export interface AcceptedSession {
  readonly caller: SessionCaller
  /** Grants of the member and of the settings. */
  readonly grants: readonly AccessGrant[]
  /** Names of the groups whose grants the session also has. */
  readonly groups: readonly string[]
  /** SHA-256 of the secret in lower-case hex. */
  readonly secretHash: string
  /** Milliseconds since 1970, as the two following. */
  readonly expiresAt: Instant
  readonly lastUsedAt: Instant
  /** Index of the counter for requests, which all sessions of a member share. */
  readonly slot: number
}

/** Grants of a member group; null if the group does not exist. */
export interface GroupGrants {
  readonly id: string
  readonly group: { readonly name: string; readonly grants: readonly AccessGrant[] } | null
}

/** Differences from an earlier state, in the order in which threads apply them. */
export interface SessionChanges {
  /** Member groups that a commit changed. */
  readonly groups: readonly GroupGrants[]
  /** Names of all projects and environments; null if they are unchanged. */
  readonly places: OrganizationPlaceNames | null
  readonly removedIds: readonly string[]
  /** New sessions, and those whose grants or names changed. */
  readonly set: readonly AcceptedSession[]
  readonly used: readonly SessionUse[]
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
  /** Version of the row of the member. The row of a session changes only by its uses. */
  readonly memberVersion: number
}

/** Sessions or groups that are read between two pauses. */
const READ_AT_ONCE = 10
/** Keys of sessions that are read between two pauses. */
const KEYS_AT_ONCE = 500

export class SessionDirectory {
  readonly #options: SessionDirectoryOptions
  readonly #sessions = new Map<string, KeptSession>()
  readonly #ofMembers = new Map<string, Set<string>>()
  readonly #slots = new Map<string, number>()
  readonly #freeSlots: number[] = []
  readonly #groups = new Map<string, GroupGrants>()
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

  /** Grants of all member groups. */
  groups(): readonly GroupGrants[] {
    return [...this.#groups.values()]
  }

  /** Reads all rows, and returns the differences from the state before. O(sessions + groups). */
  async load(): Promise<SessionChanges> {
    const records = this.#options.records()
    const ids = new Set(this.#sessions.keys())
    let rows = 0
    for (const { key } of records.storedRows(lists.all('session'))) {
      ids.add(idIn(key))
      if (++rows % KEYS_AT_ONCE === 0) await this.#options.pause()
    }
    const groupIds = new Set(this.#groups.keys())
    for (const { key } of records.storedRows(lists.all('member-group'))) groupIds.add(idIn(key))
    return this.#changesOf({ ids, groupIds, hasPlaces: true, isLoad: true })
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
    return this.#changesOf({ ids, groupIds, hasPlaces, isLoad: false })
  }

  /** Records a use that this node has seen, until a commit records it. */
  noteUse({ sessionId, at }: SessionUse): boolean {
    const known = this.#sessions.get(sessionId)
    if (!known || known.accepted.lastUsedAt >= at) return false
    this.#sessions.set(sessionId, { ...known, accepted: { ...known.accepted, lastUsedAt: at } })
    return true
  }

  /**
   * The present state of what a commit changed. If the rows already include later commits, these change the
   * same ids again. `isLoad`: the rows can belong to another history, in which versions have no meaning.
   */
  async #changesOf({
    ids,
    groupIds,
    hasPlaces,
    isLoad,
  }: {
    readonly ids: ReadonlySet<string>
    readonly groupIds: ReadonlySet<string>
    readonly hasPlaces: boolean
    readonly isLoad: boolean
  }): Promise<SessionChanges> {
    const places = hasPlaces ? this.#changedPlaces() : null
    const groups = await this.#readGroups(groupIds)
    const removedIds: string[] = []
    const set: AcceptedSession[] = []
    const used: SessionUse[] = []
    let count = 0
    for (const id of ids) {
      if (++count % READ_AT_ONCE === 0) await this.#options.pause()
      const before = this.#sessions.get(id)
      const after = this.#read(id)
      if (after === null) {
        if (before) removedIds.push(id)
      } else if (isLoad || before?.memberVersion !== after.memberVersion) set.push(after.accepted)
      else if (before.accepted.lastUsedAt < after.accepted.lastUsedAt)
        used.push({ sessionId: id, at: after.accepted.lastUsedAt })
    }
    return { places, groups, removedIds, set, used }
  }

  async #readGroups(ids: ReadonlySet<string>): Promise<GroupGrants[]> {
    const records = this.#options.records()
    const groups: GroupGrants[] = []
    let count = 0
    for (const id of ids) {
      if (++count % READ_AT_ONCE === 0) await this.#options.pause()
      const group = records.get('member-group', rowKeys.memberGroup(id))
      const read = { id, group: group && { name: group.group, grants: group.grants } }
      if (group === null) this.#groups.delete(id)
      else this.#groups.set(id, read)
      groups.push(read)
    }
    return groups
  }

  #changedPlaces(): OrganizationPlaceNames | null {
    const before = this.#places
    this.#places = this.#options.places()
    return JSON.stringify(before) === JSON.stringify(this.#places) ? null : this.#places
  }

  /** Reads a session, and keeps it. Null if it does not exist or does not count. */
  #read(id: string): KeptSession | null {
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
      grants: [...effectiveOwnGrants(member), ...settingsGrants(member, session, owners)],
      groups: session.groups,
      secretHash: session.secretHash,
      expiresAt: session.expiresAt,
      lastUsedAt,
      slot: this.#slotOf(memberId),
    }
    const kept = { accepted, memberVersion: records.versionOf(member) }
    this.#sessions.set(id, kept)
    const own = this.#ofMembers.get(memberId)
    if (own) own.add(id)
    else this.#ofMembers.set(memberId, new Set([id]))
    return kept
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

/** Id in the key of a row of a member, a member group or a session. */
function idIn(key: Uint8Array): string {
  return readUuid(key, 1)
}
