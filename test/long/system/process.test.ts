/** The process from the perspective of operators: its output, its rejected starts, and its exit codes. */
import { fork } from 'node:child_process'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, test } from 'vitest'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'
import { VERSION } from '#model/version.ts'
import { freePort } from '#testing/processes/free-port.ts'
import {
  ADMIN_KEY,
  type Answer,
  API_KEY,
  Client,
  FACTS,
  question,
  storeDirectory,
} from '#testing/processes/running-service.ts'
import type { ServiceProcess } from '#testing/processes/service-process.ts'
import { processWith, running, source } from '../../support/processes/started-process.ts'

const START = fileURLToPath(new URL('../../../src/start.js', import.meta.url))
let cwd: string

beforeEach(() => {
  cwd = storeDirectory()
})

/** Starts a process in the directory of the test with only these settings. */
function start(env: Readonly<Record<string, string>> = {}): ServiceProcess {
  return processWith(env, { cwd })
}

/** Evaluates a check that the sample data of a first start allows. */
async function allowed(address: string, key: string): Promise<boolean> {
  const body = question('alice', 'read', 'document:welcome')
  return (await Client.at(address).done<{ allow: boolean }>('POST', '/allowed', body, key)).allow
}

/** Environment variables and command line of a ready process, as reported by the kernel. */
async function inspected(service: ServiceProcess) {
  await service.address()
  const [environment, words] = ['environ', 'cmdline'].map(name =>
    readFileSync(`/proc/${service.pid}/${name}`, 'latin1').split('\0'),
  )
  await service.end('SIGTERM')
  return { environment: environment!, words: words! }
}

test.each([
  ['with huge pages and without the snapshot of Node', {}, ['GLIBC_TUNABLES=glibc.malloc.hugetlb=1'], true],
  ['with the given setting for huge pages', { GLIBC_TUNABLES: '' }, ['GLIBC_TUNABLES='], true],
  // As after a restart with a C library that removes GLIBC_TUNABLES: only this variable shows the restart.
  ['only once', { VERDICT_STARTED_AGAIN: 'yes' }, [], false],
  [
    'with the given setting for the snapshot',
    { NODE_OPTIONS: '--node-snapshot' },
    ['GLIBC_TUNABLES=glibc.malloc.hugetlb=1'],
    false,
  ],
])('the process restarts itself %s', async (_, env, tunables, isWithoutSnapshot) => {
  const { environment, words } = await inspected(start(env))
  expect(environment.filter(variable => variable.startsWith('GLIBC_TUNABLES='))).toEqual(tunables)
  expect(words.includes('--no-node-snapshot')).toBe(isWithoutSnapshot)
})

test('npm start sets the options for which the process would restart itself, but keeps options that the user set', async () => {
  const root = fileURLToPath(new URL('../../..', import.meta.url))
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: { readonly start: string }
  }
  const environmentOf = async (env: Readonly<Record<string, string>>) => {
    const bin = `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`
    const command = ['sh', '-c', `cd '${root}'; ${scripts.start}`] as const
    const settings = { PATH: bin, API_KEY, STORE_URL: `lmdb:${join(cwd, 'data')}`, ...env }
    const { environment } = await inspected(processWith(settings, { cwd, command }))
    return Object.fromEntries(environment.map(variable => variable.split(/=(.*)/s)))
  }
  const usual = await environmentOf({ NODE_OPTIONS: '' })
  expect(usual).toMatchObject({
    GLIBC_TUNABLES: 'glibc.malloc.hugetlb=1',
    NODE_OPTIONS: '--no-node-snapshot ',
  })
  expect(usual).not.toHaveProperty('VERDICT_STARTED_AGAIN')
  const decided = await environmentOf({ GLIBC_TUNABLES: '', NODE_OPTIONS: '--node-snapshot' })
  expect(decided).toMatchObject({ GLIBC_TUNABLES: '', NODE_OPTIONS: '--no-node-snapshot --node-snapshot' })
})

test('a forked process keeps its IPC channel', async () => {
  const { GLIBC_TUNABLES: _tunables, ...env } = process.env
  const child = fork(START, [], {
    cwd,
    env: { ...env, PORT: '0', STORE_URL: 'memory:', API_KEY },
    execArgv: ['--disable-warning=ExperimentalWarning'],
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  })
  const ended = once(child, 'exit')
  await once(child.stdout!, 'data')
  expect(child.connected).toBe(true)
  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
})

