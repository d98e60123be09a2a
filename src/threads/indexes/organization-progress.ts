/**
 * Progress of this process in following the organization, for the threads that serve callers. It states which
 * keys and environments are in effect. It advances only after the effects of a commit are complete.
 */
import { assert } from '#model/assert.ts'
import type { Change } from '#model/change.ts'
import type { Revision } from '#model/revision.ts'
import type { IndexHost } from '#replica/index-host.ts'
import { createProgress, type ProgressHandle, publishProgress } from './index-progress.ts'

type CommittedRows = Parameters<IndexHost['apply']>[3]

interface Follower {
  load(): Promise<void>
  apply(rows: CommittedRows): Promise<void>
}

export class OrganizationProgress implements IndexHost {
  readonly #follower: Follower
  readonly #onEpoch: (progress: ProgressHandle) => void
  #progress: ProgressHandle | null = null

  /** `follower` applies the changes of the organization. `onEpoch` is called when a new epoch begins. */
  constructor(follower: Follower, onEpoch: (progress: ProgressHandle) => void) {
    this.#follower = follower
    this.#onEpoch = onEpoch
  }

  async load(_id: string, _changes: Iterable<Change>, revision: Revision): Promise<void> {
    await this.#follower.load()
    this.#progress = createProgress(revision)
  }

  async publish(): Promise<void> {
    assert(this.#progress, 'published rows were loaded before')
    this.#onEpoch(this.#progress)
  }

  async apply(
    _id: string,
    _changes: readonly Change[],
    { sequence }: Revision,
    rows: CommittedRows,
  ): Promise<void> {
    assert(this.#progress, 'changes follow a load')
    await this.#follower.apply(rows)
    publishProgress(this.#progress, sequence)
  }
}
