/**
 * Creates backups of the whole store while it is in use. A backup contains keys, projects and environments,
 * each as of one moment, and every environment that the organization lists. The store writes the copies next
 * to its tables; then the caller reads them. Therefore a backup needs as much free disk space as its content.
 * One backup can run at a time.
 */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Answered } from '#management/drafts/commit-draft.ts'
import type { Backups } from '#management/management-service.ts'
import type { PieceSource } from '#management/content/content-stream.ts'
import { BACKUP_FORMAT, type BackupManifest } from '#model/backup.ts'
import { AuthzError } from '#model/errors.ts'
import { VERSION } from '#model/version.ts'
import type { EnvironmentStore, Store } from '#store/store.ts'
import { ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'

/**
 * Maximum number of attempts. A backup starts again if environments were created or deleted in the meantime.
 */
const ATTEMPTS_MAX = 5
const PIECE_BYTES = 262_144
/** How long a reader can take before it requests the next chunk. */
const IDLE_MS_MAX = 60_000

export interface StoreBackupsOptions {
  readonly store: Store
  readonly organization: EnvironmentStore
  /** Ids of all existing environments. */
  readonly environmentIds: () => readonly string[]
}

export class StoreBackups implements Backups {
  readonly #options: StoreBackupsOptions
  #isBusy = false

  constructor(options: StoreBackupsOptions) {
    this.#options = options
  }

  async take(): Promise<Answered<PieceSource>> {
    const { store, organization } = this.#options
    if (this.#isBusy) throw new AuthzError('OVERLOADED', 'another backup is being taken; try again later')
    this.#isBusy = true
    let directory: string | null = null
    const release = async (): Promise<void> => {
      if (directory !== null) await rm(directory, { recursive: true, force: true })
      this.#isBusy = false
    }
    try {
      const revision = await organization.ledger.head()
      for (let attempt = 1; ; attempt += 1) {
        const made = store.backupDirectory()
        directory = made
        const ids = await this.#copy(made)
        if (ids !== null) {
          const manifest = await manifestOf(made, [ORGANIZATION_STORE_ID, ...ids])
          return { answer: new BackupStream(made, manifest, release), revision }
        }
        await rm(made, { recursive: true, force: true })
        if (attempt === ATTEMPTS_MAX) {
          throw new AuthzError(
            'OVERLOADED',
            'environments were created or deleted during the backup; try again later',
          )
        }
      }
    } catch (error) {
      await release()
      throw error
    }
  }

  /**
   * Ids of the environments that were copied; null if environments were created or deleted in the meantime.
   */
  async #copy(directory: string): Promise<readonly string[] | null> {
    const { store, environmentIds } = this.#options
    const ids = environmentIds()
    const isStill = (): boolean => environmentIds().toSorted().join() === ids.toSorted().join()
    try {
      // The organization is copied first, so that each environment is at least as new as the records that
      // name it.
      await store.backUp(ORGANIZATION_STORE_ID, directory)
      for (const id of ids) {
        if (!isStill()) return null
        await store.backUp(id, directory)
      }
    } catch (error) {
      if (!isStill()) return null
      throw error
    }
    return isStill() ? ids : null
  }
}

async function manifestOf(directory: string, ids: readonly string[]): Promise<BackupManifest> {
  const files = []
  for (const id of ids) {
    const path = `${id}/data.mdb`
    const digest = createHash('sha256')
    for await (const piece of createReadStream(join(directory, path), { highWaterMark: PIECE_BYTES }))
      digest.update(piece as Buffer)
    const { size } = await stat(join(directory, path))
    files.push({ path, bytes: size, sha256: digest.digest('hex') })
  }
  return {
    kind: 'verdict-backup',
    format: BACKUP_FORMAT,
    version: VERSION,
    at: new Date().toISOString(),
    files,
  }
}

class BackupStream implements PieceSource {
  readonly #pieces: AsyncIterator<Uint8Array>
  readonly #release: () => Promise<void>
  readonly #idle: NodeJS.Timeout
  #isOver = false

  constructor(directory: string, manifest: BackupManifest, release: () => Promise<void>) {
    this.#pieces = piecesOf(directory, manifest)[Symbol.asyncIterator]()
    this.#release = release
    this.#idle = setTimeout(() => this.cancel(), IDLE_MS_MAX).unref()
  }

  async next(): Promise<Uint8Array | null> {
    if (this.#isOver) throw new AuthzError('STORE_CLOSED', 'the client stopped reading for too long')
    this.#idle.refresh()
    try {
      const step = await this.#pieces.next()
      if (!step.done) return step.value
    } catch (error) {
      await this.#end()
      throw error
    }
    // Ends before the reader learns that this was the last chunk, because it can request the next backup
    // immediately.
    await this.#end()
    return null
  }

  cancel(): void {
    void this.#end()
  }

  async #end(): Promise<void> {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#idle)
    await this.#pieces.return?.().catch(() => {})
    await this.#release()
  }
}

async function* piecesOf(directory: string, manifest: BackupManifest): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${JSON.stringify(manifest)}\n`)
  for (const { path } of manifest.files) {
    const file = await open(join(directory, path))
    try {
      yield* contentOf(file)
    } finally {
      await file.close()
    }
  }
}

async function* contentOf(file: FileHandle): AsyncGenerator<Uint8Array> {
  for (;;) {
    // Each chunk needs its own buffer, because the chunk is transferred to another thread.
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafeSlow(PIECE_BYTES), 0, PIECE_BYTES)
    if (bytesRead === 0) return
    yield buffer.subarray(0, bytesRead)
  }
}
