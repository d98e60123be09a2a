/**
 * Imports an environment with many facts over HTTP into the embedded store, and exports it again. Measures
 * the duration of both, and the latency of decisions and writes in the same service during this time. Also
 * measures the bytes per fact in the closed store. Verifies that the export equals the import. Other
 * checkouts alternate with this one, so that a ratio is based on one run.
 *
 *     npm run bench -- import [FACTS] [CHECKOUT…]
 *
 * Each checkout needs its own `node_modules`. `IMPORT_ROUNDS` is the number of imports and exports per
 * checkout. If there are other checkouts, the first round warms up.
 */
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { pathToFileURL } from 'node:url'
import { ServerProcess } from '../http/server-process.ts'
import { atLeast, atMost, type Figure, median, percentile, publish, round } from '../lib/measure.ts'
import { bytesOnDisk, type StoredBytes } from '../lib/stored-bytes.ts'

const args = process.argv.slice(2)
const facts = /^\d/.test(args[0] ?? '') ? Number(args.shift()) : 1_000_000
const checkouts = ['.', ...args]
const ROUNDS = Number(process.env['IMPORT_ROUNDS'] ?? (checkouts.length > 1 ? 4 : 1))
/** Target for the speed of this checkout, as a multiple of that of the first other checkout. */
const BAR = 2
const API_KEY = 'import-key-import-key'
const ADMIN_API_KEY = 'import-admin-import-admin'
const ALL_CORES = '0,1'
/** Target for a million facts, in seconds. */
const SECONDS_MAX = 60
/** Numbers of users, folders and documents. All other facts are assignments and tuples. */
const [USERS, FOLDERS] = [Math.ceil(facts * 0.05), Math.ceil(facts * 0.02)]
const DOCUMENTS = Math.ceil(facts * 0.3)
const TUPLES = DOCUMENTS
const ASSIGNMENTS = facts - USERS - FOLDERS - DOCUMENTS - TUPLES

function* lines(): Iterable<object> {
  const viewer = { name: 'Viewer', permissions: ['read'] }
  const derived = [{ role: 'viewer', on_resource: 'folder', linked_by_relation: 'parent' }]
  yield { kind: 'environment', format: 1 }
  yield { kind: 'resource', key: 'folder', name: 'Folder', actions: { read: {} }, roles: { viewer } }
  yield {
    kind: 'resource',
    key: 'document',
    name: 'Document',
    actions: { read: {} },
    relations: { parent: 'folder' },
    roles: { viewer: { ...viewer, granted_to: { users_with_role: derived } } },
  }
  yield { kind: 'tenant', key: 'default', name: 'Default' }
  for (let user = 0; user < USERS; user += 1) {
    yield { kind: 'user', key: `user-${user}`, email: `user-${user}@example.com`, attributes: { n: user } }
  }
  for (let folder = 0; folder < FOLDERS; folder += 1) {
    yield { kind: 'instance', resource: 'folder', key: `folder-${folder}`, tenant: 'default' }
  }
  for (let document = 0; document < DOCUMENTS; document += 1) {
    yield { kind: 'instance', resource: 'document', key: `document-${document}`, tenant: 'default' }
  }
  for (let document = 0; document < TUPLES; document += 1) {
    const subject = `folder:folder-${(document * 7_919) % FOLDERS}`
    yield { kind: 'tuple', subject, relation: 'parent', object: `document:document-${document}` }
  }
  for (let index = 0; index < ASSIGNMENTS; index += 1) {
    const [user, document] = [index % USERS, (index * 104_729 + Math.floor(index / USERS)) % DOCUMENTS]
    yield {
      kind: 'assignment',
      user: `user-${user}`,
      role: 'viewer',
      resource_instance: `document:document-${document}`,
    }
  }
}

async function writeFile(file: string): Promise<number> {
  const output = createWriteStream(file)
  let count = 0
  let text = ''
  for (const line of lines()) {
    text += `${JSON.stringify(line)}\n`
    count += 1
    if (text.length < 1_000_000) continue
    if (!output.write(text)) await once(output, 'drain')
    text = ''
  }
  output.end(`${text}${JSON.stringify({ kind: 'end', lines: count })}\n`)
  await once(output, 'finish')
  return count
}

/** Repeats a request until `stop` aborts. Returns the duration of each request in milliseconds. */
async function watch(ask: () => Promise<Response>, stop: AbortSignal): Promise<number[]> {
  const took: number[] = []
  while (!stop.aborted) {
    const from = performance.now()
    const answer = await ask()
    await answer.text()
    if (answer.status >= 300 && answer.status !== 409)
      throw new Error(`a request beside the import: ${answer.status}`)
    took.push(performance.now() - from)
    await sleep(20)
  }
  return took
}

