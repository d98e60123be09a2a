/** Runs the command line in this process, with streams of its own. */
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { runCommandLine } from '../../src/cli/command-line.ts'
import type { ExitCode } from '../../src/cli/exit-codes.ts'

export interface CommandResult {
  readonly code: ExitCode
  readonly stdout: string
  readonly stderr: string
}

interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string
}

/** Runs `verdict` with these arguments; its standard output is no terminal. */
export async function verdictCommand(
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const told = Promise.all([text(stdout), text(stderr)])
  const stdin = Readable.from([options.stdin ?? ''])
  const code = await runCommandLine(args, { env: options.env ?? {}, stdin, stdout, stderr })
  stdout.end()
  stderr.end()
  const [out, err] = await told
  return { code, stdout: out, stderr: err }
}
