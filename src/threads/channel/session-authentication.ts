/**
 * The sessions that a thread accepts, by the hash of their secret (administration.md C2, C6).
 *
 * As for rotated keys, times of the wall clock are converted when the thread receives them. From then on the
 * monotonic clock counts, so that setting the wall clock neither ends a session early nor keeps it valid.
 */
import { timingSafeEqual } from 'node:crypto'
import {
  type AcceptedSession,
  type SessionChanges,
  type SessionUse,
  useIntervalMs,
} from '#management/sessions/session-directory.ts'
import type { AccessGrant, SessionCaller } from '#model/principal.ts'
import { OrganizationPlaces, type OrganizationPlaceNames } from '#model/members/organization-places.ts'
import { hashOfSecret } from '#secrets/secret-hash.ts'

export interface KnownSession {
  readonly caller: SessionCaller
  readonly grants: readonly AccessGrant[]
  readonly hash: Buffer
  /** Times of the monotonic clock. */
  readonly expiresAtMs: number
  unusedUntilMs: number
  /** Uses before this time need not be reported. */
  notedUntilMs: number
  /** Latest recorded use, in milliseconds since 1970. */
  lastUsedAt: number
}

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

/** The sessions and places that a thread starts with. */
export interface InitialSessions {
  readonly places: OrganizationPlaceNames
  readonly sessions: readonly AcceptedSession[]
}

export class ThreadSessions {
  readonly #options: ThreadSessionsOptions
  readonly #byHash = new Map<string, KnownSession>()
  readonly #byId = new Map<string, KnownSession>()
  readonly #members = new Map<string, { readonly slot: number; sessions: number }>()
  places: OrganizationPlaces

  constructor({ places, sessions }: InitialSessions, options: ThreadSessionsOptions) {
    this.#options = options
    this.places = new OrganizationPlaces(places)
    for (const session of sessions) this.#set(session)
  }

  apply({ places, removedIds, set, used }: SessionChanges): void {
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
    if (now < session.notedUntilMs) return
    session.notedUntilMs = now + useIntervalMs(idleMs)
    session.unusedUntilMs = now + idleMs
    onUse(session.caller.sessionId)
  }

  /** Index of the counter for the requests of a member with a session. */
  readonly slotOf = (memberId: string): number | undefined => this.#members.get(memberId)?.slot

  #unlessExpired(known: KnownSession): KnownSession | null {
    const now = this.#options.clocks.elapsedMs()
    return now < known.expiresAtMs && now < known.unusedUntilMs ? known : null
  }

  #set({ caller, grants, secretHash, expiresAt, lastUsedAt, slot }: AcceptedSession): void {
    const { clocks } = this.#options
    const before = this.#byId.get(caller.sessionId)
    const known: KnownSession = {
      caller,
      grants,
      hash: Buffer.from(secretHash, 'hex'),
      expiresAtMs: before?.expiresAtMs ?? clocks.elapsedMs() + expiresAt - clocks.now(),
      unusedUntilMs: before?.unusedUntilMs ?? Number.NEGATIVE_INFINITY,
      notedUntilMs: before?.notedUntilMs ?? Number.NEGATIVE_INFINITY,
      lastUsedAt: before?.lastUsedAt ?? Number.NEGATIVE_INFINITY,
    }
    this.#extend(known, lastUsedAt)
    this.#byId.set(caller.sessionId, known)
    if (!before) this.#count(caller.memberId, slot)
    this.#byHash.set(secretHash, known)
  }

  #extend(known: KnownSession, usedAt: number): void {
    if (usedAt <= known.lastUsedAt) return
    const { clocks, idleMs } = this.#options
    known.lastUsedAt = usedAt
    known.unusedUntilMs = Math.max(known.unusedUntilMs, clocks.elapsedMs() + usedAt + idleMs - clocks.now())
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
