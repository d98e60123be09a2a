/**
 * Runs the command line: a function that maps arguments to output and an exit code (`exit-codes.ts`). Each
 * command is a file in `commands`. This file defines the options that all commands share.
 */
import yargs, { type Argv } from 'yargs'
import { VERSION } from '#model/version.ts'
import type { Run } from '#cli/session/command.ts'
import { COMMANDS } from './commands.ts'
import { COMPLETION_FLAG, completionArguments, completionLines } from './completion.ts'
import {
  ModelFileError,
  ApiError,
  defectMessage,
  EXIT,
  type ExitCode,
  fileMessage,
  UsageError,
} from '#cli/session/exit-codes.ts'
import type { CommonOptions, Session, Streams } from '#cli/session/session.ts'

const EPILOGUE = `Address and API key: --url and --key, otherwise VERDICT_URL and VERDICT_KEY, or the path of a key file in
VERDICT_KEY_FILE. Actor: --actor, otherwise VERDICT_ACTOR. Output is a table on a terminal and JSON in a pipe; --output or VERDICT_OUTPUT selects a form.

Exit codes: 0: done, or the result is yes. 1: the result is no: access denied, a test failed, or a plan was
not applied. 2: the command or a file is not valid. 3: the service is unreachable, rejected the request, or sent
a response that is not from Verdict. 4: a defect of Verdict.`

/** Maximum width of the help text, in columns. */
const HELP_WIDTH_MAX = 110

export async function runCommandLine(args: readonly string[], streams: Streams): Promise<ExitCode> {
  let session: Session | null = null
  const run: Run = action => async options => {
    // The module is loaded only when a command runs, because the help does not need it.
    const { Session } = await import('#cli/session/session.ts')
    const opened = await Session.open(streams, options)
    session = opened
    await action(opened, options)
  }
  const print = (text: string) => streams.stdout.write(`${text}\n`)
  try {
    const words = args[0] === COMPLETION_FLAG ? args.slice(1) : null
    const parsed = words === null ? args : completionArguments(words)
    const parser = await parserOf(parsed, run)
    // With this callback, the text of the help goes to the given streams. Without it, the parser would print
    // the text itself.
    await parser.parseAsync([...parsed], {}, (_error: unknown, _options: unknown, text: string) => {
      const lines = words === null ? [text] : completionLines(text, words)
      for (const line of lines) if (line !== '') print(line)
    })
    return exitCodeOf(session)
  } catch (error) {
    // The program that reads the output has closed it.
    if (error instanceof Error && 'code' in error && error.code === 'EPIPE') return EXIT.usage
    if (!isExpected(error)) {
      streams.stderr.write(defectMessage(error))
      return EXIT.defect
    }
    streams.stderr.write(`verdict: ${await messageOf(error, args, run)}\n`)
    return error instanceof ApiError ? EXIT.service : EXIT.usage
  }
}

/** Creates a parser for the commands that these arguments can refer to. */
async function parserOf(args: readonly string[], run: Run): Promise<Argv<CommonOptions>> {
  let parser: Argv<CommonOptions> = yargs([...args])
    .scriptName('verdict')
    .usage('$0 <command>\n\nQueries, fills and manages a Verdict service.')
    .option('url', {
      type: 'string',
      describe: 'address of the service',
      defaultDescription: 'http://127.0.0.1:7766',
    })
    .option('key', { type: 'string', describe: 'API key' })
    .option('project', {
      type: 'string',
      // The description contains the default. With `defaultDescription`, the default would also appear in the
      // help of commands that have an argument `project`.
      describe: 'project, by key or id; default: the project of the API key',
    })
    .option('env', {
      type: 'string',
      describe: 'environment, by key or id; default: the environment of the API key',
    })
    .option('actor', { type: 'string', describe: 'name that the audit log records as the actor' })
    .option('actor-for', {
      type: 'string',
      describe: 'names for whom the actor acts, the nearest first, separated by commas',
    })
    .option('output', { alias: 'o', choices: ['auto', 'table', 'json'], describe: 'format of results' })
    .strict()
    // The parser must not use the language of the terminal, because `usage-hints.ts` parses its messages and
    // all other texts are English.
    .locale('en')
    // Groups of short options are disabled. Otherwise the parser would read `--for -8h` as the options `8`
    // and `h`. It would print the help, and the exit code would look like that of a successful grant.
    .parserConfiguration({ 'dot-notation': false, 'short-option-groups': false })
    .check(options => {
      // An option must not be repeated. Only the list of files can have several values.
      const repeated = Object.keys(options).find(
        // The keys of `options` also include the aliases of an option.
        name => name.length > 1 && name !== 'files' && Array.isArray(options[name]),
      )
      if (repeated !== undefined) throw new UsageError(`--${repeated}: given more than once`)
      return true
    })
    .demandCommand(1, 'a command is required; see verdict --help')
    .version(VERSION)
    .help()
    .alias('h', 'help')
    // The width is limited only if the help is requested. The parser prepares the help of each command even
    // if it is not shown, and breaking its lines takes a quarter of the time.
    .wrap(args.length > 1 && isAskedForHelp(args) ? HELP_WIDTH_MAX : null)
    .epilogue(EPILOGUE)
    .exitProcess(false)
    .fail((message: string | null, error: Error | undefined) => {
      throw error ?? new ParserError(message ?? 'the command is not valid; see verdict --help')
    })
  for (const listing of COMMANDS) {
    const [name = ''] = listing.usage.split(' ', 1)
    // The name could also be the value of an option. In that case, the command is loaded although it is not
    // needed.
    parser = args.includes(name)
      ? (await listing.load())(listing, parser, run)
      : parser.command(listing.usage, listing.description)
  }
  return parser
}

/** An error that the parser reports. */
class ParserError extends UsageError {}

async function messageOf(error: Error, args: readonly string[], run: Run): Promise<string> {
  if (!(error instanceof ParserError)) return 'syscall' in error ? fileMessage(error) : error.message
  const { usageMessage } = await import('./usage-hints.ts')
  const isCommand = (word: string) => COMMANDS.some(({ usage }) => usage.split(' ', 1)[0] === word)
  const words = args.filter(word => !word.startsWith('-'))
  const called = words.slice(Math.max(0, words.findIndex(isCommand))).slice(0, 2)
  let help = ''
  const asked = [...called, '--help']
  await (
    await parserOf(asked, run)
  ).parseAsync(asked, {}, (_error: unknown, _options: unknown, text: string) => {
    help = text
  })
  return usageMessage(error.message, args, help)
}

function isAskedForHelp(args: readonly string[]): boolean {
  return args.some(arg => arg === '--help' || arg === '-h')
}

function exitCodeOf(session: Session | null): ExitCode {
  return session?.exitCode ?? EXIT.yes
}

/** Whether the error is an expected one and not a defect of Verdict. */
function isExpected(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const kinds = [ApiError, UsageError, ModelFileError]
  // Errors of system calls contain the name of the call. Examples are a missing file and a full disk.
  return kinds.some(kind => error instanceof kind) || ('syscall' in error && 'code' in error)
}
