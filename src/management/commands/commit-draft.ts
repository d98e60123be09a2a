/** Runs a command until its commit goes through: against the present view, again whenever its ground has changed. */
import { SOMEBODY } from '#decisions/decision-pool.ts'
import { ConflictError } from '#model/errors.ts'
import { COMMIT_ATTEMPTS_MAX } from '#model/limits.ts'
import type { Revision } from '#model/revision.ts'
import type { EnvironmentStore } from '#store/store.ts'
import { Draft } from './draft.ts'
import { type Asker, drive, type Resumable } from './resumable.ts'
import type { Surroundings } from './surroundings.ts'
import { FairTurns } from './turns.ts'

export interface Answered<Answer> {
  readonly answer: Answer
  /** The state the answer tells of. */
  readonly revision: Revision
}

type CommitSurroundings = Pick<Surroundings, 'newCommitId' | 'elapsedMs' | 'onCommit' | 'attributesBytesMax'>

/**
 * The commits of one environment's commands. The first attempts of all run side by side; a command that lost runs again in
 * a queue with the others that lost, so that it can lose only against newcomers and not against the crowd it came with.
 */
export class DraftCommits {
  readonly #store: EnvironmentStore
  readonly #surroundings: CommitSurroundings
  /** Of who does not share the thread. */
  readonly #own: Asker = { turns: new FairTurns().share(), waiting: SOMEBODY }
  /** Resolves when the last command in the queue is done. */
  #queue: Promise<unknown> = Promise.resolve()

  constructor(store: EnvironmentStore, surroundings: CommitSurroundings) {
    this.#store = store
    this.#surroundings = surroundings
  }

  /**
   * Commits what `command` writes into the draft, if anything. The command may run several times; what it throws ends the
   * matter. One that is long yields: it may meet later commits on its way, and what it read is required as ever.
   * `onLost` is called when an attempt has lost, before it waits for another. Throws `REVISION_CONFLICT` when newcomers were faster `COMMIT_ATTEMPTS_MAX` times in a row, and `OVERLOADED` when whoever
   * asked left before there was anything to commit.
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

  /** Resolves when the commands that have lost by now are done: for background work, which is not to make them lose more. */
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
    const { view, ledger } = this.#store
    // Asked first: should the history be replaced on the way, the commit is refused and not made on the wrong ground.
    const { epoch } = await ledger.head()
    const records = new Draft(view, this.#surroundings.attributesBytesMax)
    const answer = await drive(() => command(records), asker)
    // What the view shows may not be durable yet: the answer tells of that, not of the ledger's head.
    const sequence = view.sequence()
    if (records.isEmpty) return { answer, revision: { epoch, sequence } }
    const drafted = await drive(() => records.commitInSlices(this.#surroundings.newCommitId()), asker)
    const commit = { ...drafted, epoch }
    return { answer, revision: await this.#timed(() => ledger.commit(commit)) }
  }

  async #timed(commit: () => Promise<Revision>): Promise<Revision> {
    const { elapsedMs, onCommit } = this.#surroundings
    const from = elapsedMs()
    try {
      const revision = await commit()
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

/** Reads and writes a draft. Pure but for that: it may run several times. */
type Command<Answer> = (records: Draft) => Answer | Resumable<Answer>
