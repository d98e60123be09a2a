/** Runs the command line: in this process with separate streams, or in a shell. */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { runCommandLine } from '../../src/cli/command-line/command-line.ts'
import type { ExitCode } from '../../src/cli/session/exit-codes.ts'
import { API_KEY } from '#testing/processes/running-service.ts'
import { HANG_MS } from '../support/hang.ts'
import { sharedDirectory } from '../support/processes/temporary-directories.ts'

export interface CommandResult {
  readonly code: ExitCode
  readonly stdout: string
  readonly stderr: string
}

interface CommandOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly stdin?: string | Readable
}

/** Runs `verdict` with these arguments. Its standard output is not a terminal. */
export async function verdictCommand(
  args: readonly string[],
  options: CommandOptions = {},
): Promise<CommandResult> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const told = Promise.all([text(stdout), text(stderr)])
  const { stdin: input = '' } = options
  const stdin = typeof input === 'string' ? Readable.from([input]) : input
  const code = await runCommandLine(args, { env: options.env ?? {}, stdin, stdout, stderr })
  stdout.end()
  stderr.end()
  const [out, err] = await told
  return { code, stdout: out, stderr: err }
}

/** Time limit of a command, longer than any test needs. A command that exceeds it has exit code 124. */
const SHELL_SECONDS_MAX = String(HANG_MS / 1_000)

/** Runs a line of shell, in which `verdict` runs the command line in a separate process. */
export async function shellCommand(
  line: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const verdict = `${process.execPath} --disable-warning=ExperimentalWarning src/verdict.js`
  const script = line.replaceAll('verdict ', `${verdict} `)
  const options = { env: { ...process.env, ...env } }
  const run = promisify(execFile)('timeout', [SHELL_SECONDS_MAX, 'bash', '-c', script], options)
  // Without a pipe, standard input is empty.
  run.child.stdin?.end()
  return run.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    (error: { code: number; stdout: string; stderr: string }) => {
      return { code: error.code, stdout: error.stdout, stderr: error.stderr }
    },
  )
}

/** A directory for the files of a test file, and a function that writes files there. */
export function commandFiles() {
  const directory = sharedDirectory()
  const pathOf = (name: string): string => join(directory, name)
  const written = (content: string | Buffer, name = 'model.yaml'): string => {
    writeFileSync(pathOf(name), content)
    return pathOf(name)
  }
  return { directory, pathOf, written }
}

/** Runs commands with the key of an environment of this service, by default of the default environment. */
export function commandsOf({ address }: { readonly address: string }, ofEnvironment = API_KEY) {
  return (
    args: readonly string[],
    { key = ofEnvironment, stdin = '', env = {} } = {},
  ): Promise<CommandResult> =>
    verdictCommand(args, { env: { VERDICT_URL: address, VERDICT_KEY: key, ...env }, stdin })
}

/** Parses a text in which one name has the form ‹right|wrong›. Also returns the expected message. */
export function misnamed(marked: string, what: string) {
  const [, before, right, wrong, after] = /^(.*)‹(.*)\|(.*)›(.*)$/s.exec(marked)!
  const [kind, of] = what.split(' of ')
  const says = `there is no ${kind} "${wrong}"${of ? ` of ${of}` : ''}; did you mean "${right}"?`
  return { before: before!, right: `${before}${right}${after}`, wrong: `${before}${wrong}${after}`, says }
}
