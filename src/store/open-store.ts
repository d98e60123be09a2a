/**
 * From a URL to a store: the only file that imports adapters.
 *
 *     lmdb:DIR     DIR/verdict.lock, DIR/<environment id>/ with one lmdb environment each
 *     memory:      nothing on disk, gone with the process
 *
 * Environments share nothing but the directory and its lock. Messages never carry more of a URL than its scheme:
 * those of other stores may hold a password.
 */
import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { AuthzError } from '#model/errors.ts'
import { DirectoryLock } from './directory-lock.ts'
import { EmbeddedLedger } from './embedded-ledger.ts'
import { LmdbTables } from './lmdb/lmdb-tables.ts'
import { MemoryTables } from './memory/memory-tables.ts'
import type { EnvironmentStore, Store } from './store.ts'
import { TableView } from './table-view.ts'
import type { Tables } from './tables.ts'
import type { ListRule } from './view.ts'

const ENVIRONMENT_ID = /^[a-z0-9-]{1,64}$/

/**
 * Opens the store at `url`; a relative directory is relative to the working directory and is created when missing.
 * `listRule` says which lists the views keep.
 *
 * Throws `INVALID_INPUT` when the URL is none of the above or its directory cannot be had, `STORE_LOCKED` when
 * another process has it open.
 */
export async function openStore(url: string, listRule: ListRule): Promise<Store> {
  if (url === 'memory:') {
    return new EmbeddedStore({
      listRule,
      openTables: () => new MemoryTables(),
      removeTables: () => {},
      release: () => {},
    })
  }
  if (!url.startsWith('lmdb:') || url === 'lmdb:') {
    const came = url.includes(':') ? `${url.slice(0, url.indexOf(':') + 1)}…` : 'text without a scheme'
    throw new AuthzError('INVALID_INPUT', `a store URL is lmdb:DIRECTORY or memory:, not ${came}`)
  }
  const directory = resolve(url.slice('lmdb:'.length))
  makeDirectory(directory)
  const lock = new DirectoryLock(directory)
  return new EmbeddedStore({
    listRule,
    openTables: id => new LmdbTables(join(directory, id)),
    removeTables: id => rmSync(join(directory, id), { recursive: true, force: true }),
    release: () => lock.release(),
  })
}

interface EmbeddedStoreOptions {
  readonly listRule: ListRule
  readonly openTables: (id: string) => Tables
  /** Removes the tables of an environment that is closed, or was never whole. */
  readonly removeTables: (id: string) => void
  /** Called after everything else is closed. */
  readonly release: () => void
}

interface OpenEnvironment extends EnvironmentStore {
  readonly ledger: EmbeddedLedger
  readonly tables: Tables
}

class EmbeddedStore implements Store {
  readonly isShared = false
  readonly #options: EmbeddedStoreOptions
  readonly #environments = new Map<string, Promise<OpenEnvironment>>()
  #closed: Promise<void> | null = null

  constructor(options: EmbeddedStoreOptions) {
    this.#options = options
  }

  async environment(id: string): Promise<EnvironmentStore> {
    if (this.#closed) throw new AuthzError('STORE_CLOSED', 'the store is closed')
    requireEnvironmentId(id)
    const existing = this.#environments.get(id)
    if (existing) return existing
    const opening = this.#open(id)
    this.#environments.set(id, opening)
    // One that could not be opened may be tried again.
    opening.catch(() => this.#environments.delete(id))
    return opening
  }

  async drop(id: string): Promise<void> {
    if (this.#closed) throw new AuthzError('STORE_CLOSED', 'the store is closed')
    requireEnvironmentId(id)
    const environment = await this.#environments.get(id)
    if (environment) await closeEnvironment(environment)
    this.#environments.delete(id)
    this.#options.removeTables(id)
  }

  close(): Promise<void> {
    this.#closed ??= this.#closeAll()
    return this.#closed
  }

  async #open(id: string): Promise<OpenEnvironment> {
    const { openTables, listRule } = this.#options
    const tables = openTables(id)
    try {
      const view = new TableView(tables, listRule)
      return { ledger: await EmbeddedLedger.open({ tables, view }), view, tables }
    } catch (error) {
      await tables.close()
      throw error
    }
  }

  async #closeAll(): Promise<void> {
    const opened = await Promise.allSettled(this.#environments.values())
    const environments = opened.flatMap(result => (result.status === 'fulfilled' ? [result.value] : []))
    await Promise.all(environments.map(closeEnvironment))
    this.#options.release()
  }
}

/** Feeds end at once; what is being written is finished. */
async function closeEnvironment({ ledger, tables }: OpenEnvironment): Promise<void> {
  ledger.close()
  await tables.close()
}

/** Ids become names of directories. */
function requireEnvironmentId(id: string): void {
  if (ENVIRONMENT_ID.test(id)) return
  const expected = '1 to 64 lower-case letters, digits and hyphens'
  throw new AuthzError('INVALID_INPUT', `an environment id is ${expected}, not ${JSON.stringify(id)}`)
}

function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
  } catch (cause) {
    const message = `the data directory ${directory} cannot be created: ${cause instanceof Error ? cause.message : cause}`
    throw new AuthzError('INVALID_INPUT', message, { cause })
  }
}
