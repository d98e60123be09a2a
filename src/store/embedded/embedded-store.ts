/** A store in its own tables: the ledger and the view of an environment share them. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { assert } from '#model/assert.ts'
import type { LargeWrites } from '#store/large-writes.ts'
import { snapshotPlaceIn } from '#store/snapshot-place.ts'
import type { BeginOptions, EnvironmentStore, Store } from '#store/store.ts'
import type { Tables } from '#store/tables.ts'
import type { ListRule } from '#store/view.ts'
import { EmbeddedLedger } from './embedded-ledger.ts'
import { EnvironmentSet } from './environment-set.ts'
import { TableView } from './table-view.ts'

export interface EmbeddedStoreOptions {
  readonly listRule: ListRule
  /** Number of log entries that each ledger keeps. */
  readonly logEntriesMax?: number
  readonly largeWrites?: LargeWrites | null
  readonly openTables: (id: string) => Promise<Tables>
  /** Throws `STORE_DAMAGED` if the environment has no tables. */
  readonly requireTables: (id: string) => void
  /** Ids of the environments that have tables. */
  readonly keptIds: () => readonly string[]
  /** Removes the tables of an environment that is closed, or whose creation was not completed. */
  readonly removeTables: (id: string) => void
  /** Directory of the tables; null if they are not on disk. */
  readonly directoryOf: (id: string) => string | null
  /** Creates an empty directory for a backup; throws `INVALID_INPUT` if the store is not on disk. */
  readonly backupDirectory: () => string
  /** Releases the store. Called after all environments are closed. */
  readonly release: () => void
}

interface EmbeddedEnvironment extends EnvironmentStore {
  readonly ledger: EmbeddedLedger
  readonly tables: Tables
}

export class EmbeddedStore implements Store {
  readonly isShared = false
  readonly isAlone = false
  readonly nodeHeartbeats = null
  readonly #options: EmbeddedStoreOptions
  readonly #environments = new EnvironmentSet<EmbeddedEnvironment>((id, options) => this.#open(id, options))
  #closed: Promise<void> | null = null

  constructor(options: EmbeddedStoreOptions) {
    this.#options = options
  }

  environment(id: string, options?: BeginOptions): Promise<EnvironmentStore> {
    return this.#environments.get(id, options)
  }

  async drop(id: string): Promise<void> {
    const environment = await this.#environments.take(id)
    if (environment) await closeEnvironment(environment)
    this.#options.removeTables(id)
  }

  /** The tables of an embedded store are not local replicas, so there is nothing to discard. */
  discardCopies(): void {}

  directoryOf(id: string): string | null {
    return this.#options.directoryOf(id)
  }

  /** The tables of an embedded store are the source of truth, so they are never stale. */
  stalenessMs(): number {
    return 0
  }

  isEmptied(): boolean {
    return false
  }

  replacedHistories(): number {
    return 0
  }

  /** An embedded store never waits for another process or server. */
  giveUp(): void {}

  backupDirectory(): string {
    return this.#options.backupDirectory()
  }

  async backUp(id: string, directory: string): Promise<void> {
    const { tables } = await this.#environments.get(id, { begin: 'never' })
    assert(tables.backUp, 'tables with a backup directory are stored on disk')
    const own = join(directory, id)
    mkdirSync(own, { mode: 0o700 })
    await tables.backUp(own)
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeAll()
    return this.#closed
  }

  async #open(id: string, { begin = 'always' }: BeginOptions): Promise<EmbeddedEnvironment> {
    const { openTables, listRule, logEntriesMax, requireTables, keptIds, largeWrites = null } = this.#options
    const isFirst = begin === 'before-others' && keptIds().every(kept => kept === id)
    const mayBegin = begin === 'always' || isFirst
    if (!mayBegin) requireTables(id)
    const tables = await openTables(id)
    try {
      const view = new TableView(tables, listRule)
      const retention = logEntriesMax === undefined ? {} : { logEntriesMax }
      const ledger = await EmbeddedLedger.open({ tables, view, mayBegin, largeWrites, ...retention })
      const place = snapshotPlaceIn(tables)
      // These functions do nothing, because the tables of an embedded store are never replaced.
      const [takeOver, setAside, requireWhole] = [() => {}, () => {}, () => {}]
      return {
        ledger,
        view,
        tables,
        // No other process writes to the tables.
        caughtUp: () => Promise.resolve(),
        whenListed: () => Promise.resolve(),
        snapshotPlace: () => place,
        takeOver,
        setAside,
        requireWhole,
      }
    } catch (error) {
      await tables.close()
      throw error
    }
  }

  async #closeAll(): Promise<void> {
    const environments = await this.#environments.close()
    await Promise.all(environments.map(closeEnvironment))
    this.#options.release()
  }
}

/** Feeds end immediately; writes in progress are completed. */
async function closeEnvironment({ ledger, tables }: EmbeddedEnvironment): Promise<void> {
  await ledger.close()
  await tables.close()
}
