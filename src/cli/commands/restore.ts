/**
 * `verdict restore`: creates the directory of an embedded store from a backup. The command does not need a
 * running service.
 */
import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, mkdtemp, open, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type BackupSink, readBackup } from './read-backup.ts'
import type { Command } from '#cli/session/command.ts'
import { UsageError } from '#cli/session/exit-codes.ts'
import { RESTORED_MARKER } from '#model/backup.ts'

export const restoreCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      command
        .positional('file', { type: 'string', demandOption: true, describe: 'file written by backup' })
        .positional('directory', {
          type: 'string',
          demandOption: true,
          describe: 'target directory; must be empty or must not exist',
        })
        .example('$0 restore verdict.backup ./data', 'then start with STORE_URL=lmdb:./data'),
    run(async ({ output }, { file, directory }) => {
      const target = resolve(directory)
      await requireEmpty(target)
      await mkdir(dirname(target), { recursive: true })
      // The files are written to a temporary directory next to the target, which is then renamed. The target
      // therefore never contains a partial store.
      const part = await mkdtemp(`${target}.part-`)
      const files = new RestoredFiles(part)
      try {
        const { files: named, version, at } = await readBackup(createReadStream(file), files)
        await writeFile(join(part, RESTORED_MARKER), '', { mode: 0o600, flush: true })
        await rename(part, target)
        const result = { directory, environments: named.length - 1, version, at }
        output.result(
          result,
          () => `${directory}: ${named.length - 1} environments, as of ${at}, by Verdict ${version}`,
        )
      } catch (error) {
        await files.close()
        await rm(part, { recursive: true, force: true })
        throw error
      }
    }),
  )

async function requireEmpty(directory: string): Promise<void> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  if (names.length > 0)
    throw new UsageError(`${directory} is not empty; restore a store into an empty directory`)
}

/** Writes the files of a backup to a directory. Each file is synced to disk before the next one begins. */
class RestoredFiles implements BackupSink {
  readonly #directory: string
  #file: FileHandle | null = null

  constructor(directory: string) {
    this.#directory = directory
  }

  async begin(path: string): Promise<void> {
    await mkdir(join(this.#directory, dirname(path)), { mode: 0o700 })
    this.#file = await open(join(this.#directory, path), 'wx', 0o600)
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#file?.writeFile(bytes)
  }

  async end(): Promise<void> {
    await this.#file?.sync()
    await this.close()
  }

  async close(): Promise<void> {
    const file = this.#file
    this.#file = null
    await file?.close()
  }
}
