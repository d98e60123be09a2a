/**
 * Index of one environment that computes effective access changes. It makes no decisions: it follows the log,
 * commit by commit. It exists only while a client reads these changes, and it does not expire grants by the
 * clock: the access of an expired grant ends with the commit that removes the grant.
 */
import type { AccessChange } from '#model/access-change.ts'
import type { Change, Permission } from '#model/change.ts'
import { AuthzError } from '#model/errors.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import type { Revision } from '#model/revision.ts'
import type { LogEntry } from '#store/ledger.ts'
import type { EnvironmentStore } from '#store/store.ts'
import { loadChanges } from './load-changes.ts'

/** Computes the access changes (`engine/access-changes.ts`) with an engine that is initially empty. */
export interface AccessEngine {
  load(changes: readonly Change[]): void
  apply(changes: readonly Change[], permissions: readonly Permission[]): Resumable<AccessChange[]>
  scopesOf(changes: readonly Change[], permissions: readonly Permission[]): Resumable<AccessChange[]>
  /** Collects a part of the garbage that removals left. */
  tidyUp(): void
}

/** Changes loaded per event-loop iteration: a few milliseconds. */
const LOADED_AT_ONCE = 200

export class AccessIndex {
  readonly #store: EnvironmentStore
  readonly #newEngine: () => AccessEngine
  #engine: AccessEngine | null = null

  constructor(store: EnvironmentStore, newEngine: () => AccessEngine) {
    this.#store = store
    this.#newEngine = newEngine
  }

  /**
   * Loads the whole environment. Resolves with the newest commit in the index. Awaits `nextIteration` between
   * batches. Throws the errors of the store, for example if its epoch is replaced in the meantime.
   */
  async load(nextIteration: () => Promise<unknown>): Promise<Revision> {
    const { ledger, view } = this.#store
    const engine = this.#newEngine()
    const { epoch } = await ledger.head()
    const from: Revision = { epoch, sequence: view.sequence() }
    let part: Change[] = []
    for (const change of loadChanges(view)) {
      part.push(change)
      if (part.length < LOADED_AT_ONCE) continue
      engine.load(part)
      part = []
      await nextIteration()
    }
    engine.load(part)
    // The view might have changed during the load, so the loaded rows can be of several moments. The index is
    // consistent when it has applied all commits that the view had at the end.
    const head = await ledger.head()
    const to = { ...head, sequence: Math.max(head.sequence, view.sequence()) }
    const at = await this.#catchUp(engine, { from, to }, nextIteration)
    this.#engine = engine
    return at
  }

  /** Drops the index when no client reads access changes any more. */
  drop(): void {
    this.#engine = null
  }

  /** Applies the commit after the last one, and returns the access changes. */
  *apply({ changes }: LogEntry, permissions: readonly Permission[]): Resumable<AccessChange[]> {
    const engine = this.#loaded()
    const accessChanges = yield* engine.apply(changes, permissions)
    engine.tidyUp()
    return accessChanges
  }

  /** Returns the access changes that a commit might have caused, for a commit that was applied earlier. */
  scopesOf({ changes }: LogEntry, permissions: readonly Permission[]): Resumable<AccessChange[]> {
    return this.#loaded().scopesOf(changes, permissions)
  }

  #loaded(): AccessEngine {
    if (this.#engine) return this.#engine
    throw new AuthzError('NOT_READY', 'access changes of this environment are no longer followed')
  }

  async #catchUp(
    engine: AccessEngine,
    { from, to }: { readonly from: Revision; readonly to: Revision },
    nextIteration: () => Promise<unknown>,
  ): Promise<Revision> {
    if (from.epoch === to.epoch && from.sequence >= to.sequence) return from
    let loaded = 0
    for await (const { changes, revision } of this.#store.ledger.replay(from)) {
      for (let at = 0; at < changes.length; at += LOADED_AT_ONCE) {
        const part = changes.slice(at, at + LOADED_AT_ONCE)
        engine.load(part)
        loaded += part.length
        if (loaded < LOADED_AT_ONCE) continue
        loaded = 0
        // Reading entries that have already arrived does not yield to the event loop.
        await nextIteration()
      }
      if (revision.sequence >= to.sequence) return revision
    }
    throw new AuthzError('STORE_CLOSED', 'the store is closed')
  }
}