/**
 * Converts an exported line to the form of the imported line, by removing the fields that every import adds.
 */
function asImported(line: Record<string, unknown>): object {
  const { created_at: _created, updated_at: _updated, ...told } = line
  const isSaid = (name: string, value: unknown): boolean => {
    if (value === null || value === false) return false
    if (name === 'tenant') return told['kind'] === 'instance'
    return name !== 'attributes' || isFilled(value)
  }
  return Object.fromEntries(Object.entries(told).filter(([name, value]) => isSaid(name, value)))
}

function isFilled(value: unknown): boolean {
  return Object.keys(value as object).length > 0
}

/** The service of one checkout, with its measured values. */
class Subject {
  readonly importSeconds: number[] = []
  readonly exportSeconds: number[] = []
  readonly decisionMs: number[] = []
  readonly writeMs: number[] = []
  readonly name: string
  readonly #server: ServerProcess
  readonly #directory: string
  exportBytes = 0
  #users = 0

  static async start(checkout: string): Promise<Subject> {
    const directory = mkdtempSync(join(tmpdir(), 'verdict-import-'))
    const script = new URL('src/start.js', `${pathToFileURL(resolve(checkout)).href}/`)
    const STORE_URL = `lmdb:${join(directory, 'data')}`
    const env = {
      API_KEY,
      ADMIN_API_KEY,
      PORT: '0',
      HTTP_THREADS: '1',
      POOL_THREADS: '1',
      LOG_LEVEL: 'warn',
      STORE_URL,
    }
    return new Subject(checkout, await ServerProcess.start(script, { env, cores: ALL_CORES }), directory)
  }

  private constructor(name: string, server: ServerProcess, directory: string) {
    this.name = name
    this.#server = server
    this.#directory = directory
  }

  async round(file: string, nth: number): Promise<void> {
    const env = `big-${nth}`
    await this.#told('POST', '/v2/projects/default/envs', ADMIN_API_KEY, { key: env, name: env })
    await this.#import(file, env)
    await this.#export(env)
    if (nth === 0) await this.#verify(env)
    if (nth < ROUNDS - 1) await this.#told('DELETE', `/v2/projects/default/envs/${env}`, ADMIN_API_KEY)
  }

