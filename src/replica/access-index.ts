/**
 * An index of one environment that nobody decides on: it follows the log and nothing else, commit by commit, for who wants to know whose
 * access each commit changes. It is there only while somebody does, and ends nothing by a clock: a grant that ended is lost with the
 * commit that removes it.
 */
import type { AccessChange } from '#model/access-change.ts'
import type { Change, Permission } from '#model/change.ts'
import { AuthzError } from '#model/errors.ts'
import type { Resumable } from '#model/resumable.ts'
import type { Revision } from '#model/revision.ts'
import type { Entry } from '#store/ledger.ts'
import type { EnvironmentStore } from '#store/store.ts'
import { loadChanges } from './load-changes.ts'

/** What computes it (`engine/access-changes.ts`), on an empty engine of its own. */
export interface AccessEngine {
  load(changes: readonly Change[]): void
  apply(changes: readonly Change[], permissions: readonly Permission[]): Resumable<AccessChange[]>
  scopesOf(changes: readonly Change[], permissions: readonly Permission[]): Resumable<AccessChange[]>
  /** Collects what removals left, some of it. */
  tidyUp(): void
}

/** Changes loaded in one turn of the event loop: some milliseconds. */
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
   * Loads everything there is. Resolves with the newest commit that the index has; `nextTurn` is awaited between its parts. Throws what
   * reading the store throws, as when its history is replaced meanwhile.
   */
  async load(nextTurn: () => Promise<unknown>): Promise<Revision> {
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
      await nextTurn()
    }
    engine.load(part)
    // The view has changed meanwhile: what was read is of several moments until all is heard that it had at the end.
    const head = await ledger.head()
    const to = { ...head, sequence: Math.max(head.sequence, view.sequence()) }
    const at = await this.#catchUp(engine, { from, to }, nextTurn)
    this.#engine = engine
    return at
  }

  /** Nobody wants to know any more. */
  drop(): void {
    this.#engine = null
  }

  /** Applies the commit behind the last one, and says whose access it changed. */
  *apply({ changes }: Entry, permissions: readonly Permission[]): Resumable<AccessChange[]> {
    const engine = this.#loaded()
    const told = yield* engine.apply(changes, permissions)
    engine.tidyUp()
    return told
  }

  /** What a commit may have changed that was applied before. */
  scopesOf({ changes }: Entry, permissions: readonly Permission[]): Resumable<AccessChange[]> {
    return this.#loaded().scopesOf(changes, permissions)
  }

  #loaded(): AccessEngine {
    if (this.#engine) return this.#engine
    throw new AuthzError('NOT_READY', 'the changes of access of this environment are not followed any more')
  }

  async #catchUp(
    engine: AccessEngine,
    { from, to }: { readonly from: Revision; readonly to: Revision },
    nextTurn: () => Promise<unknown>,
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
        // Entries that have arrived are read without a turn of the loop.
        await nextTurn()
      }
      if (revision.sequence >= to.sequence) return revision
    }
    throw new AuthzError('STORE_CLOSED', 'the store is closed')
  }
}
