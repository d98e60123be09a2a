/** `verdict import`: replaces the content of an environment by an export. */
import { open } from 'node:fs/promises'
import { resultOf } from '#cli/session/api.ts'
import type { Command } from '#cli/session/command.ts'
import { UsageError } from '#cli/session/exit-codes.ts'
import { checkedBytesOf, FILE_ARGUMENT } from '#cli/session/input.ts'
import type { OnProgress } from '#cli/session/output.ts'
import { CONTENT_TYPE, ImportResult } from '#entities/environment-content.ts'

const MEBIBYTE = 1_048_576

export const importCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      command
        .positional('file', {
          ...FILE_ARGUMENT,
          demandOption: true,
          describe: 'path of the file; - for standard input',
        })
        .option('replace', {
          type: 'boolean',
          default: false,
          describe: 'replace all content; without it the environment must be empty',
        })
        .example('$0 import backup.ndjson', 'into a new environment')
        .example('$0 import backup.ndjson --replace', 'replaces the content; later changes are lost'),
    run(async (session, { file, replace }) => {
      const path = `/v2/projects/${await session.environmentPath()}/import?replace=${replace}`
      // The file is opened before the request is sent, so that an invalid path is reported first.
      const handle = file === '-' ? null : await open(file)
      const found = await handle?.stat()
      if (found?.isDirectory()) {
        await handle?.close()
        throw new UsageError(`${file} is a directory`)
      }
      const bytes = found?.size ?? 0
      const input = handle?.createReadStream() ?? session.streams.stdin
      const mebibytes = Math.ceil(bytes / MEBIBYTE)
      const answer = await session.output.progress('sending', mebibytes, 'MiB', onProgress =>
        session.api.upload(path, withProgress(checkedBytesOf(file, input), onProgress), CONTENT_TYPE),
      )
      const result = resultOf(ImportResult, answer, file)
      const rows = Object.entries(result.counts).filter(([kind]) => kind !== 'environment' && kind !== 'end')
      session.output.result(result, () => session.output.table(['IMPORTED', 'COUNT'], rows))
    }),
  )

async function* withProgress(
  pieces: AsyncIterable<Uint8Array>,
  onProgress: OnProgress,
): AsyncIterable<Uint8Array> {
  let sent = 0
  for await (const bytes of pieces) {
    yield bytes
    sent += bytes.length
    onProgress(Math.ceil(sent / MEBIBYTE))
  }
}
