/**
 * Creates an embedded store and a Redis store with this release and writes them to `test/system/releases`,
 * together with requests and the responses of this release. Tests start every later release on these stores.
 * The files of a release are written once and never replaced. The folder `81bfca20` contains an embedded
 * store with every kind of entity, and the export of this store. The commit with this id wrote both.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { VERSION } from '#model/version.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'
import { startRedis } from '#testing/processes/redis-process.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
export const FIXTURES = join(ROOT, 'test/system/releases')

/** API keys of the services that wrote the stores. */
export const FIXTURE_KEYS = {
  API_KEY: 'environment-key-of-the-fixture',
  ADMIN_API_KEY: 'organization-key-of-the-fixture',
}
export const FIXTURE_PREFIX = 'fixture'

/** A request to the environment, and the response to it. */
export interface RecordedRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: unknown
  readonly answer: unknown
}

const question = (user: string, action: string, [type, key]: readonly [string, string]) => ({
  user: { key: user },
  action,
  resource: { type, key },
})

const QUESTIONS = ['alice', 'bob', 'carol', 'dave', 'fay'].flatMap(user =>
  ['read', 'write'].flatMap(action =>
    ['roadmap', 'budget', 'memo'].map(document => question(user, action, ['document', document])),
  ),
)
const FACTS = '/v2/facts/default/default'
const SCHEMA = '/v2/schema/default/default'
const REQUESTS: readonly Omit<RecordedRequest, 'answer'>[] = [
  { method: 'POST', path: '/allowed/bulk', body: QUESTIONS },
  { method: 'POST', path: '/user-permissions', body: { user: { key: 'carol' } } },
  { method: 'GET', path: `${SCHEMA}/resources` },
  { method: 'GET', path: `${SCHEMA}/roles` },
  { method: 'GET', path: `${SCHEMA}/condition_sets` },
  { method: 'GET', path: `${SCHEMA}/groups` },
  { method: 'GET', path: `${FACTS}/set_rules` },
  { method: 'GET', path: `${FACTS}/tenants` },
  { method: 'GET', path: `${FACTS}/users` },
  { method: 'GET', path: `${FACTS}/role_assignments` },
  { method: 'GET', path: `${FACTS}/relationship_tuples` },
]

/**
 * Fills a store with the command line, sends the requests and records the responses, and then stops the
 * service.
 */
async function filled(cwd: string, storeUrl: string): Promise<RecordedRequest[]> {
  const service = new ServiceProcess({
    cwd,
    env: { ...FIXTURE_KEYS, STORE_URL: storeUrl, HTTP_THREADS: '1' },
  })
  const env = { ...process.env, VERDICT_URL: await service.address(), VERDICT_KEY: FIXTURE_KEYS.API_KEY }
  const apply = ['src/verdict.js', 'apply', 'test/cli/company.yaml', '--yes']
  execFileSync(process.execPath, apply, { cwd: ROOT, env, stdio: 'pipe' })
  const asked: RecordedRequest[] = []
  for (const request of REQUESTS) {
    asked.push({ ...request, answer: await service.call(request.method, request.path, request.body) })
  }
  await service.end('SIGTERM')
  return asked
}

async function write(): Promise<void> {
  const fixture = join(FIXTURES, VERSION)
  if (existsSync(fixture)) throw new Error(`${fixture} already exists: a release is written only once`)
  const cwd = mkdtempSync(join(tmpdir(), 'verdict-fixture-'))
  const redis = await startRedis()
  try {
    const embedded = await filled(cwd, 'lmdb:./store')
    const shared = await filled(cwd, `redis://127.0.0.1:${redis.port}?prefix=${FIXTURE_PREFIX}`)
    execFileSync('redis-cli', ['-p', String(redis.port), 'save'], { stdio: 'pipe' })
    mkdirSync(fixture, { recursive: true })
    execFileSync('tar', ['--sparse', '-czf', join(fixture, 'embedded.tar.gz'), '-C', cwd, 'store'])
    copyFileSync(join(redis.directory, 'dump.rdb'), join(fixture, 'redis.rdb'))
    writeFileSync(join(fixture, 'answers.json'), `${JSON.stringify({ embedded, redis: shared })}\n`)
  } finally {
    await redis.stop()
    rmSync(cwd, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await write()
