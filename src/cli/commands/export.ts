/** `verdict export`: writes the content of an environment as lines of JSON to a file or a pipe. */
import { chmod, lstat, open, realpath, rename, rm, stat } from 'node:fs/promises'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ApiError } from '#cli/session/exit-codes.ts'
import type { Command } from '#cli/session/command.ts'
import { FILE_ARGUMENT } from '#cli/session/input.ts'
import type { OnProgress } from '#cli/session/output.ts'
import type { Session } from '#cli/session/session.ts'

/**
 * Matches the last line of an export, which contains the number of lines before it. If this line is missing,
 * the export is incomplete.
 */
const END = /(?:^|\n)\{"kind":"end","lines":(\d+)\}\n$/
const LAST_LINE_BYTES_MAX = 100
const MEBIBYTE = 1_048_576

export const exportCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      command
        .positional('file', {
          ...FILE_ARGUMENT,
          default: '-',
          describe: 'path of the file; - for standard output',
        })
        .example('$0 export backup.ndjson', 'a readable file for import')
        .example('$0 export | grep \'"kind":"user"\'', 'prints the users'),
    run(async (session, { file }) => {
      if (file === '-') {
        await receive(session, session.streams.stdout as Writable, false)
        return
      }
      // If the file is a symbolic link, the export replaces its target.
      const target = await realpath(file).catch(() => file)
      const lines = (await isReplaceable(target))
        ? await receiveWhole(session, target)
        : await receive(session, (await open(target, 'w')).createWriteStream(), true)
      session.output.result({ file, lines }, () => `${file}: ${lines} lines`)
    }),
  )

/**
 * Whether the export can replace the file. Pipes and devices cannot be replaced. The export is written
 * directly to them.
 */
async function isReplaceable(file: string): Promise<boolean> {
  const there = await lstat(file).catch(() => null)
  return there === null || there.isFile()
}

/** Writes the export under a temporary name and renames it when it is complete. */
async function receiveWhole(session: Session, file: string): Promise<number> {
  const part = `${file}.part`
  // The file is opened before the request is sent, so that an invalid path is reported first. An existing
  // temporary file is removed first, because others might be able to read it.
  await rm(part, { force: true })
  const handle = await open(part, 'wx', 0o600)
  try {
    // If the export replaces a file, it gets the permissions of that file.
    const existing = await stat(file).catch(() => null)
    if (existing) await chmod(part, existing.mode)
    const lines = await receive(session, handle.createWriteStream(), true)
    await rename(part, file)
    return lines
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

/** Writes the response to the target as it arrives. Returns the number of lines. */
async function receive(session: Session, target: Writable, ends: boolean): Promise<number> {
  // The request is sent inside the pipeline, so that the pipeline closes the target if the request fails.
  const source = async function* () {
    yield* session.api.download(`/v2/projects/${await session.environmentPath()}/export`)
  }
  let [lines, bytes] = [0, 0]
  let tail = Buffer.alloc(0)
  const count = (onProgress: OnProgress) =>
    async function* (pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
      for await (const piece of pieces) {
        for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) lines += 1
        tail = Buffer.concat([tail, piece.subarray(-LAST_LINE_BYTES_MAX)]).subarray(-LAST_LINE_BYTES_MAX)
        onProgress(Math.floor((bytes += piece.length) / MEBIBYTE))
        yield piece
      }
    }
  await session.output.counting('exporting', 'MiB', onProgress =>
    pipeline(source, count(onProgress), target, { end: ends }),
  )
  // `lines` counts all lines. The number in the last line does not count this line itself.
  if (Number(END.exec(tail.toString('latin1'))?.[1]) !== lines - 1) {
    throw new ApiError(
      'the export is incomplete: its last line is missing, or states another number of lines',
    )
  }
  return lines
}