describe('the first start', () => {
  test('creates a key and sample data in ./data, and the next start keeps both', async () => {
    const first = start()
    const address = await first.address()
    expect(first.stdout).toMatch(`Verdict ${VERSION} listens on ${address}\n`)
    const [, key] = await first.stdoutMatch(/API key, shown only once: (\S+)/)
    expect(existsSync(join(cwd, 'data'))).toBe(true)
    expect(await allowed(address, key!)).toBe(true)
    expect(await first.end('SIGTERM')).toBe(0)

    const second = start()
    expect(await allowed(await second.address(), key!)).toBe(true)
    expect(second.stdout).not.toContain('API key')
    expect(second.stdout).not.toContain('curl')
  })

  test.each([
    ['STORE_URL', { STORE_URL: 'lmdb:./elsewhere' }],
    ['API_KEY', { API_KEY }],
  ])('loads no sample data if the operator has set %s', async (_name, env) => {
    const service = start(env)
    const address = await service.address()
    const key = 'API_KEY' in env ? API_KEY : (await service.stdoutMatch(/shown only once: (\S+)/))[1]!
    expect(await allowed(address, key)).toBe(false)
    expect(service.stdout).not.toContain('curl')
  })

  test.each([1, 5])(
    'that is killed at commit %i after it began to listen is completed by the next start',
    async commits => {
      const port = await freePort()
      const first = start({ PORT: String(port), ...killedWhileListening(port, commits) })
      expect(await first.exited).toBeNull()
      expect(first.stdout).toMatch(/^ready answers 503\n$/)

      const second = start()
      const address = await second.address()
      const [, key] = await second.stdoutMatch(/API key, shown only once: (\S+)/)
      expect(await allowed(address, key!)).toBe(true)
      expect(await second.end('SIGTERM')).toBe(0)
    },
  )
})

/** Settings with which a process kills itself at the given commit after it began to listen. */
function killedWhileListening(port: number, commits: number) {
  return running(`import { isMainThread } from 'node:worker_threads'
    import { EmbeddedLedger } from '${source('store/embedded/embedded-ledger.ts')}'
    const { commit } = EmbeddedLedger.prototype
    let left = ${commits}
    if (isMainThread) EmbeddedLedger.prototype.commit = async function (...parts) {
      const answer = await fetch('http://127.0.0.1:${port}/ready').catch(() => null)
      if (answer && --left === 0) {
        process.stdout.write('ready answers ' + answer.status + '\\n', () => process.kill(process.pid, 'SIGKILL'))
        await new Promise(() => {})
      }
      return commit.apply(this, parts)
    }`)
}

describe('the limit of request heads', () => {
  /** Status of a request with a head of `bytes`, which is sent in two packets if there is a `cut`. */
  async function statusOf(port: number, bytes: number, cut = bytes) {
    const bare = requestText('GET /healthy', ['X-Long: '])
    const text = requestText('GET /healthy', [`X-Long: ${'x'.repeat(bytes - bare.length)}`])
    const connection = await RawConnection.open(port)
    await connection.send(text.slice(0, cut))
    if (cut < bytes) {
      // After this response, the service has also read the first packet.
      await (await fetch(`http://127.0.0.1:${port}/healthy`)).text()
      await connection.send(text.slice(cut))
    }
    const answer = await connection.answer()
    connection.destroy()
    return answer?.status
  }

  test.each([
    ['16 KiB', {}, 16_384],
    // The variable of the HTTP library has no effect.
    ['MAX_HEADER_BYTES', { MAX_HEADER_BYTES: '2000', UWS_HTTP_MAX_HEADERS_SIZE: '9000' }, 2_000],
  ])('a request head can have exactly %s, and a larger one receives 431', async (_, env, bytesMax) => {
    const service = start({ ...env, API_KEY, HTTP_THREADS: '2' })
    const port = Number(new URL(await service.address()).port)
    const statuses = []
    for (const bytes of [bytesMax, bytesMax + 1])
      statuses.push(await statusOf(port, bytes), await statusOf(port, bytes, 100))
    expect(statuses).toEqual([200, 200, 431, 431])
  })
})

