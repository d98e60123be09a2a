/**
 * Writes a second over HTTP, each durable before its answer: single ones by 1, 16 and 64 callers, and bulks of 1,000 tuples with as many
 * new instances. Each store has a service of its own. Other checkouts take turns with this one, so that ratios are of one run.
 *
 *     npm run bench -- writes [embedded,memory,redis] [CHECKOUT…]
 *
 * A checkout has its own `node_modules`. What was answered as done is asked about at the end: every assignment allows, and nobody else.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { startRedis } from '#testing/processes/redis-process.ts'
import { ServerProcess } from '../http/server-process.ts'
import { Caller, encode, inTurnsOfCallers } from '../lib/load-generator.ts'
import { atLeast, type Figure, median, publish, round } from '../lib/measure.ts'

const API_KEY = 'bench-key-bench-key'
const FACTS = '/v2/facts/default/default'
const USERS = 1_000
const FOLDERS = 200
const CALLERS = [1, 16, 64] as const
const BULK = 1_000
const BULKS_A_ROUND = 4
const SECONDS = 1.5
/** The first one warms up. */
const ROUNDS = Number(process.env['WRITES_ROUNDS'] ?? 5)
const ALL_CORES = '0,1'

type Kind = 'embedded' | 'memory' | 'redis'
/** What must be reached against the first other checkout. */
const BARS: Readonly<Record<Kind, Readonly<Record<string, number>>>> = {
  embedded: { '1 caller': 2, '16 callers': 4, '64 callers': 5, 'bulks of 1,000': 4 },
  redis: { '16 callers': 3, '64 callers': 3, 'bulks of 1,000': 3 },
  memory: {},
}

/** What a process has used so far. */
interface Used {
  readonly cpuSeconds: number
  readonly diskBytes: number
}

/** A service of one checkout on one store, and what it has been asked to write. */
class Subject {
  readonly rates = new Map<string, number[]>()
  readonly p50s = new Map<string, number[]>()
  readonly cpuMs = new Map<string, number[]>()
  readonly diskKb = new Map<string, number[]>()
  readonly name: string
  readonly #server: ServerProcess
  readonly #directory: string
  #written = 0
  #bulks = 0

  static async start(checkout: string, storeUrl: string | null, directory: string): Promise<Subject> {
    const script = new URL('src/start.js', `${pathToFileURL(resolve(checkout)).href}/`)
    const env = {
      API_KEY,
      PORT: '0',
      LOG_LEVEL: 'warn',
      HTTP_THREADS: '1',
      POOL_THREADS: '1',
      STORE_URL: storeUrl ?? `lmdb:${join(directory, 'data')}`,
      DATA_DIR: join(directory, 'copies'),
    }
    const server = await ServerProcess.start(script, { env, cores: ALL_CORES })
    const subject = new Subject(checkout, server, directory)
    await subject.#arrange()
    return subject
  }

  private constructor(name: string, server: ServerProcess, directory: string) {
    this.name = name
    this.#server = server
    this.#directory = directory
  }

