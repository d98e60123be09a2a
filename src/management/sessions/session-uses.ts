/**
 * Records when sessions were last used (administration.md C6). Each thread reports a use of a session at most
 * once in a tenth of the time after which an unused session ends, or in 20 minutes. As often, one commit
 * writes the recorded times into the rows, so that the other nodes also extend the sessions. The latest time
 * wins.
 *
 * Also deletes the rows of sessions that have expired.
 */
import { isRetryable } from '#management/drafts/retryable-errors.ts'
import type { Instant } from '#entities/instant.ts'
import type { OrganizationWriteContext } from '#management/scopes/organization-context.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'
import { removeExpiredSessions, useIntervalMs } from '#management/members/session-ends.ts'
import type { SessionUse } from './session-directory.ts'

/** Runs a command in a commit of the organization, without an audit entry. */
export type CommitOrganization = <Answer>(
  command: (context: OrganizationWriteContext) => Resumable<Answer>,
) => Promise<unknown>

/** Interval at which the rows of expired sessions are deleted. */
export const REMOVE_EVERY_MS = 600_000

export class SessionUses {
  readonly #now: () => number
  readonly #idleMs: number
  /** Times that are not in the rows yet, by session id. */
  readonly #pending = new Map<string, Instant>()
  readonly #timers: NodeJS.Timeout[] = []

  constructor({ now, idleMs }: { readonly now: () => number; readonly idleMs: number }) {
    this.#now = now
    this.#idleMs = idleMs
  }

  /** Records that a thread has accepted the session, and returns the recorded use. */
  note(sessionId: string): SessionUse {
    const at = this.#now()
    this.#pending.set(sessionId, at)
    return { sessionId, at }
  }

  /** Last use that this process has recorded and not saved yet; null if none. */
  readonly lastUseOf = (sessionId: string): Instant | null => this.#pending.get(sessionId) ?? null

  /**
   * Starts saving and deleting periodically, until `close`. `mayWrite`: whether the organization's store
   * accepts writes at present.
   */
  begin(
    commit: CommitOrganization,
    { mayWrite, onFault }: { readonly mayWrite: () => boolean; readonly onFault: (error: unknown) => void },
  ): void {
    const every = (ms: number, work: () => Promise<void>): void => {
      const run = (): void => {
        if (mayWrite()) void work().catch(onFault)
      }
      this.#timers.push(setInterval(run, ms).unref())
    }
    every(useIntervalMs(this.#idleMs), () => this.write(commit))
    every(REMOVE_EVERY_MS, () => this.removeExpired(commit))
  }

  close(): void {
    for (const timer of this.#timers) clearInterval(timer)
  }

  /** Saves the recorded times. If the store does not accept commits, the times are kept and saved later. */
  async write(commit: CommitOrganization): Promise<void> {
    const uses = new Map(this.#pending)
    if (uses.size === 0) return
    if (!(await isDone(commit(context => writeUses(context, uses))))) return
    // Times that were recorded during the commit are kept.
    for (const [id, at] of uses) if (this.#pending.get(id) === at) this.#pending.delete(id)
  }

  /** Deletes the rows of sessions that have expired, as far as all nodes have written their uses. */
  async removeExpired(commit: CommitOrganization): Promise<void> {
    await isDone(commit(context => removeExpiredSessions(context, { sessionIdleMs: this.#idleMs })))
  }
}

/** A later recorded use stays, and ended sessions are ignored. */
function* writeUses(
  { records }: OrganizationWriteContext,
  uses: ReadonlyMap<string, Instant>,
): Resumable<void> {
  let rows = 0
  for (const [id, lastUsedAt] of uses) {
    const session = records.get('session', rowKeys.session(id))
    if (session && lastUsedAt > session.lastUsedAt) records.put({ ...session, lastUsedAt })
    if (++rows % YIELD_ROWS === 0) yield
  }
}

/** Whether a commit was made. It is repeated later if the store does not accept it at present. */
async function isDone(committing: Promise<unknown>): Promise<boolean> {
  try {
    await committing
    return true
  } catch (error) {
    if (!isRetryable(error)) throw error
    return false
  }
}
