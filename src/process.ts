/**
 * Runs the service process: reads the settings, starts the service, prints a greeting, and ends the process
 * in a defined way. After SIGTERM, SIGINT, SIGHUP or SIGQUIT, it completes all requests and exits with 0.
 * After a fault, it logs the fault and exits with 1. If an exit would block forever, the process ends itself
 * with SIGKILL (`composition/process/shutdown.ts`). No module imports this file.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { format } from 'node:util'
import { endProcess } from '#composition/process/shutdown.ts'
import { type RunningService, startService } from '#composition/wiring/service.ts'
import { type Config, STORE_URL_DEFAULT } from '#config/settings.ts'
import { readConfig } from '#config/read-config.ts'
import { settingsHelp } from '#config/settings-help.ts'
import { limitHeaderBytes } from '#http/edge/header-ceiling.ts'
import { SAMPLE_CHANGE, SAMPLE_QUESTION } from '#management/environment/sample-workspace.ts'
import { AuthzError } from '#model/errors.ts'
import { VERSION } from '#model/version.ts'
import { requireStoreUrl } from '#store/open/open-store.ts'
import { createLog } from '#telemetry/log.ts'

/**
 * Maximum time of a shutdown in milliseconds. After this time, the shutdown is forced, before the 10 s of the
 * supervisor have passed.
 */
const STOP_MS_MAX = 9_000
/**
 * Time in milliseconds that a forced shutdown waits for threads, and then for writes. It uses the rest of the
 * 10 s of the supervisor.
 */
const OVERDUE_PATIENCE_MS = 400
/**
 * Maximum time in milliseconds that a shutdown waits for a start to complete. No client uses the service yet,
 * and a start that waits for its store might never complete.
 */
const START_MS_MAX = 2_000

/** Maximum width of the help text in columns, even if the terminal is wider. */
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

/**
 * Reports why the process cannot start and ends it, before any work has begun. On a terminal, the message is
 * a sentence. Otherwise it is a log line.
 */
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
// Some libraries write to the console, for example lmdb if the disk is full. These messages are converted to
// log lines, because all lines of this thread on standard error are JSON.
Object.assign(console, {
  error: (...parts: unknown[]) => log.error(format(...parts)),
  warn: (...parts: unknown[]) => log.warn(format(...parts)),
})
// A write can fail because the terminal was closed or the disk is full. This must not end the process.
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
// The handlers are installed before the first line is printed, because a program that reads this line can
// stop the service immediately.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const) process.on(signal, stop)
const running = await starting.catch(failStarting)
isReady = true
greet(running)

/**
 * Reports why the service could not start. On a terminal, an error that states what to do is printed as a
 * sentence. A defect is always logged with its stack.
 */
function failStarting(error: unknown): Promise<never> {
  const message = `cannot start: ${error instanceof Error ? error.message : String(error)}`
  if (!(error instanceof AuthzError)) return failRunning(message, error)
  if (!process.stderr.isTTY) return failRunning(message)
  process.stderr.write(`verdict: ${message}\n`)
  return end(1)
}

/**
 * Ends the process after a fault. The reason is logged first, so that it is not lost if the shutdown fails.
 */
function failRunning(message: string, error?: unknown): Promise<never> {
  log.fatal({ err: error }, message)
  return end(1)
}

function failStopping(): Promise<never> {
  log.fatal(`not stopped within ${STOP_MS_MAX} ms`)
  return end(1, { patienceMs: OVERDUE_PATIENCE_MS })
}

/** Ends the process. If it is called several times, the first call determines the exit code. */
function end(code: 0 | 1, options: { readonly patienceMs?: number } = {}): Promise<never> {
  ending ??= endProcess(code, { log, letGo: withinMs => abandonThreads(withinMs), ...options })
  return ending
}

/**
 * Stops the service after a signal. If the service is still starting, the function waits until the start is
 * complete, because closing a partially started service would be like a crash. If the start takes longer than
 * `START_MS_MAX`, the process ends as if it had been killed. No data is lost in this case.
 *
 * Further signals have no effect. They occur because a terminal, or a supervisor that signals the process
 * group, also signals npm, and npm forwards the signal.
 */
async function stop(signal: NodeJS.Signals): Promise<void> {
  if (isStopping) return
  isStopping = true
  // The delay is needed only after the service was ready. Before that, no load balancer has routed clients to
  // it.
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

/**
 * Prints a greeting to standard output, for the person at the terminal. The log is written to standard error.
 */
function greet({ address, generatedApiKey, hasSampleWorkspace }: RunningService): void {
  const lines = [`Verdict ${VERSION} listens on ${address}`]
  // With sign-in, the console works only at the public address.
  lines.push(`Console: ${config.publicUrl?.replace(/\/$/, '') ?? address}/console`)
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
