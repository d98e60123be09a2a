/**
 * Load test of a running service, with autocannon:
 *
 *     npm run load -- --url http://127.0.0.1:7766 --key KEY \
 *       [--duration 10] [--connections 32] [--modes single,bulk]
 *
 * The test creates its own model and verifies each request once. Then it sends requests in each mode and
 * verifies every response. At the end, it removes the model. Exit code 1 means that a response was wrong,
 * missing or an error. Exit code 2 means that the options are invalid.
 */
import { parseArgs } from 'node:util'
import { secretText } from '#config/secret-text.ts'
import { drive, verify } from './drive.ts'
import { LoadModel } from './load-model.ts'
import { type Mode, MODES } from './modes.ts'
import { reportText, wrongText } from './report.ts'

const USAGE = `npm run load -- --url URL --key KEY

  --url          address of the service (VERDICT_URL, else http://127.0.0.1:7766)
  --key          API key (VERDICT_KEY, or VERDICT_KEY_FILE); of an organization or a project: in an environment of its own
  --modes        ${MODES.map(({ name }) => name).join(',')} (all)
  --duration     seconds of each mode, 1 to 3600 (10)
  --amount       requests of each mode, in place of seconds
  --connections  1 to 1000 (32)
`

class UsageError extends Error {}

function readOptions() {
  const { values } = parseArgs({
    options: {
      url: { type: 'string', default: process.env['VERDICT_URL'] ?? 'http://127.0.0.1:7766' },
      key: { type: 'string' },
      modes: { type: 'string', default: MODES.map(({ name }) => name).join(',') },
      duration: { type: 'string', default: '10' },
      amount: { type: 'string' },
      connections: { type: 'string', default: '32' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return null
  const key = values.key ?? secretText('VERDICT_KEY', process.env)
  if (!key) throw new UsageError('say with --key, VERDICT_KEY or VERDICT_KEY_FILE as whom')
  if (!/^https?:$/.test(URL.parse(values.url)?.protocol ?? ''))
    throw new UsageError(`--url: ${JSON.stringify(values.url)} is not an http or https URL`)
  const connections = wholeNumber('connections', values.connections, 1_000)
  const amount = values.amount === undefined ? null : wholeNumber('amount', values.amount, 1_000_000_000)
  if (amount !== null && amount < connections)
    throw new UsageError(`--amount: expected at least one for each of ${connections} connections`)
  return {
    address: values.url.replace(/\/+$/, ''),
    key,
    modes: values.modes.split(',').map(modeOf),
    seconds: wholeNumber('duration', values.duration, 3_600),
    amount,
    connections,
  }
}

function wholeNumber(name: string, text: string, max: number): number {
  const number = Number(text)
  if (!/^\d+$/.test(text) || number < 1 || number > max)
    throw new UsageError(`--${name}: expected an integer from 1 to ${max}, got ${JSON.stringify(text)}`)
  return number
}

function modeOf(name: string): Mode {
  const mode = MODES.find(each => each.name === name)
  if (!mode)
    throw new UsageError(`--modes: expected some of ${MODES.map(each => each.name).join(', ')}, got ${name}`)
  return mode
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

async function run(options: NonNullable<ReturnType<typeof readOptions>>): Promise<void> {
  const { address, key, modes } = options
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort())
  const model = await LoadModel.load(address, key)
  say(`${address}: a model of its own, ${model.name}`)
  try {
    for (const mode of modes) {
      if (stop.signal.aborted) break
      say(`\n## ${mode.title}`)
      const wrong = wrongText(await verify(mode, model), 'before the load')
      process.stdout.write(wrong)
      if (wrong !== '') process.exitCode = 1
      if (wrong !== '' || stop.signal.aborted) break
      const driven = await drive(mode, model, options, stop.signal)
      process.stdout.write(reportText(mode, driven))
      // Responses with an error status are included in the number of wrong responses.
      if (driven.wrong.count + driven.result.errors > 0) process.exitCode = 1
    }
  } finally {
    await model.remove()
    say('\nthe model is removed')
  }
  if (stop.signal.aborted) process.exitCode = 1
}

try {
  const options = readOptions()
  if (options === null) process.stdout.write(USAGE)
  else await run(options)
} catch (error) {
  const isUsage =
    error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
  process.stderr.write(`load: ${(error as Error).message}\n${isUsage ? `\n${USAGE}` : ''}`)
  process.exitCode = isUsage ? 2 : 1
}
