/** Requests that an HTTP thread passes to the main thread. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { Principal } from '#model/principal.ts'
import { InvariantError } from '#model/assert.ts'
import { AuthzError } from '#model/errors.ts'
import { ContentStream } from '#management/content/content-stream.ts'
import type { WaitingClient } from '#model/caller.ts'
import { StalenessDeadline } from '#threads/indexes/staleness-deadline.ts'
import { HttpThreads, type HttpThreadsOptions } from '#threads/channel/http-threads.ts'
import { READS_UNDER_WAY_MAX } from '#threads/channel/management-admission.ts'
import { createSharedCounts } from '#threads/channel/shared-count.ts'
import { withoutSecrets } from '../../src/config/settings.ts'
import { readConfig } from '../../src/config/read-config.ts'
import { ThreadCounters } from '#telemetry/thread-counters.ts'
import { WORKER_URLS } from '../../src/composition/process/worker-urls.ts'
import { ApiKeySecrets } from '#secrets/api-key-secrets.ts'
import { RawConnection, requestText } from '#testing/requests/raw-connection.ts'
import { freePort } from '#testing/processes/free-port.ts'
import { API_KEY } from '#testing/processes/running-service.ts'

const EXPORT = '/v2/projects/default/envs/default/export'
const PRINCIPAL: Principal = { kind: 'organization', keyId: null, level: 'admin', organizationId: 'o' }

/** A thread that allocates about 100 MB. It then sends the size of its new space in KB instead of a port. */
const THREAD_OF_MANY_OBJECTS = new URL(
  'data:text/javascript,' +
    encodeURIComponent(`
  import { getHeapSpaceStatistics } from 'node:v8'
  import { parentPort } from 'node:worker_threads'
  const kept = []
  for (let i = 0; i < 1_000_000; i++) kept[i % 50_000] = { i: [i, i, i] }
  const { space_size } = getHeapSpaceStatistics().find(space => space.space_name === 'new_space')
  parentPort.on('message', () => process.exit())
  parentPort.postMessage([{ kind: 'listening', port: space_size / 1024 }])
`),
)

/** Starts threads for which `work` replaces the main thread. Returns the threads and their defects. */
function startThreads(work: Partial<HttpThreadsOptions>, address = { host: '127.0.0.1', port: 0 }) {
  const faults: unknown[] = []
  const deaths: Error[] = []
  const nothing = () => Promise.reject(new AuthzError('NOT_READY', 'not in this test'))
  const threads = new HttpThreads({
    entry: WORKER_URLS.http,
    count: 1,
    streamBytesMax: 1_000_000,
    execute: nothing,
    describeNode: nothing,
    onKeyUsed: () => {},
    onSessionUsed: sessionId => ({ sessionId, at: 0 }),
    onCounters: () => {},
    onFault: (error, { requestId, operation }) => faults.push({ error, requestId, operation }),
    onDeath: error => deaths.push(error),
    ...work,
  })
  onTestFinished(() => threads.close())
  const secretHash = new ApiKeySecrets(null).hash(API_KEY)
  const listening = threads.start({
    ...address,
    tokenSecret: '00'.repeat(32),
    credentials: [{ secretHash, principal: PRINCIPAL, slot: 0, validUntil: null }],
    counts: createSharedCounts(),
    sessions: null,
    keyRates: null,
    deadline: new StalenessDeadline().handle,
    settings: withoutSecrets(readConfig({ LOG_LEVEL: 'silent' })),
  })
  return { threads, listening, faults, deaths }
}

async function startedThread(work: Partial<HttpThreadsOptions>) {
  const { listening, faults, deaths } = startThreads(work)
  const port = await listening
  const ask = (path: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, {
      headers: { authorization: `Bearer ${API_KEY}`, 'x-request-id': 'r-1' },
    })
  return { ask, faults, deaths, port }
}

/** An export that fails after these lines. */
function exportFailingWith(error: Error, ...lines: readonly string[]): HttpThreadsOptions['execute'] {
  function* failing(): Iterable<string> {
    yield* lines
    throw error
  }
  const revisions = [{ epoch: 'epoch', sequence: 1 }]
  return async () => ({ answer: new ContentStream(failing(), () => {}), revisions })
}

test('a message to all threads is acknowledged even if one thread cannot listen and the later threads therefore never start', async () => {
  const address = { host: '192.0.2.1', port: await freePort() }
  const { threads, listening } = startThreads({ count: 3 }, address)
  const attached = threads.detach('00000000-0000-4000-8000-000000000001', null)
  await expect(listening).rejects.toThrow('cannot listen on 192.0.2.1')
  await attached
})

