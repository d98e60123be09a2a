/**
 * Grants of sessions and of member groups on a thread. A session combines its own grants with those of its
 * groups at the first request after one of them changed. Therefore a change of a group costs nothing for
 * sessions that are not used.
 */
import type { AcceptedSession, GroupGrants } from '#management/sessions/session-directory.ts'
import type { GrantHolder } from '#model/members/member-reach.ts'
import { countedGrants } from '#model/members/session-grants.ts'
import type { AccessGrant, SessionCaller } from '#model/principal.ts'

/** The grants of all member groups, by the names of the groups. */
export class KnownGroups {
  readonly #byId = new Map<string, NonNullable<GroupGrants['group']>>()
  readonly #idsByName = new Map<string, string>()
  /** Number of changes so far. */
  version = 0

  apply(changes: readonly GroupGrants[]): void {
    if (changes.length === 0) return
    this.version += 1
    for (const { id, group } of changes) {
      const name = this.#byId.get(id)?.name
      // Another group has this name if it was renamed in the meantime.
      if (name !== undefined && this.#idsByName.get(name) === id) this.#idsByName.delete(name)
      this.#byId.delete(id)
      if (group === null) continue
      this.#byId.set(id, group)
      this.#idsByName.set(group.name, id)
    }
  }

  /** The grants of a group; none if it does not exist. */
  grantsOf(name: string): readonly AccessGrant[] {
    const id = this.#idsByName.get(name)
    return id === undefined ? [] : this.#byId.get(id)!.grants
  }
}

export interface SessionTimesOnThread {
  /** Times of the monotonic clock. */
  readonly expiresAtMs: number
  unusedUntilMs: number
  /** Uses before this time need not be reported. */
  notedUntilMs: number
  /** Latest recorded use, in milliseconds since 1970. */
  lastUsedAt: number
}

export class KnownSession implements GrantHolder {
  readonly caller: SessionCaller
  readonly hash: Buffer
  readonly times: SessionTimesOnThread
  readonly #own: readonly AccessGrant[]
  readonly #groups: readonly string[]
  readonly #known: KnownGroups
  #grants: readonly AccessGrant[] = []
  /** Version of the groups that are in `#grants`; -1 if these have not been determined. */
  #version = -1

  constructor(
    { caller, grants, groups, secretHash }: AcceptedSession,
    { known, times }: { readonly known: KnownGroups; readonly times: SessionTimesOnThread },
  ) {
    this.caller = caller
    this.hash = Buffer.from(secretHash, 'hex')
    this.times = times
    this.#own = grants
    this.#groups = groups
    this.#known = known
  }

  /** The grants that count at present. */
  get grants(): readonly AccessGrant[] {
    if (this.#version !== this.#known.version) {
      const { grants } = countedGrants(this.#groups.map(name => this.#known.grantsOf(name)))
      this.#grants = grants.length === 0 ? this.#own : [...this.#own, ...grants]
      this.#version = this.#known.version
    }
    return this.#grants
  }
}
