/** `verdict backup`: writes a backup of an embedded store while the service runs. */
import { createReadStream } from 'node:fs'
import { chmod, open, rename, rm, stat } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import { readBackup } from './read-backup.ts'
import type { Command } from '#cli/session/command.ts'

export const backupCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      command
        .positional('file', {
          type: 'string',
          demandOption: true,
          describe: 'path of the file; replaced when the backup is complete',
        })
        .example('$0 backup verdict.backup', 'writes a file for restore'),
    run(async ({ api, output }, { file }) => {
      const part = `${file}.part`
      // The file is opened before the request is sent, so that an invalid path is reported first. Only its
      // owner can read it, because it contains API keys. An existing temporary file is removed first, because
      // it could belong to another user or be readable by others.
      await rm(part, { force: true })
      const handle = await open(part, 'wx', 0o600)
      try {
        // If the backup replaces a file, it gets the permissions of that file.
        const existing = await stat(file).catch(() => null)
        if (existing) await chmod(part, existing.mode)
        await pipeline(() => api.download('/v2/backup', 'POST'), handle.createWriteStream({ flush: true }))
        const { files } = await readBackup(createReadStream(part))
        await rename(part, file)
        const bytes = files.reduce((sum, each) => sum + each.bytes, 0)
        output.result(
          { file, environments: files.length - 1, bytes },
          () => `${file}: ${files.length - 1} environments, ${bytes} bytes`,
        )
      } catch (error) {
        await rm(part, { force: true })
        throw error
      }
    }),
  )
