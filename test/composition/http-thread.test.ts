/** An HTTP thread in the test's own thread: it hears the messages that the main thread sends, and is asked over HTTP. */
import { once } from 'node:events'
import { MessageChannel } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { HttpThread } from '#composition/http-thread.ts'
import { withoutSecrets } from '#config/config.ts'
import { readConfig } from '#config/read-config.ts'
import type { Principal } from '#model/principal.ts'
import { ApiKeySecrets } from '#secrets/api-key-secrets.ts'
import { createDeadline, StalenessDeadline } from '#threads/indexes/staleness-deadline.ts'
import { createProgress } from '#threads/indexes/index-progress.ts'
import type { FromHttpThread, ToHttpThread } from '#threads/channel/messages.ts'
import { createSharedCounts } from '#threads/channel/shared-count.ts'
import { assign, instance, resourceType, role, tenant, user } from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { API_KEY, FACTS, question } from '#testing/processes/running-service.ts'
import { HANG_MS } from '../support/hang.ts'

type Said<Kind extends FromHttpThread['kind']> = FromHttpThread & { readonly kind: Kind }

const PRINCIPAL: Principal = {
  kind: 'environment',
  keyId: null,
  organizationId: 'o',
  projectId: 'p',
  projectKey: 'default',
  environmentId: 'e',
  environmentKey: 'default',
}
const OTHER_KEY = 'another-key-of-the-environment'
const SERVING = { isServing: true, isFresh: true, writeRefusal: null }
const MAY = question('alice', 'read', 'document:d')

function credentialOf(secret: string) {
  return {
    secretHash: new ApiKeySecrets(null).hash(secret),
    principal: PRINCIPAL,
    slot: 0,
    validUntil: null,
  }
}

/** The thread, and the other end of its port. */
function madeThread({ host = '127.0.0.1' } = {}) {
  const { port1: main, port2: its } = new MessageChannel()
  const said: FromHttpThread[] = []
  const waiting = new Set<() => void>()
  main.on('message', (messages: readonly FromHttpThread[]) => {
    said.push(...messages)
    for (const look of waiting) look()
  })
  const thread = new HttpThread(
    its,
    {
      host,
      port: 0,
      tokenSecret: '00'.repeat(32),
      credentials: [credentialOf(API_KEY)],
      counts: createSharedCounts(),
      keyRates: null,
      deadline: new StalenessDeadline().handle,
      settings: withoutSecrets(readConfig({ LOG_LEVEL: 'silent', POOL_THREADS: '0', HTTP_THREADS: '1' })),
    },
    { openTracing: null, onFault: () => {} },
  )
  const tell = (message: ToHttpThread): void => main.postMessage([message])
  const told = <Kind extends FromHttpThread['kind']>(kind: Kind): Promise<Said<Kind>> =>
    new Promise(resolve => {
      const look = (): void => {
        const index = said.findIndex(message => message.kind === kind)
        if (index < 0) return
        waiting.delete(look)
        resolve(said.splice(index, 1)[0] as Said<Kind>)
      }
      waiting.add(look)
      look()
    })
  const stop = async (): Promise<void> => {
    const isClosed = once(main, 'close')
    tell({ kind: 'close', withinMs: HANG_MS })
    await isClosed
  }
  return { thread, tell, told, stop }
}

async function listeningThread() {
  const made = madeThread()
  await made.thread.listen()
  const { port } = await made.told('listening')
  const ask = async (method: string, path: string, { body = {}, key = API_KEY } = {}) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', connection: 'close' },
      ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: (await answer.json()) as unknown }
  }
  return { ...made, ask }
}

function indexOfDocuments(): ToHttpThread {
  const engine = new SharedEngine()
  engine.apply([
    tenant('default'),
    resourceType('document', 'read'),
    role('document', 'viewer', { can: ['read'] }),
    user('alice'),
    instance('document:d'),
    assign('alice', 'viewer', 'document:d'),
  ])
  const progress = createProgress({ epoch: 'epoch', sequence: 1 })
  const index = {
    index: engine.writer.handle,
    progress,
    deadline: createDeadline(),
    ending: createDeadline(),
  }
  return { kind: 'attach', environmentId: 'e', index, acknowledge: 1 }
}

test('a thread decides on the index that it is given, until that is taken back', async () => {
  const { tell, told, stop, ask } = await listeningThread()
  onTestFinished(stop)
  expect((await ask('POST', '/allowed', { body: MAY })).status).toBe(503)
  tell(indexOfDocuments())
  expect(await told('acknowledged')).toMatchObject({ acknowledge: 1 })
  const { status, body } = await ask('POST', '/allowed', { body: MAY })
  expect([status, body]).toEqual([200, expect.objectContaining({ allow: true })])
  tell({ kind: 'detach', environmentId: 'e', reason: 'its rows are damaged', acknowledge: 2 })
  expect(await told('acknowledged')).toMatchObject({ acknowledge: 2 })
  expect(await ask('POST', '/allowed', { body: MAY })).toMatchObject({
    status: 503,
    body: { message: 'this environment is closed on this node: its rows are damaged' },
  })
})

test('a thread goes by the credentials and the state that it heard last', async () => {
  const { tell, told, stop, ask } = await listeningThread()
  onTestFinished(stop)
  expect((await ask('GET', '/ready')).status).toBe(503)
  tell({ kind: 'state', state: SERVING })
  tell({ kind: 'credentials', credentials: [credentialOf(OTHER_KEY)], acknowledge: 1 })
  await told('acknowledged')
  expect((await ask('GET', '/ready')).status).toBe(200)
  expect((await ask('POST', '/allowed', { body: MAY })).status).toBe(401)
  expect((await ask('POST', '/allowed', { body: MAY, key: OTHER_KEY })).status).toBe(503)
})

test('what is to be managed goes to the main thread, whose answer is the answer', async () => {
  const { tell, told, stop, ask } = await listeningThread()
  onTestFinished(stop)
  const answer = ask('GET', `${FACTS}/users/alice`)
  const { call, request } = await told('manage')
  expect(request).toMatchObject({ operation: 'getUser', principal: PRINCIPAL })
  tell({
    kind: 'answer',
    call,
    answer: { json: '{"key":"alice"}', isCreated: false, warning: null, revision: 'epoch.1' },
  })
  expect(await answer).toEqual({ status: 200, body: { key: 'alice' } })
})

test('a thread that is closed listens no more, and its port is closed', async () => {
  const { stop, ask } = await listeningThread()
  await stop()
  await expect(ask('GET', '/healthy')).rejects.toThrow('fetch failed')
})

test('a thread that cannot listen says so, and still ends when it is told to', async () => {
  // An address for documentation, which no machine has.
  const { thread, told, stop } = madeThread({ host: '192.0.2.1' })
  await thread.listen()
  expect((await told('listen-failed')).message).toContain('192.0.2.1')
  await stop()
})