  async singles(callers: number): Promise<void> {
    const before = this.#used()
    const { perSecond, ms } = await inTurnsOfCallers(
      this.#server.address,
      () => post('role_assignments', assignment(this.#written++)),
      { callers, seconds: SECONDS },
    )
    this.#note(callers === 1 ? '1 caller' : `${callers} callers`, perSecond, ms, before)
  }

  async bulks(): Promise<void> {
    const before = this.#used()
    const caller = await Caller.open(this.#server.address)
    const ms: number[] = []
    for (let count = 0; count < BULKS_A_ROUND; count += 1) {
      const bulk = this.#bulks++
      const request = post('relationship_tuples/bulk', {
        operations: Array.from({ length: BULK }, (_, index) => ({
          subject: `folder:folder-${index % FOLDERS}`,
          relation: 'parent',
          object: `document:bulk-${bulk}-${index}`,
          tenant: 'default',
        })),
      })
      const from = performance.now()
      await caller.done(request)
      ms.push(performance.now() - from)
    }
    caller.close()
    this.#note('bulks of 1,000', BULK / (median(ms) / 1_000), ms, before)
  }

  /** Throws unless every write that was answered decides, for those it is about. */
  async verify(): Promise<void> {
    const caller = await Caller.open(this.#server.address)
    for (let from = 0; from < this.#written; from += 500) {
      const count = Math.min(500, this.#written - from)
      const questions = Array.from({ length: 2 * count }, (_, index) => {
        const { user, resource_instance } = assignment(from + (index >> 1))
        const key = resource_instance.slice('document:'.length)
        const asked = index % 2 === 0 ? user : userOf(from + (index >> 1) + 1)
        return {
          user: { key: asked },
          action: 'read',
          resource: { type: 'document', key, tenant: 'default' },
        }
      })
      const body = await caller.done(
        encode({ path: '/allowed/bulk', body: JSON.stringify(questions) }, API_KEY),
      )
      const { allow } = body as { readonly allow: readonly { readonly allow: boolean }[] }
      allow.forEach((each, index) => {
        if (each.allow !== (index % 2 === 0))
          throw new Error(`${this.name}: write ${from + (index >> 1)} was answered and does not decide`)
      })
    }
    caller.close()
  }

  async stop(): Promise<void> {
    await this.#server.stop()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  #used(): Used {
    return { cpuSeconds: this.#server.cpuSeconds(), diskBytes: this.#server.diskBytes() }
  }

  #note(figure: string, perSecond: number, ms: readonly number[], before: Used): void {
    const { cpuSeconds, diskBytes } = this.#used()
    push(this.rates, figure, perSecond)
    push(this.p50s, figure, median(ms))
    push(this.cpuMs, figure, ((cpuSeconds - before.cpuSeconds) * 1_000) / ms.length)
    push(this.diskKb, figure, (diskBytes - before.diskBytes) / 1_024 / ms.length)
  }

  async #arrange(): Promise<void> {
    const caller = await Caller.open(this.#server.address)
    const schema = (body: object) =>
      caller.done(
        encode({ path: '/v2/schema/default/default/resources', body: JSON.stringify(body) }, API_KEY),
      )
    const viewer = { name: 'Viewer', permissions: ['read'] }
    const actions = { read: {} }
    await schema({ key: 'folder', name: 'Folder', actions, roles: { viewer } })
    await schema({
      key: 'document',
      name: 'Document',
      actions,
      roles: { viewer },
      relations: { parent: 'folder' },
    })
    const users = Array.from({ length: USERS }, (_, index) => ({ key: userOf(index) }))
    await caller.done(post('bulk/users', { operations: users }))
    for (let folder = 0; folder < FOLDERS; folder += 1) {
      await caller.done(
        post('resource_instances', { resource: 'folder', key: `folder-${folder}`, tenant: 'default' }),
      )
    }
    caller.close()
  }
}

function push(lists: Map<string, number[]>, name: string, value: number): void {
  const list = lists.get(name)
  if (list) list.push(value)
  else lists.set(name, [value])
}

function userOf(index: number): string {
  return `user-${index % USERS}`
}

/** The n-th write: one assignment and the instance that it is on. */
function assignment(nth: number) {
  return {
    user: userOf(nth),
    role: 'viewer',
    resource_instance: `document:written-${nth}`,
    tenant: 'default',
  }
}

function post(path: string, body: object): Buffer {
  return encode({ path: `${FACTS}/${path}`, body: JSON.stringify(body) }, API_KEY)
}

async function measure(kind: Kind, checkouts: readonly string[]): Promise<Figure[]> {
  const redis =
    kind === 'redis'
      ? await startRedis({ arguments: ['--appendonly', 'yes', '--appendfsync', 'everysec'] })
      : null
  const subjects: Subject[] = []
  try {
    for (const checkout of checkouts) {
      const url = kind === 'memory' ? 'memory:' : (redis?.url() ?? null)
      subjects.push(await Subject.start(checkout, url, mkdtempSync(join(tmpdir(), 'verdict-writes-'))))
    }
    for (let turn = 0; turn < ROUNDS; turn += 1) {
      for (const callers of CALLERS)
        for (const subject of inTurns(subjects, turn)) await subject.singles(callers)
      for (const subject of inTurns(subjects, turn)) await subject.bulks()
    }
    for (const subject of subjects) await subject.verify()
  } finally {
    for (const subject of subjects) await subject.stop()
    await redis?.stop()
  }
  return [...subjects[0]!.rates.keys()].flatMap(figure => figuresOf(kind, figure, subjects))
}

function inTurns(subjects: readonly Subject[], turn: number): readonly Subject[] {
  return turn % 2 === 0 ? subjects : subjects.toReversed()
}

const results: Record<string, unknown> = {}

function figuresOf(kind: Kind, figure: string, subjects: readonly Subject[]): Figure[] {
  const [own, base] = subjects.map(({ name, rates, p50s, cpuMs, diskKb }) => {
    const of = (lists: Map<string, number[]>) => round(median(lists.get(figure)!.slice(1)))
    const told = { name, perSecond: of(rates), p50Ms: of(p50s), cpuMsEach: of(cpuMs), diskKbEach: of(diskKb) }
    results[`${kind}, ${figure}, ${name}`] = told
    process.stdout.write(`${kind}, ${figure}, ${JSON.stringify(told)}\n`)
    return { ...told, rates: rates.get(figure)!.slice(1) }
  })
  if (!base) return []
  const ratio = median(own!.rates.map((rate, turn) => rate / base.rates[turn]!))
  return [atLeast(`${kind}, ${figure}: rate against ${base.name}`, ratio, BARS[kind][figure] ?? 1, '×')]
}

const args = process.argv.slice(2)
const kinds = /^(embedded|memory|redis)(,|$)/.test(args[0] ?? '')
  ? (args.shift()!.split(',') as Kind[])
  : (['embedded', 'memory', 'redis'] as const)
const checkouts = ['.', ...args]
const figures: Figure[] = []
for (const kind of kinds) figures.push(...(await measure(kind, checkouts)))
publish('writes', figures, { results })