test('a failed request for metrics is reported with its request id', async () => {
  const error = new Error('no memory')
  const { ask, faults } = await startedThread({ describeNode: () => Promise.reject(error) })
  expect((await ask('/metrics')).status).toBe(500)
  expect(faults).toEqual([{ error, requestId: 'r-1', operation: 'getMetrics' }])
})

test('concurrent requests for node data share one query of the main thread, and a later request repeats it', async () => {
  const asked: string[] = []
  const held = Promise.withResolvers<string>()
  const counted = Promise.withResolvers<ThreadCounters>()
  const { ask } = await startedThread({
    describeNode: ({ about }) => {
      asked.push(about)
      return held.promise
    },
    onCounters: (_thread, handle) => counted.resolve(new ThreadCounters(handle)),
  })
  const answers = Array.from({ length: 20 }, () => ask('/v2/nodes'))
  const counters = await counted.promise
  await expect.poll(() => counters.read('requestsInFlight')).toBe(20)
  held.resolve('{"nodes":[]}')
  const texts = await Promise.all(answers.map(async answer => (await answer).text()))
  expect(new Set(texts)).toEqual(new Set(['{"nodes":[]}']))
  expect(asked).toEqual(['nodes'])
  await ask('/v2/nodes')
  expect(asked).toEqual(['nodes', 'nodes'])
})

test('an export that fails with an expected error before its first line is refused with this error', async () => {
  const execute = exportFailingWith(new AuthzError('STORE_CLOSED', 'the store is closed'))
  const { ask, faults } = await startedThread({ execute })
  const answer = await ask(EXPORT)
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
  expect(faults).toEqual([])
})

test('an invariant failure during an export ends the response and is reported as fatal', async () => {
  const error = new InvariantError('on purpose')
  const { ask, faults, deaths } = await startedThread({
    execute: exportFailingWith(error, 'x'.repeat(100_000)),
  })
  const answer = await ask(EXPORT)
  expect(answer.status).toBe(200)
  await expect(answer.text()).rejects.toThrow('terminated')
  expect([faults, deaths]).toEqual([[{ error, requestId: 'r-1', operation: 'exportContent' }], [error]])
})

test('the new space of an HTTP thread is small, so that no garbage collection pauses requests for long', async () => {
  const { port: kilobytes } = await startedThread({ entry: THREAD_OF_MANY_OBJECTS })
  expect(kilobytes).toBe(2_048)
})

test('waiting requests of disconnected clients never start, and requests that have started are notified', async () => {
  const begun: { readonly name: string; readonly waiting: WaitingClient; readonly end: () => void }[] = []
  const { port, ask } = await startedThread({
    execute: async ({ requestId }, _, waiting) => {
      const held = Promise.withResolvers<void>()
      begun.push({ name: requestId, waiting, end: held.resolve })
      await held.promise
      return { answer: {}, revisions: [{ epoch: 'epoch', sequence: 1 }] }
    },
  })
  const head = (name: string) => [`Authorization: Bearer ${API_KEY}`, `X-Request-ID: ${name}`]
  const callers = new Map<string, RawConnection>()
  const call = async (name: string) => {
    const connection = await RawConnection.open(port)
    onTestFinished(() => connection.destroy())
    await connection.send(requestText(`GET /v2/facts/default/default/users`, head(name)))
    callers.set(name, connection)
  }
  const names = Array.from({ length: READS_UNDER_WAY_MAX }, (_, n) => `begun-${n}`)
  for (const name of names) await call(name)
  while (begun.length < names.length) await turn()
  await call('leaves')
  await call('stays')
  // When this response arrives, the thread has received everything that was sent before the request.
  expect((await ask('/healthy')).status).toBe(200)
  callers.get('leaves')!.reset()
  callers.get('begun-0')!.reset()
  while (!begun[0]!.waiting.isGone) await turn()
  // The thread has also received the other reset, because the kernel delivers both in one iteration.
  expect((await ask('/healthy')).status).toBe(200)
  expect(begun.slice(1).every(({ waiting }) => !waiting.isGone)).toBe(true)
  // The slot of an ended request is not free until the main thread has completed the request.
  expect(begun.map(({ name }) => name)).toEqual(names)
  for (const { end } of begun) end()
  while (begun.length === names.length) await turn()
  begun.at(-1)!.end()
  expect((await callers.get('stays')!.answer())?.status).toBe(200)
  expect(begun.map(({ name }) => name)).toEqual([...names, 'stays'])
})