describe("the operator's key", () => {
  const statusOf = async (service: ServiceProcess, key: string) =>
    (await Client.at(await service.address()).send('GET', '/v2/api-key/scope', { key })).status

  /** Starts and stops a process. Returns the key that it created. */
  async function generatedKey(): Promise<string> {
    const first = start()
    const [, generated] = await first.stdoutMatch(/shown only once: (\S+)/)
    await first.end('SIGTERM')
    return generated!
  }

  test('API_KEY replaces the key of the first start, and a start without API_KEY creates a new key', async () => {
    const generated = await generatedKey()
    const second = start({ API_KEY })
    expect([await statusOf(second, API_KEY), await statusOf(second, generated)]).toEqual([200, 401])
    expect(second.stdout).not.toContain('API key')
    await second.end('SIGTERM')
    const third = start()
    const [, again] = await third.stdoutMatch(/shown only once: (\S+)/)
    expect(third.stdout).not.toContain('curl')
    for (const [key, status] of [
      [API_KEY, 401],
      [generated, 401],
      [again!, 200],
    ] as const) {
      expect(await statusOf(third, key)).toBe(status)
    }
    // The sample data of the first start still exists.
    expect(await allowed(await third.address(), again!)).toBe(true)
  })

  test('no key is created instead of a removed API_KEY if ADMIN_API_KEY is set', async () => {
    const first = start({ API_KEY })
    await first.address()
    await first.end('SIGTERM')
    const second = start({ ADMIN_API_KEY: ADMIN_KEY })
    expect([await statusOf(second, ADMIN_KEY), await statusOf(second, API_KEY)]).toEqual([200, 401])
    expect(second.stdout).not.toContain('API key')
  })

  test('API_KEY can be the key of the first start', async () => {
    const generated = await generatedKey()
    const second = start({ API_KEY: generated })
    expect(await statusOf(second, generated)).toBe(200)
    await second.end('SIGTERM')
    const third = start({ ADMIN_API_KEY: ADMIN_KEY })
    expect(await statusOf(third, generated)).toBe(401)
  })
})

test('a start on a data directory that another process has open exits with 1', async () => {
  await start().address()
  const second = start()
  expect(await second.exited).toBe(1)
  expect(second.stderr).toContain('in use')
})

test('a start on a runtime for which the HTTP server has no binary exits with 1', async () => {
  const otherAbi = 'Object.defineProperty(process,"versions",{value:{...process.versions,modules:"200"}})'
  const service = start(running(otherAbi))
  expect(await service.exited).toBe(1)
  expect(service.stderr).toMatch(/^verdict: the HTTP server has no binary for Node .*\n$/)
})

test.each([
  ['the main thread', 'isMainThread'],
  ['an HTTP thread', 'threadId === 1'],
])('an uncaught error in %s is logged and ends the process with exit code 1', async (_where, where) => {
  const faulty = `import { isMainThread, threadId } from 'node:worker_threads'
    import { existsSync } from 'node:fs'
    if (${where}) setInterval(() => { if (existsSync('fail-now')) throw new Error('on purpose') }, 20)`
  const service = start({ API_KEY, HTTP_THREADS: '2', ...running(faulty) })
  await service.address()
  writeFileSync(join(cwd, 'fail-now'), '')
  expect(await service.exited).toBe(1)
  expect(service.stderr).toContain('on purpose')
})

describe('a stop during the start', () => {
  const STOP_DELAY_MS = '2999'

  /** Sends SIGTERM when the process adds its nth handler. Prints when it waits for callers. */
  const signalledAt = (nth: number) => `import { syncBuiltinESMExports } from 'node:module'
    import timers from 'node:timers/promises'
    const { setTimeout: sleep } = timers
    timers.setTimeout = (ms, ...rest) => {
      if (ms === ${STOP_DELAY_MS}) process.stderr.write('waits for callers to leave')
      return sleep(ms, ...rest)
    }
    syncBuiltinESMExports()
    let count = 0
    process.on('newListener', name => {
      if (name !== 'SIGTERM') return
      count += 1
      if (count === ${nth}) queueMicrotask(() => process.kill(process.pid, 'SIGTERM'))
    })`

  function signalled(nth: number): ServiceProcess {
    return start({ API_KEY, HTTP_THREADS: '1', STOP_DELAY_MS, ...running(signalledAt(nth)) })
  }

  test.each([
    ['before its code is loaded', 1],
    ['while the store is opened', 2],
  ])('a process that is stopped %s exits with 0 and does not wait for callers', async (_when, nth) => {
    const service = signalled(nth)
    expect(await service.exited).toBe(0)
    expect(service.stderr).not.toContain('waits for callers to leave')
  })

  test('a ready process that receives SIGTERM waits until its callers have disconnected', async () => {
    const service = signalled(Infinity)
    await service.address()
    expect(await service.end('SIGTERM')).toBe(0)
    expect(service.stderr).toContain('waits for callers to leave')
  })
})

