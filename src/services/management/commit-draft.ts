/** Runs a command until its commit goes through: against the present view, again whenever its ground has changed. */
import { ConflictError } from '#model/errors.ts'
import { COMMIT_ATTEMPTS_MAX } from '#model/limits.ts'
import type { Revision } from '#model/revision.ts'
import type { EnvironmentStore } from '#store/store.ts'
import { Draft } from './draft.ts'

export interface Answered<Answer> {
  readonly answer: Answer
  /** The state the answer tells of. */
  readonly revision: Revision
}

/**
 * Commits what `command` writes into the draft, if anything. The command may run several times; what it throws ends the
 * matter. Throws `REVISION_CONFLICT` when other writers were faster `COMMIT_ATTEMPTS_MAX` times in a row.
 */
export async function commitDraft<Answer>(
  store: EnvironmentStore,
  newCommitId: () => Uint8Array,
  command: (records: Draft) => Answer,
): Promise<Answered<Answer>> {
  for (let attempt = 1; ; attempt += 1) {
    const records = new Draft(store.view)
    const answer = command(records)
    if (records.isEmpty) return { answer, revision: await store.ledger.head() }
    try {
      return { answer, revision: await store.ledger.commit(records.toCommit(newCommitId())) }
    } catch (error) {
      if (!(error instanceof ConflictError) || attempt === COMMIT_ATTEMPTS_MAX) throw error
    }
  }
}
