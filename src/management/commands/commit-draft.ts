/** Runs a command until its commit goes through: against the present view, again whenever its ground has changed. */
import { SOMEBODY } from '#decisions/decision-pool.ts'
import { ConflictError } from '#model/errors.ts'
import { COMMIT_ATTEMPTS_MAX } from '#model/limits.ts'
import type { Revision } from '#model/revision.ts'
import type { EnvironmentStore } from '#store/store.ts'
import { Draft } from './draft.ts'
import { type Asker, drive, isResumable, type Resumable } from './resumable.ts'
import type { Surroundings } from './surroundings.ts'
import { FairTurns } from './fair-turns.ts'

export interface Answered<Answer> {
  readonly answer: Answer
  /** The state that the answer is from. */
  readonly revision: Revision
}

type CommitSurroundings = Pick<Surroundings, 'newCommitId' | 'elapsedMs' | 'onCommit' | 'attributesBytesMax'>

/**
 * Makes the commits of one environment's commands. The first attempts of all commands run side by side. A command that lost
 * a race runs again in a queue with the others that lost, so it can lose only against newcomers and not again against the
 * same crowd.
 */
export class DraftCommits {
  readonly #store: EnvironmentStore
  readonly #surroundings: CommitSurroundings
  /** For callers that do not share the thread. */
  readonly #own: Asker = { turns: new FairTurns().share(), waiting: SOMEBODY }
  /** Resolves when the last command in the queue is done. */
  #queue: Promise<unknown> = Promise.resolve()

  constructor(store: EnvironmentStore, surroundings: CommitSurroundings) {
    this.#store = store
    this.#surroundings = surroundings
  }

  /**
   * Commits what `command` writes into the draft, if anything. The command may run several times; an error it throws ends
   * the attempt for good. A long command yields: it may meet later commits on its way, and what it read is required as
   * ever. `onLost` is called when an attempt has lost, before it waits for another. Throws `REVISION_CONFLICT` when
   * newcomers were faster `COMMIT_ATTEMPTS_MAX` times in a row, and `OVERLOADED` when the caller left before there was
   * anything to commit.
   */
  async run<Answer>(
    command: Command<Answer>,
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
   * Resolves when the commands that have lost by now are done. Background work waits for that, so as not to make them lose
   * again.
   */
  async whenLosersAreDone(): Promise<void> {
    await this.#queue
  }

  async #attemptAgain<Answer>(
    command: Command<Answer>,
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

  async #attempt<Answer>(command: Command<Answer>, asker: Asker): Promise<Answered<Answer>> {
    // Asked first: if the history is replaced meanwhile, the commit is refused and not made in the wrong history.
    const { epoch } = await this.#store.ledger.head()
    const drafted = await this.#draft(command, epoch, asker)
    if ('revision' in drafted) return drafted
    return { answer: drafted.answer, revision: await this.#timed(drafted.committing) }
  }

  /**
   * Runs the command, and begins the commit of what it has written, if anything. What it returns holds neither the draft nor the
   * commit: both would live until the commit is durable, and be moved by the garbage collector on the way.
   */
  async #draft<Answer>(
    command: Command<Answer>,
    epoch: string,
    asker: Asker,
  ): Promise<Answered<Answer> | { readonly answer: Answer; readonly committing: Promise<Revision> }> {
    const { view, ledger } = this.#store
    const { newCommitId, attributesBytesMax } = this.#surroundings
    const records = new Draft(view, attributesBytesMax)
    const { answer, sequence, commit } = await drive(function* () {
      const given = command(records)
      const told = isResumable(given) ? yield* given : given
      // The view may show what is not durable yet. The answer is about the view's state, not the ledger's head.
      const at = view.sequence()
      const drafted = records.isEmpty ? null : yield* records.commitInSlices(newCommitId())
      return { answer: told, sequence: at, commit: drafted }
    }, asker)
    if (commit === null) return { answer, revision: { epoch, sequence } }
    const committing = ledger.commit({ ...commit, epoch })
    // Whoever began it awaits it a turn later.
    committing.catch(() => undefined)
    return { answer, committing }
  }

  async #timed(committing: Promise<Revision>): Promise<Revision> {
    const { elapsedMs, onCommit } = this.#surroundings
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

/** Reads and writes a draft. It has no other effect, since it may run several times. */
type Command<Answer> = (records: Draft) => Answer | Resumable<Answer>
