/** `verdict import`: what an export wrote, in place of what is in an environment. */
import { open } from 'node:fs/promises'
import type { ImportResult } from '#model/wire/environment-content.ts'
import { ApiError, bodyOf, messageOf } from '../api.ts'
import type { Command } from '../command.ts'
import { UsageError } from '../exit-codes.ts'
import { FILE_ARGUMENT } from '../input.ts'
import type { Progress } from '../output.ts'

const MEBIBYTE = 1_048_576

export const importCommand: Command = (parser, run) =>
  parser.command(
    'import <file>',
    'Puts what export wrote into an environment, all or nothing; decisions go on meanwhile',
    command =>
      command
        .positional('file', {
          ...FILE_ARGUMENT,
          demandOption: true,
          describe: 'the file; - for standard input',
        })
        .option('replace', {
          type: 'boolean',
          default: false,
          describe: 'replace everything that is there; without it the environment must be empty',
        })
        .example('$0 import backup.ndjson', 'into a new environment')
        .example('$0 import backup.ndjson --replace', 'back to the backup: what came after it is gone'),
    run(async (session, { file, replace }) => {
      const path = `/v2/projects/${await session.environmentPath()}/import?replace=${replace}`
      // What is wrong with the file is said before anything is sent.
      const handle = file === '-' ? null : await open(file)
      const found = await handle?.stat()
      if (found?.isDirectory()) throw new UsageError(`${file} is a directory`)
      const bytes = found?.size ?? 0
      const progress = session.output.progress('sending', Math.ceil(bytes / MEBIBYTE), 'MiB')
      const input = handle?.createReadStream() ?? session.streams.stdin
      const response = await session.api.fetch('POST', path, told(input, progress), 'application/x-ndjson')
      progress.stop()
      const answer = { status: response.status, body: bodyOf(await response.text()) }
      if (response.status !== 200) throw new ApiError(response.status, `${file}: ${messageOf(answer)}`)
      const result = answer.body as ImportResult
      const rows = Object.entries(result.counts).filter(([kind]) => kind !== 'environment' && kind !== 'end')
      session.output.result(result, () => session.output.table(['IMPORTED', 'COUNT'], rows))
    }),
  )

async function* told(input: NodeJS.ReadableStream, progress: Progress): AsyncIterable<Uint8Array> {
  let sent = 0
  for await (const piece of input) {
    const bytes = Buffer.from(piece as Uint8Array)
    yield bytes
    sent += bytes.length
    progress.update(Math.ceil(sent / MEBIBYTE))
  }
}
