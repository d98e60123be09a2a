/**
 * Runs the service process: reads the settings, starts the service, greets the operator, and ends with a
 * defined result. The exit code is 0 after SIGTERM, SIGINT, SIGHUP or SIGQUIT when all requests are
 * completed, and 1 after a fault, which is logged. If an exit would block forever, the process ends by
 * SIGKILL (`composition/process-end.ts`). No module imports this file.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { format } from 'node:util'
import { endProcess } from '#composition/process-end.ts'
import { type RunningService, startService } from '#composition/service.ts'
import { type Config, STORE_URL_DEFAULT } from '#config/config.ts'
import { readConfig } from '#config/read-config.ts'
import { settingsHelp } from '#config/settings-help.ts'
import { limitHeaderBytes } from '#http/edge/header-ceiling.ts'
import { SAMPLE_CHANGE, SAMPLE_QUESTION } from '#management/environment/sample-workspace.ts'
import { AuthzError } from '#model/errors.ts'
import { VERSION } from '#model/version.ts'
import { requireStoreUrl } from '#store/open-store.ts'
import { createLog } from '#telemetry/log.ts'

/** A shutdown that takes longer is forced, before the 10 s of the supervisor have passed. */
const STOP_MS_MAX = 9_000
/** Remaining time of the supervisor's 10 s for threads, and then for writes. */
const OVERDUE_PATIENCE_MS = 400
/**
 * How long a shutdown waits for a start. No client depends on the service yet, and a start that waits for its
 * store might never complete.
 */
const START_MS_MAX = 2_000

/** Maximum number of columns of the help text, on a terminal that has more. */
const HELP_WIDTH_MAX = 100

function helpOrRefuseArguments(): void {
  // The first argument can be the command `serve` (`src/verdict.js`).
  const words = process.argv.slice(process.argv[2] === 'serve' ? 3 : 2)
  if (words.length === 0) return
  if (words.some(word => word === '--help' || word === '-h')) {
    process.stdout.write(settingsHelp(Math.min(process.stdout.columns ?? HELP_WIDTH_MAX, HELP_WIDTH_MAX)))
    process.exit(0)
  }
  refuseStart(`unknown argument ${words[0]}: settings are environment variables, see --help`)
}

/** Rejects a start before any work has begun. Prints a sentence on a terminal, and a log line otherwise. */
function refuseStart(message: string): never {
  if (process.stderr.isTTY) process.stderr.write(message.replaceAll(/^/gm, 'verdict: ') + '\n')
  else createLog('info').fatal(message)
  process.exit(1)
}

function readConfigOrRefuse(onWarning: (message: string) => void): Config {
  const requireStore = (config: Config): void => requireStoreUrl(config.storeUrl ?? STORE_URL_DEFAULT, config)
  try {
    return readConfig(process.env, { onWarning, requireStore })
  } catch (error) {
    return refuseStart((error as Error).message)
  }
}

helpOrRefuseArguments()
const warnings: string[] = []
const config = readConfigOrRefuse(message => warnings.push(message))
limitHeaderBytes(config.headerBytesMax)
const log = createLog(config.logLevel)
for (const message of warnings) log.warn(message)
// Libraries write to the console, for example lmdb on a full disk. The lines of this thread on standard error
// are JSON.
Object.assign(console, {
  error: (...parts: unknown[]) => log.error(format(...parts)),
  warn: (...parts: unknown[]) => log.warn(format(...parts)),
})
// If the terminal was closed or the disk is full, that must not end the process.
process.stdout.on('error', () => {})
let abandonThreads: (withinMs: number) => Promise<boolean> = () => Promise.resolve(true)
let ending: Promise<never> | null = null
let isReady = false
let isStopping = false
process.on('uncaughtException', error => failRunning('uncaught exception', error))
process.on('unhandledRejection', error => failRunning('unhandled promise rejection', error))

const starting = startService(config, log, {
  onDeath: error => failRunning('the service cannot continue', error),
  onThreads: abandon => (abandonThreads = abandon),
})
// Installed before the first line is printed, because its reader can stop the service immediately.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, stop)
const running = await starting.catch(failStarting)
isReady = true
greet(running)

/**
 * An error that states what to do is printed as a sentence on a terminal. A defect is always logged with its
 * stack.
 */
function failStarting(error: unknown): Promise<never> {
  const message = `cannot start: ${error instanceof Error ? error.message : String(error)}`
  if (!(error instanceof AuthzError)) return failRunning(message, error)
  if (!process.stderr.isTTY) return failRunning(message)
  process.stderr.write(`verdict: ${message}\n`)
  return end(1)
}

/** Logs the reason first, so that it is not lost if the shutdown fails. */
function failRunning(message: string, error?: unknown): Promise<never> {
  log.fatal({ err: error }, message)
  return end(1)
}

function failStopping(): Promise<never> {
  log.fatal(`not stopped within ${STOP_MS_MAX} ms`)
  return end(1, { patienceMs: OVERDUE_PATIENCE_MS })
}

/** The first call determines the exit code. */
function end(code: 0 | 1, options: { readonly patienceMs?: number } = {}): Promise<never> {
  ending ??= endProcess(code, { log, letGo: withinMs => abandonThreads(withinMs), ...options })
  return ending
}

/**
 * A shutdown during the start waits until the start completes, because closing a partial service would be
 * another kind of crash. If that takes longer than `START_MS_MAX`, the process ends as if it had been killed,
 * which loses nothing. Further signals have no effect: a terminal, or a supervisor that signals the process
 * group, also signals npm, which forwards the signal.
 */
async function stop(signal: NodeJS.Signals): Promise<void> {
  if (isStopping) return
  isStopping = true
  // Before the service is ready, no client was routed here.
  const delayMs = isReady ? config.stopDelayMs : 0
  log.info({ signal }, 'stopping')
  setTimeout(failStopping, STOP_MS_MAX).unref()
  const service = await Promise.race([starting, sleep(START_MS_MAX, null, { ref: false })])
  if (service === null) {
    log.info('stopped before the start was complete')
    return end(0)
  }
  await service.close(delayMs)
  log.info('stopped')
  await end(0)
}

/** Standard output is for the person at the terminal; the log goes to standard error. */
function greet({ address, generatedApiKey, hasSampleWorkspace }: RunningService): void {
  const lines = [`Verdict ${VERSION} listens on ${address}`]
  lines.push(`Console: ${address}/console`)
  if (generatedApiKey !== null) lines.push(`API key, shown only once: ${generatedApiKey}`)
  if (generatedApiKey !== null && hasSampleWorkspace) {
    lines.push(
      '',
      SAMPLE_QUESTION.about,
      curl(address, generatedApiKey, { method: 'POST', ...SAMPLE_QUESTION }),
    )
    lines.push('', SAMPLE_CHANGE.about, curl(address, generatedApiKey, SAMPLE_CHANGE))
  }
  process.stdout.write(`${lines.join('\n')}\n`)
}

function curl(
  address: string,
  apiKey: string,
  request: { readonly method: string; readonly path: string; readonly body: object },
): string {
  const method = request.method === 'POST' ? '' : ` -X ${request.method}`
  return `  curl -s${method} ${address}${request.path} -H 'Authorization: Bearer ${apiKey}' -d '${JSON.stringify(request.body)}'`
}
