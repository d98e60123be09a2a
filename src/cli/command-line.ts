/**
 * The command line as a function: from arguments to output and an exit code (`exit-codes.ts`). Each command is a file in
 * `commands`; what they share are the options here.
 */
import yargs, { type Argv } from 'yargs'
import { VERSION } from '#model/version.ts'
import type { Run } from './command.ts'
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
} from './exit-codes.ts'
import type { CommonOptions, Session, Streams } from './session.ts'

const EPILOGUE = `Where and as whom: --url and --key, else VERDICT_URL and VERDICT_KEY, or VERDICT_KEY_FILE, a file that
holds the key. Output is a table on a terminal and JSON in a pipe; --output or VERDICT_OUTPUT says otherwise.

Exit codes: 0 done, or the answer is yes; 1 the answer is no: denied, a test failed, a plan not carried
out; 2 the command or a file is wrong; 3 the service could not be reached, refused, or did not answer as one;
4 a defect of Verdict.`

/** Columns of help on a wider terminal. */
const HELP_WIDTH_MAX = 110

export async function runCommandLine(args: readonly string[], streams: Streams): Promise<ExitCode> {
  let session: Session | null = null
  const run: Run = action => async options => {
    // Not needed by help.
    const { Session } = await import('./session.ts')
    const opened = await Session.open(streams, options)
    session = opened
    await action(opened, options)
  }
  const print = (text: string) => streams.stdout.write(`${text}\n`)
  try {
    const words = args[0] === COMPLETION_FLAG ? args.slice(1) : null
    const parsed = words === null ? args : completionArguments(words)
    const parser = await parserOf(parsed, run)
    // Without the callback help would be printed past the given streams.
    await parser.parseAsync([...parsed], {}, (_error: unknown, _options: unknown, text: string) => {
      const lines = words === null ? [text] : completionLines(text, words)
      for (const line of lines) if (line !== '') print(line)
    })
    return exitCodeOf(session)
  } catch (error) {
    // The reader of the output has closed it.
    if (error instanceof Error && 'code' in error && error.code === 'EPIPE') return EXIT.usage
    if (!isExpected(error)) {
      streams.stderr.write(defectMessage(error))
      return EXIT.defect
    }
    streams.stderr.write(`verdict: ${await messageOf(error, args, run)}\n`)
    return error instanceof ApiError ? EXIT.service : EXIT.usage
  }
}

/** The parser of all commands, with what these arguments may need of them. */
async function parserOf(args: readonly string[], run: Run): Promise<Argv<CommonOptions>> {
  let parser: Argv<CommonOptions> = yargs([...args])
    .scriptName('verdict')
    .usage('$0 <command>\n\nAsks, fills and looks after a Verdict service.')
    .option('url', {
      type: 'string',
      describe: 'address of the service',
      defaultDescription: 'http://127.0.0.1:7766',
    })
    .option('key', { type: 'string', describe: 'API key' })
    .option('project', {
      type: 'string',
      describe: 'project, by key or id',
      defaultDescription: "the key's",
    })
    .option('env', {
      type: 'string',
      describe: 'environment, by key or id',
      defaultDescription: "the key's",
    })
    .option('output', { alias: 'o', choices: ['auto', 'table', 'json'], describe: 'form of results' })
    .strict()
    // Not in that of the terminal: the messages are read by `usage-hints.ts`, and all others are English.
    .locale('en')
    // Without groups: of --for -8h the parser would make the options 8 and h, which is help, and exits as a grant does.
    .parserConfiguration({ 'dot-notation': false, 'short-option-groups': false })
    .check(options => {
      // No option may be given several times; only the list of files may.
      const repeated = Object.keys(options).find(
        // An alias of the option is in the list as well.
        name => name.length > 1 && name !== 'files' && Array.isArray(options[name]),
      )
      if (repeated !== undefined)
        throw new UsageError(`--${repeated}: expected it once, it stands there several times`)
      return true
    })
    .demandCommand(1, 'say what to do: see verdict --help')
    .version(VERSION)
    .help()
    .alias('h', 'help')
    // To break lines takes a quarter of the time in which help is there. It is made before each command, in case it is needed.
    .wrap(args.length > 1 && isAskedForHelp(args) ? HELP_WIDTH_MAX : null)
    .epilogue(EPILOGUE)
    .exitProcess(false)
    .fail((message: string | null, error: Error | undefined) => {
      throw error ?? new ParserError(message ?? 'this command means nothing')
    })
  for (const listing of COMMANDS) {
    const [name = ''] = listing.usage.split(' ', 1)
    // The words may be values of options: then one more command is loaded than is called.
    parser = args.includes(name)
      ? (await listing.load())(listing, parser, run)
      : parser.command(listing.usage, listing.description)
  }
  return parser
}

/** What the parser says of the command. */
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

/** Whether the error is no defect of ours. */
function isExpected(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  const kinds = [ApiError, UsageError, ModelFileError]
  // An error of a system call, for a file that does not exist or a full disk, names the call.
  return kinds.some(kind => error instanceof kind) || ('syscall' in error && 'code' in error)
}
