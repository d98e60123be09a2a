/**
 * Runs a command until its commit succeeds: each attempt uses the current view, and a conflict starts another
 * attempt.
 */
import { SOMEBODY } from '#model/caller.ts'
import { ConflictError } from '#model/errors.ts'
import { COMMIT_ATTEMPTS_MAX } from '#model/limits.ts'
import type { Revision } from '#model/revision.ts'
import type { EnvironmentStore } from '#store/store.ts'
import { Draft } from './draft.ts'
import { type Asker, drive, unsharedTime } from '#scheduling/thread-scheduler.ts'
import { isResumable, type Resumable } from '#scheduling/resumable.ts'
import type { RuntimeServices } from './runtime-services.ts'

export interface Answered<Answer> {
  readonly answer: Answer
  /** The revision of the state that the answer describes. */
  readonly revision: Revision
}

type CommitRuntime = Pick<RuntimeServices, 'newCommitId' | 'elapsedMs' | 'onCommit' | 'attributesBytesMax'>

/**
 * Makes the commits of one environment's commands. The first attempts of all commands run concurrently. A
 * command that failed because of a conflict runs again in a queue with other such commands. There it can
 * conflict only with new commands, not with the queued ones.
 */
export class DraftCommits {
  readonly #store: EnvironmentStore
  readonly #runtime: CommitRuntime
  /** Used for callers that do not share the thread. */
  readonly #own: Asker = { timeShare: unsharedTime(), waiting: SOMEBODY }
  /** Resolves when the last command in the queue is done. */
  #queue: Promise<unknown> = Promise.resolve()

  constructor(store: EnvironmentStore, runtime: CommitRuntime) {
    this.#store = store
    this.#runtime = runtime
  }

  /**
   * Commits the writes of `command`, if there are any. The command can run several times; an error that it
   * throws ends all attempts. A long command yields. It can then read later commits, and its commit still
   * requires everything that it read. `onLost` is called after an attempt fails because of a conflict, before
   * it waits for the next one. Throws `REVISION_CONFLICT` after `COMMIT_ATTEMPTS_MAX` conflicts, and
   * `OVERLOADED` if the caller disconnects before the commit begins.
   */
  async run<Answer>(
    command: DraftCommand<Answer>,
    { asker = this.#own, onLost = () => {} }: { readonly asker?: Asker; readonly onLost?: () => void } = {},
  ): Promise<Answered<Answer>> {
    try {
      return await this.#attempt(command, asker)
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error
      onLost()
    }
    const answered = this.#queue.then(() => this.#attemptAgain(command, asker, onLost))
    this.#queue = answered.catch(() => undefined)
    return answered
  }

  /**
   * Resolves when the commands that are now queued after a conflict are done. Background work waits for them
   * to avoid further conflicts.
   */
  async whenLosersAreDone(): Promise<void> {
    await this.#queue
  }

  async #attemptAgain<Answer>(
    command: DraftCommand<Answer>,
    asker: Asker,
    onLost: () => void,
  ): Promise<Answered<Answer>> {
    for (let attempt = 2; ; attempt += 1) {
      try {
        return await this.#attempt(command, asker)
      } catch (error) {
        if (!(error instanceof ConflictError) || attempt === COMMIT_ATTEMPTS_MAX) throw error
        onLost()
      }
    }
  }

  async #attempt<Answer>(command: DraftCommand<Answer>, asker: Asker): Promise<Answered<Answer>> {
    // The head is read first. If the history is replaced in the meantime, the commit is rejected. Otherwise,
    // it could be made in the wrong history.
    const { epoch } = await this.#store.ledger.head()
    const drafted = await this.#draft(command, epoch, asker)
    if ('revision' in drafted) return drafted
    return { answer: drafted.answer, revision: await this.#timed(drafted.committing) }
  }

  /**
   * Runs the command and begins the commit of its writes, if there are any. The result references neither the
   * draft nor the commit. Otherwise both would stay in memory until the commit is durable, and the garbage
   * collector would copy them.
   */
  async #draft<Answer>(
    command: DraftCommand<Answer>,
    epoch: string,
    asker: Asker,
  ): Promise<Answered<Answer> | { readonly answer: Answer; readonly committing: Promise<Revision> }> {
    const { view, ledger } = this.#store
    const { newCommitId, attributesBytesMax } = this.#runtime
    const records = new Draft(view, attributesBytesMax)
    const { answer, sequence, commit } = await drive(function* () {
      const given = command(records)
      const result = isResumable(given) ? yield* given : given
      // The view can show commits that are not durable yet. The answer is about the view's state, not about
      // the ledger's head.
      const at = view.sequence()
      const drafted = records.isEmpty ? null : yield* records.commitInSlices(newCommitId())
      return { answer: result, sequence: at, commit: drafted }
    }, asker)
    if (commit === null) return { answer, revision: { epoch, sequence } }
    const committing = ledger.commit({ ...commit, epoch })
    // The promise is handled here, because the caller awaits it only one event-loop iteration later.
    committing.catch(() => undefined)
    return { answer, committing }
  }

  async #timed(committing: Promise<Revision>): Promise<Revision> {
    const { elapsedMs, onCommit } = this.#runtime
    const from = elapsedMs()
    try {
      const revision = await committing
      onCommit('done', elapsedMs() - from)
      return revision
    } catch (error) {
      const tookMs = elapsedMs() - from
      if (error instanceof ConflictError) onCommit('conflict', tookMs)
      else onCommit('failed', tookMs, error)
      throw error
    }
  }
}

/** Reads and writes a draft. It must have no other effects, because it can run several times. */
type DraftCommand<Answer> = (records: Draft) => Answer | Resumable<Answer>