  /** Size of the closed store. It contains the environment of the last round. */
  async stored(): Promise<StoredBytes> {
    await this.#server.stop()
    return bytesOnDisk(join(this.#directory, 'data'))
  }

  async #import(file: string, env: string): Promise<void> {
    const stop = new AbortController()
    const question = { user: { key: 'nobody' }, action: 'read', resource: { type: 'document', key: 'd' } }
    const user = () => ({ key: `user-${this.#users++}` })
    const beside = [
      watch(() => this.#send('POST', '/allowed', API_KEY, question), stop.signal),
      watch(() => this.#send('POST', '/v2/facts/default/default/users', API_KEY, user()), stop.signal),
    ]
    const from = performance.now()
    const response = await fetch(`${this.#server.address}/v2/projects/default/envs/${env}/import`, {
      method: 'POST',
      headers: { authorization: `Bearer ${ADMIN_API_KEY}`, 'content-type': 'application/x-ndjson' },
      body: createReadStream(file, { highWaterMark: 262_144 }) as unknown as ReadableStream,
      duplex: 'half',
    } as RequestInit)
    const told = await response.text()
    if (response.status !== 200) throw new Error(`${this.name}: the import was refused: ${told}`)
    this.importSeconds.push((performance.now() - from) / 1_000)
    stop.abort()
    const [decisionMs, writeMs] = await Promise.all(beside)
    this.decisionMs.push(...decisionMs!)
    this.writeMs.push(...writeMs!)
  }

  async #export(env: string): Promise<void> {
    const from = performance.now()
    let bytes = 0
    for await (const piece of await this.#exported(env)) bytes += (piece as Uint8Array).length
    this.exportSeconds.push((performance.now() - from) / 1_000)
    this.exportBytes = bytes
  }

  /** Throws unless the export equals the import, line by line. */
  async #verify(env: string): Promise<void> {
    const expected = lines()[Symbol.iterator]()
    let number = 0
    let last: Record<string, unknown> = {}
    for await (const text of createInterface({ input: await this.#exported(env) })) {
      last = JSON.parse(text) as Record<string, unknown>
      const { value, done } = expected.next() as IteratorResult<{ readonly kind: string }, undefined>
      if (done) break
      number += 1
      // The export of the schema has more fields than the import, so only the imported fields are compared.
      const isSame =
        value.kind === 'resource'
          ? last['key'] === (value as never)['key']
          : isDeepStrictEqual(asImported(last), value)
      if (!isSame) throw new Error(`${this.name}: line ${number} came out as ${text}`)
    }
    if (last['kind'] !== 'end' || last['lines'] !== number)
      throw new Error(`${this.name}: ${number} lines, and no end`)
  }

  async #exported(env: string): Promise<Readable> {
    const response = await this.#send('GET', `/v2/projects/default/envs/${env}/export`, ADMIN_API_KEY)
    if (response.status !== 200) throw new Error(`${this.name}: the export was refused`)
    return Readable.fromWeb(response.body as never)
  }

  async stop(): Promise<void> {
    await this.#server.stop()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  async #told(method: string, path: string, key: string, body?: unknown): Promise<void> {
    const response = await this.#send(method, path, key, body)
    const text = await response.text()
    if (response.status >= 300) throw new Error(`${this.name}: ${method} ${path}: ${text}`)
  }

  #send(method: string, path: string, key: string, body?: unknown): Promise<Response> {
    const headers = { authorization: `Bearer ${key}` }
    const text = body === undefined ? null : JSON.stringify(body)
    return fetch(this.#server.address + path, { method, headers, body: text })
  }
}

function figuresOf(own: Subject, others: readonly Subject[]): Figure[] {
  const secondsMax = (SECONDS_MAX * facts) / 1_000_000
  const [base] = others
  const figures = [
    atMost(`import of ${facts} facts`, median(measured(own.importSeconds)), secondsMax, 's'),
    atMost('export of them', median(measured(own.exportSeconds)), secondsMax, 's'),
    atMost('p99 of a decision meanwhile', percentile(own.decisionMs, 0.99), 100, 'ms'),
    atMost('p99 of a write meanwhile', percentile(own.writeMs, 0.99), 1_000, 'ms'),
  ]
  if (!base) return figures
  const against = (what: 'importSeconds' | 'exportSeconds') =>
    median(measured(base[what].map((seconds, nth) => seconds / own[what][nth]!)))
  return [
    ...figures,
    atLeast(`import: rate against ${base.name}`, against('importSeconds'), BAR, '×'),
    atLeast(`export: rate against ${base.name}`, against('exportSeconds'), BAR, '×'),
  ]
}

/** Removes the values of the first round, which warms up. */
function measured(seconds: readonly number[]): readonly number[] {
  return seconds.length > 1 ? seconds.slice(1) : seconds
}

const directory = mkdtempSync(join(tmpdir(), 'verdict-import-'))
const file = join(directory, 'content.ndjson')
const subjects: Subject[] = []
try {
  await writeFile(file)
  for (const checkout of checkouts) subjects.push(await Subject.start(checkout))
  for (let nth = 0; nth < ROUNDS; nth += 1) {
    for (const subject of nth % 2 === 0 ? subjects : subjects.toReversed()) await subject.round(file, nth)
  }
  const [own, ...others] = subjects
  const stored: StoredBytes[] = []
  for (const subject of subjects) stored.push(await subject.stored())
  const told = subjects.map((subject, index) => {
    const { name, importSeconds, exportSeconds, exportBytes, decisionMs, writeMs } = subject
    return {
      name,
      keptBytesAFact: round(stored[index]!.inUse / facts),
      tableBytesAFact: Object.fromEntries(
        Object.entries(stored[index]!.tables).map(([table, bytes]) => [table, round(bytes / facts)]),
      ),
      importSeconds,
      exportSeconds,
      exportBytes,
      decisionMs: {
        p50: percentile(decisionMs, 0.5),
        max: Math.max(...decisionMs),
        count: decisionMs.length,
      },
      writeMs: { p50: percentile(writeMs, 0.5), max: Math.max(...writeMs), count: writeMs.length },
    }
  })
  for (const each of told) process.stdout.write(`${JSON.stringify(each)}\n`)
  const figures = figuresOf(own!, others)
  const [ownBytes, baseBytes] = stored
  if (baseBytes)
    figures.push(
      atMost(`bytes kept a fact against ${others[0]!.name}`, ownBytes!.inUse / baseBytes.inUse, 1, '×'),
    )
  publish('import', figures, { facts, fileBytes: statSync(file).size, told })
} finally {
  for (const subject of subjects) await subject.stop()
  rmSync(directory, { recursive: true, force: true })
}