test('a start on a used port reports it, even if the started parts cannot be closed', async () => {
  const unclosable = `import { EmbeddedStore } from '${source('store/embedded/embedded-store.ts')}'
    EmbeddedStore.prototype.close = () => Promise.reject(new Error('on purpose'))`
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  const service = start({ PORT: String(port), STORE_URL: 'memory:', ...running(unclosable) })
  expect(await service.exited).toBe(1)
  const [first, last] = service.stderr.trim().split('\n')
  expect(first).toContain('on purpose')
  expect(last).toContain(`cannot start: the address 127.0.0.1:${port} is already in use`)
  other.close()
})

describe('a broken invariant on the main thread', () => {
  /** A service whose commits fail while the file `break-now` exists. */
  async function startBreakable() {
    const broken = `import { isMainThread } from 'node:worker_threads'
      import { existsSync } from 'node:fs'
      import { InvariantError } from '${source('model/assert.ts')}'
      import { EmbeddedLedger } from '${source('store/embedded/embedded-ledger.ts')}'
      const { commit } = EmbeddedLedger.prototype
      if (isMainThread) EmbeddedLedger.prototype.commit = function (...parts) {
        if (existsSync('break-now')) throw new InvariantError('on purpose')
        return commit.apply(this, parts)
      }`
    const service = start({ API_KEY, ADMIN_API_KEY: ADMIN_KEY, ...running(broken) })
    return { service, address: await service.address() }
  }

  test('in an environment fails its request with 500 and affects no other environment', async () => {
    const { service, address } = await startBreakable()
    writeFileSync(join(cwd, 'break-now'), '')
    expect((await putUser(address, 'alice')).status).toBe(500)
    rmSync(join(cwd, 'break-now'))
    expect((await putUser(address, 'alice')).status).toBe(201)
    expect(await service.end('SIGTERM')).toBe(0)
    expect(service.stderr.match(/a management operation failed/g)).toHaveLength(1)
    expect(service.stderr).toContain('caused by: InvariantError: on purpose')
  })

  test('in the organization ends the process with exit code 1', async () => {
    const { service, address } = await startBreakable()
    writeFileSync(join(cwd, 'break-now'), '')
    const body = { key: 'another', name: 'Another' }
    const answer = await Client.at(address)
      .send('POST', '/v2/projects/default/envs', { key: ADMIN_KEY, body })
      .catch(() => null)
    expect(answer?.status ?? 500).toBe(500)
    expect(await service.exited).toBe(1)
    expect(service.stderr).toContain('on purpose')
  })
})

function putUser(address: string, key: string): Promise<Answer> {
  return Client.at(address).put(`${FACTS}/users/${key}`, { key })
}

test('a service whose log cannot be written decides and exits with 0', async () => {
  const words = [process.execPath, '--disable-warning=ExperimentalWarning', START]
  const command = ['sh', '-c', 'exec "$0" "$@" 2>/dev/full', ...words] as const
  const service = processWith({ DECISION_LOG: 'decisions.log', API_KEY }, { cwd, command })
  await allowed(await service.address(), API_KEY)
  expect(await service.end('SIGHUP')).toBe(0)
  expect(readFileSync(join(cwd, 'decisions.log'), 'utf8')).toContain('"user":"alice"')
})

test.each(['SIGHUP', 'SIGQUIT'] as const)(
  '%s shuts the service down without losing records of decisions, and SIGUSR1 and SIGUSR2 are ignored',
  async signal => {
    const service = start({ DECISION_LOG: 'decisions.log', HTTP_THREADS: '1', STOP_DELAY_MS: '0' })
    const address = await service.address()
    const [, key] = await service.stdoutMatch(/API key, shown only once: (\S+)/)
    for (const ignored of ['SIGUSR1', 'SIGUSR2'] as const) process.kill(service.pid, ignored)
    expect(await allowed(address, key!)).toBe(true)
    expect(await service.end(signal)).toBe(0)
    expect(service.stderr).toContain(`"signal":"${signal}"`)
    expect(service.stderr).not.toContain('Debugger')
    expect(readFileSync(join(cwd, 'decisions.log'), 'utf8')).toContain('"user":"alice"')
  },
)

