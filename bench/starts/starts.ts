/**
 * Measures the duration of starts, as multiples of the duration of `node -e 0` with the same Node.js. Three
 * kinds of starts alternate with it: the help of the command line, a check against a running service, and a
 * start of the service until it is ready. The service starts on an empty store, on a store with the sample
 * data of a first start, and on a store with 3M facts and an index snapshot.
 *
 *     npm run bench -- starts [rounds] [checkout…]
 *
 * Other checkouts alternate with this one. `BENCH_SCALE=0.1` uses a tenth of the facts, and `BENCH_SCALE=0`
 * uses no facts.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Drive } from '../data/drive.ts'
import { atMost, type Figure, median, publish, round } from '../lib/measure.ts'
import { API_KEY, preparedStore } from '../lib/prepared-store.ts'

const [roundsTold = '15', ...others] = process.argv.slice(2)
const ROUNDS = Number(roundsTold)
const SCALE = Number(process.env['BENCH_SCALE'] ?? 1)
/** Scale at which the dataset has 3M facts. At scale 1, it has 2.9M. */
const SCALE_OF_3M = 1.04
const BARS = { help: 3, check: 5, empty: 8, sample: 8, kept: 20 } as const
type Start = keyof typeof BARS | 'npm'

const NODE = process.execPath
const HERE = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'verdict-starts-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

interface Service {
  readonly address: string
  readonly key: string
  readonly readyMs: number
  stop(): Promise<void>
}

/** The command of `npm start`, from the `package.json` of the checkout. */
function startCommand(checkout: string): string {
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>
  }
  return scripts['start']!
}

