/**
 * The sessions that a thread accepts, by the hash of their secret (administration.md C2, C6).
 *
 * As for rotated keys, times of the wall clock are converted when the thread receives them. From then on the
 * monotonic clock counts, so that setting the wall clock neither ends a session early nor keeps it valid.
 */
import { timingSafeEqual } from 'node:crypto'
import { useIntervalMs } from '#management/members/session-ends.ts'
import {
  type AcceptedSession,
  type GroupGrants,
  type SessionChanges,
  type SessionUse,
} from '#management/sessions/session-directory.ts'
import { OrganizationPlaces, type OrganizationPlaceNames } from '#model/members/organization-places.ts'
import { hashOfSecret } from '#secrets/secret-hash.ts'
import { KnownGroups, KnownSession } from './known-session.ts'

/** The two clocks of `RuntimeServices`. */
interface SessionClocks {
  now(): number
  elapsedMs(): number
}

export interface ThreadSessionsOptions {
  readonly clocks: SessionClocks
  /** Time after its last use at which a session ends. */
  readonly idleMs: number
  /** Called for a use of a session, at most once in each interval of `useIntervalMs`. */
  readonly onUse: (sessionId: string) => void
}

/** The sessions, member groups and places that a thread starts with. */
export interface InitialSessions {
  readonly groups: readonly GroupGrants[]
  readonly places: OrganizationPlaceNames
  readonly sessions: readonly AcceptedSession[]
}

export class ThreadSessions {
  readonly #options: ThreadSessionsOptions
  readonly #groups = new KnownGroups()
  readonly #byHash = new Map<string, KnownSession>()
  readonly #byId = new Map<string, KnownSession>()
  readonly #members = new Map<string, { readonly slot: number; sessions: number }>()
  places: OrganizationPlaces

  constructor({ places, groups, sessions }: InitialSessions, options: ThreadSessionsOptions) {
    this.#options = options
    this.#groups.apply(groups)
    this.places = new OrganizationPlaces(places)
    for (const session of sessions) this.#set(session)
  }

  apply({ places, groups, removedIds, set, used }: SessionChanges): void {
    this.#groups.apply(groups)
    if (places !== null) this.places = new OrganizationPlaces(places)
    for (const id of removedIds) this.#remove(id)
    for (const session of set) this.#set(session)
    for (const use of used) this.extend(use)
  }

  /** Extends a session that another thread or node has seen. */
  extend({ sessionId, at }: SessionUse): void {
    const known = this.#byId.get(sessionId)
    if (known) this.#extend(known, at)
  }

  /** The session with this secret, unless it has ended or expired. */
  find(secret: string): KnownSession | null {
    const secretHash = hashOfSecret(secret)
    const known = this.#byHash.get(secretHash)
    if (!known || !timingSafeEqual(known.hash, Buffer.from(secretHash, 'hex'))) return null
    return this.#unlessExpired(known)
  }

  byId(sessionId: string): KnownSession | null {
    const known = this.#byId.get(sessionId)
    return known ? this.#unlessExpired(known) : null
  }

  /** Records that the session was used, and reports it if no use was reported in the last interval. */
  noteUse(session: KnownSession): void {
    const { clocks, idleMs, onUse } = this.#options
    const now = clocks.elapsedMs()
    if (now < session.times.notedUntilMs) return
    session.times.notedUntilMs = now + useIntervalMs(idleMs)
    session.times.unusedUntilMs = now + idleMs
    onUse(session.caller.sessionId)
  }

  /** Index of the counter for the requests of a member with a session. */
  readonly slotOf = (memberId: string): number | undefined => this.#members.get(memberId)?.slot

  #unlessExpired(known: KnownSession): KnownSession | null {
    const now = this.#options.clocks.elapsedMs()
    return now < known.times.expiresAtMs && now < known.times.unusedUntilMs ? known : null
  }

  #set(accepted: AcceptedSession): void {
    const { clocks } = this.#options
    const { caller, secretHash, expiresAt, lastUsedAt, slot } = accepted
    const before = this.#byId.get(caller.sessionId)
    const times = before?.times ?? {
      expiresAtMs: clocks.elapsedMs() + expiresAt - clocks.now(),
      unusedUntilMs: Number.NEGATIVE_INFINITY,
      notedUntilMs: Number.NEGATIVE_INFINITY,
      lastUsedAt: Number.NEGATIVE_INFINITY,
    }
    const known = new KnownSession(accepted, { known: this.#groups, times })
    this.#extend(known, lastUsedAt)
    this.#byId.set(caller.sessionId, known)
    if (!before) this.#count(caller.memberId, slot)
    this.#byHash.set(secretHash, known)
  }

  #extend({ times }: KnownSession, usedAt: number): void {
    if (usedAt <= times.lastUsedAt) return
    const { clocks, idleMs } = this.#options
    times.lastUsedAt = usedAt
    times.unusedUntilMs = Math.max(times.unusedUntilMs, clocks.elapsedMs() + usedAt + idleMs - clocks.now())
  }

  #remove(id: string): void {
    const known = this.#byId.get(id)
    if (!known) return
    this.#byId.delete(id)
    this.#byHash.delete(known.hash.toString('hex'))
    const { memberId } = known.caller
    const member = this.#members.get(memberId)!
    member.sessions -= 1
    if (member.sessions === 0) this.#members.delete(memberId)
  }

  #count(memberId: string, slot: number): void {
    const member = this.#members.get(memberId)
    if (member) member.sessions += 1
    else this.#members.set(memberId, { slot, sessions: 1 })
  }
}