test('no request fails during a shutdown by SIGTERM under load, and the exit code is 0', async () => {
  // Repeated with longer delays until the callers stop in time, even on a busy machine.
  for (
    let delayMs = 1_000;
    !(await stopsInTime(delayMs));
    delayMs = Math.min(2 * delayMs, STOP_DELAY_MS_MAX)
  );
})

/** Upper limit of `STOP_DELAY_MS`. */
const STOP_DELAY_MS_MAX = 3_000

/** Whether all callers stopped while the node still accepted requests. In this case, no request may fail. */
async function stopsInTime(delayMs: number): Promise<boolean> {
  const service = start({ API_KEY, HTTP_THREADS: '2', STOP_DELAY_MS: String(delayMs) })
  const address = await service.address()
  const underLoad = Promise.withResolvers<void>()
  const node = { isReady: true }
  const failures: string[] = []
  const put: string[] = []
  let answered = 0
  let askedElsewhere = 0
  // Like a load balancer, sends no more requests to a node that is not ready.
  const balancer = (async () => {
    while (node.isReady) {
      const answer = await fetch(`${address}/ready`).catch(() => null)
      node.isReady = answer?.status === 200
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  })()
  const client = Client.at(address)
  const call = async (index: number, turn: number): Promise<Answer> => {
    if (turn % 3 > 0) return client.post('/allowed/bulk', [question('alice', 'read', 'document')])
    const key = `user-${index}-${turn}`
    const response = await putUser(address, key)
    put.push(key)
    return response
  }
  const callers = Array.from({ length: 16 }, async (_, index) => {
    for (let turn = 0; node.isReady; turn += 1) {
      try {
        const response = await call(index, turn)
        if (response.headers.get('connection') === 'close') askedElsewhere += 1
        if (response.status >= 300) failures.push(`${response.status}`)
        answered += 1
        if (answered === 300) underLoad.resolve()
      } catch (error) {
        failures.push(String((error as Error).cause ?? error))
      }
    }
  })
  await underLoad.promise
  const ended = service.end('SIGTERM')
  // These signals are like those that npm forwards if a supervisor also signals npm.
  await service.logMatch(/"stopping"/)
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.kill(service.pid, signal)
  const isInTime = Promise.all([...callers, balancer])
    .then(() => fetch(`${address}/ready`))
    .then(
      () => true,
      () => false,
    )
  expect(await ended).toBe(0)
  if (!(await isInTime)) return false
  expect(failures).toEqual([])
  // Acknowledged changes are stored.
  const next = start({ API_KEY })
  const nextAddress = await next.address()
  for (const key of put.slice(-20)) {
    const read = await Client.at(nextAddress).get(`${FACTS}/users/${key}`)
    expect([key, read.status]).toEqual([key, 200])
  }
  expect(await next.end('SIGTERM')).toBe(0)
  return askedElsewhere > 0
}

test('a shutdown completes a request that is being received, and accepts no other', async () => {
  const service = start({ API_KEY })
  const address = await service.address()
  const { port } = new URL(address)
  const connection = await RawConnection.open(Number(port))
  const body = JSON.stringify({ user: { key: 'alice' }, action: 'read', resource: { type: 'document' } })
  const headers = [`Authorization: Bearer ${API_KEY}`, `Content-Length: ${body.length}`]
  await connection.send(requestText('POST /allowed', headers, body.slice(0, 10)))
  // After this response, the only thread has also read the first part of the other request.
  expect((await fetch(`${address}/healthy`)).status).toBe(200)
  const ended = service.end('SIGTERM')
  for (;;) {
    const isListening = await fetch(`${address}/healthy`).then(
      () => true,
      () => false,
    )
    if (!isListening) break
  }
  const answer = await connection.ask(body.slice(10))
  expect([answer?.status, answer?.headers.get('connection')]).toEqual([200, 'close'])
  expect(await ended).toBe(0)
})