async function startService(
  checkout: string,
  command: readonly [string, ...string[]],
  directory: string,
  key: string | null,
): Promise<Service> {
  const env = {
    ...process.env,
    // The search path is the same as that of npm: the Node.js in `node_modules` is first.
    PATH: `${join(checkout, 'node_modules/.bin')}${delimiter}${process.env['PATH']}`,
    PORT: '0',
    HTTP_THREADS: '1',
    STORE_URL: `lmdb:${directory}`,
    LOG_LEVEL: 'warn',
    ...(key !== null && { API_KEY: key }),
  }
  const from = performance.now()
  const child = spawn(command[0], command.slice(1), {
    cwd: checkout,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8')
  while (!/listens on \S+\n/.test(text)) text += (await once(child.stdout, 'data'))[0] as string
  const readyMs = performance.now() - from
  const made = /shown only once: (\S+)/.exec(text)?.[1]
  return {
    address: /listens on (\S+)/.exec(text)![1]!,
    key: key ?? made!,
    readyMs,
    stop: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function isAllowed({ address, key }: Service, question: object): Promise<boolean> {
  const response = await fetch(`${address}/allowed`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify(question),
  })
  return ((await response.json()) as { allow: boolean }).allow
}

/** Runs a command, which must end with the given exit code. Returns its duration in milliseconds. */
function commandMs(args: readonly string[], env: NodeJS.ProcessEnv, code: number): number {
  const from = performance.now()
  const { status, stderr } = spawnSync(NODE, args, { env: { ...process.env, ...env }, encoding: 'utf8' })
  const ms = performance.now() - from
  if (status !== code) throw new Error(`${args.join(' ')} ended with ${status}: ${stderr}`)
  return ms
}

/** One checkout, and the durations of its starts. */
class Subject {
  readonly times = new Map<Start, number[]>()
  readonly checkout: string
  readonly #stores: ReadonlyMap<Start, string>

  constructor(checkout: string, stores: ReadonlyMap<Start, string>) {
    this.checkout = checkout
    this.#stores = stores
  }

  async round(asked: Service): Promise<void> {
    const bin = join(this.checkout, 'bin/verdict.js')
    const env = { VERDICT_URL: asked.address, VERDICT_KEY: asked.key }
    this.#note('help', commandMs([bin, '--help'], {}, 0))
    this.#note('check', commandMs([bin, 'check', 'alice', 'read', 'document:welcome'], env, 0))
    const command = ['sh', '-c', startCommand(this.checkout)] as const
    this.#note('empty', await this.#ready(command, mkdtempSync(join(folder, 'empty-'))))
    this.#note('npm', await this.#ready(['npm', 'start', '--silent'], mkdtempSync(join(folder, 'empty-'))))
    for (const [start, directory] of this.#stores) this.#note(start, await this.#ready(command, directory))
  }

  async #ready(command: readonly [string, ...string[]], directory: string): Promise<number> {
    const service = await startService(this.checkout, command, directory, API_KEY)
    await service.stop()
    return service.readyMs
  }

  #note(start: Start, ms: number): void {
    this.times.set(start, [...(this.times.get(start) ?? []), ms])
  }
}

/** Creates the store of a first start, with the sample data and the created key. Verifies its decisions. */
async function sampleStore(checkout: string): Promise<{ readonly directory: string; readonly key: string }> {
  const directory = mkdtempSync(join(folder, 'sample-'))
  const command = [
    'sh',
    '-c',
    `cd '${directory}' && unset STORE_URL && exec ${NODE} --disable-warning=ExperimentalWarning '${join(checkout, 'src/start.js')}'`,
  ] as const
  const service = await startService(checkout, command, directory, null)
  const question = { user: { key: 'alice' }, action: 'read', resource: { type: 'document', key: 'welcome' } }
  if (!(await isAllowed(service, question))) throw new Error('the sample says something else')
  await service.stop()
  return { directory: join(directory, 'data'), key: service.key }
}

/**
 * Creates the store of a service that has loaded 3M facts and saved its index at shutdown. Each checkout
 * needs its own store, because an index snapshot is valid only for the code that wrote it.
 */
async function keptStore(checkout: string): Promise<string> {
  const url = await preparedStore(new Drive(`W1 starts ${SCALE}`, SCALE * SCALE_OF_3M))
  const directory = join(folder, `kept-${Math.random().toString(36).slice(2)}`)
  cpSync(url.slice('lmdb:'.length), directory, { recursive: true })
  const command = ['sh', '-c', startCommand(checkout)] as const
  for (const isKept of [false, true]) {
    const service = await startService(checkout, command, directory, API_KEY)
    await service.stop()
    if (isKept) process.stdout.write(`${checkout}: ${round(service.readyMs)} ms with the kept index\n`)
  }
  const isThere = execFileSync('find', [directory, '-name', 'index.snapshot'], { encoding: 'utf8' }) !== ''
  if (!isThere) throw new Error('no index was kept')
  return directory
}

const checkouts = [HERE, ...others.map(path => resolve(path))]
const subjects: Subject[] = []
const asked = await sampleStore(HERE)
for (const checkout of checkouts) {
  const stores = new Map<Start, string>([['sample', (await sampleStore(checkout)).directory]])
  if (SCALE > 0) stores.set('kept', await keptStore(checkout))
  if (!existsSync(join(checkout, 'dist/main.js'))) throw new Error(`${checkout} is not built`)
  subjects.push(new Subject(checkout, stores))
}

const service = await startService(HERE, ['sh', '-c', startCommand(HERE)], asked.directory, null)
const told: Service = { ...service, key: asked.key }
const base: number[] = []
for (let n = -1; n < ROUNDS; n += 1) {
  const ms = commandMs(['-e', '0'], {}, 0)
  for (const subject of subjects) await subject.round(told)
  // After the first round, which warms up, all results are dropped.
  if (n === -1) for (const { times } of subjects) times.clear()
  else base.push(ms)
}
await service.stop()

const baseMs = median(base)
const names: Readonly<Record<Start, string>> = {
  help: 'verdict --help',
  check: 'verdict check, of a service that runs',
  empty: 'ready on an empty store',
  sample: 'ready on the store of the sample',
  kept: `ready with ${round(SCALE * 3)}M facts and the kept index`,
  npm: 'ready on an empty store, by npm',
}
const figures: Figure[] = []
for (const [start, times] of subjects[0]!.times) {
  const ratio = median(times) / baseMs
  if (start !== 'npm') figures.push(atMost(names[start], ratio, BARS[start], 'x'))
}
for (const { checkout, times } of subjects) {
  process.stdout.write(`\n${checkout}: node -e 0 takes ${round(baseMs)} ms\n`)
  for (const [start, ms] of times)
    process.stdout.write(
      `${names[start].padEnd(48)} ${round(median(ms))} ms, ${round(median(ms) / baseMs)} x\n`,
    )
}
publish('starts', figures, {
  rounds: ROUNDS,
  nodeMs: base,
  subjects: subjects.map(({ checkout, times }, n) => ({
    name: n === 0 ? 'this checkout' : checkout.split('/').at(-1),
    ms: Object.fromEntries(times),
  })),
})
