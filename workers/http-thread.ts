/**
 * An HTTP thread: its servers, one engine an environment, everything a decision needs. It takes its orders from the main
 * thread. A fault that is a broken invariant closes the server and ends the thread, and with it the process.
 */
import { parentPort, threadId, workerData } from 'node:worker_threads'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import type { SharedIndexHandle } from '#engine/shared-index/regions.ts'
import { HttpServer } from '#http/server.ts'
import { assert, InvariantError } from '#model/assert.ts'
import { MinRevision } from '#services/min-revision.ts'
import { createLog } from '#telemetry/log.ts'
import { CredentialCheck } from '#threads/credential-check.ts'
import { EngineReaders } from '#threads/engine-readers.ts'
import { ManagementClient } from '#threads/management-client.ts'
import type { FromHttpThread, HttpThreadOptions, ToHttpThread } from '#threads/messages.ts'
import type { ThreadSettings } from '../src/config.ts'
import { opaThreadRoutes, threadRoutes } from './thread-routes.ts'

assert(parentPort, 'an HTTP thread is started by the main thread')
const main = parentPort
const options = workerData as HttpThreadOptions<ThreadSettings>
const { host, port, tokenSecret, settings } = options
const log = createLog(settings.logLevel)
// Thread ids begin with 1 here: in the lock word of an index 0 means that nobody holds it.
const engines = new EngineReaders(
  handle =>
    new SharedIndexReader(handle as SharedIndexHandle, {
      threadId: threadId + 1,
      lockEveryRead: process.arch !== 'x64',
    }),
)
const management = new ManagementClient(main)
const credentials = new CredentialCheck(Date.now)
credentials.replaceAll(options.credentials)
let isReady = false

const edge = {
  authenticate: credentials.authenticate,
  limits: settings,
  minRevision: new MinRevision(engines, settings.minRevisionWaitMs),
  hasStrictHeaders: settings.hasStrictHeaders,
  onFault: (error: unknown, requestId: string) => {
    log.error({ err: error, requestId }, 'a request failed')
    if (error instanceof InvariantError) void endAfterFault(error)
  },
}
const routes = threadRoutes({ engines, management, isReady: () => isReady, tokenSecret, settings })
const server = new HttpServer({ ...edge, routes })
const opaServer = new HttpServer({
  ...edge,
  routes: opaThreadRoutes(engines, settings),
  familyOf: () => 'opa',
})

function send(message: FromHttpThread): void {
  main.postMessage(message)
}

async function close(patience: { readonly withinMs: number }): Promise<void> {
  await Promise.all([server.close(patience), opaServer.close(patience)])
}

/** The app must be closed before the thread ends: the process would be aborted otherwise. */
async function endAfterFault(error: unknown): Promise<void> {
  // What is thrown below is to end the thread.
  process.off('uncaughtException', endAfterFault)
  log.fatal({ err: error }, 'this HTTP thread ends')
  await close({ withinMs: 0 })
  setImmediate(() => {
    throw error
  })
}

// A message that could not be handled, too: what an engine missed it will never hear of again.
process.on('uncaughtException', endAfterFault)
main.on('message', receive)

function receive(message: ToHttpThread): void {
  switch (message.kind) {
    case 'credentials':
      credentials.replaceAll(message.credentials)
      send({ kind: 'acknowledged', acknowledge: message.acknowledge })
      break
    case 'organization':
      engines.followOrganization(message.progress)
      break
    case 'ready':
      isReady = message.isReady
      break
    case 'suspend':
      engines.suspend(message.isSuspended)
      break
    case 'answer':
      management.receive(message.call, message.answer)
      break
    case 'pull-body':
      void management.pullBody(message.call)
      break
    case 'cancel-body':
      management.cancelBody(message.call)
      break
    case 'answer-piece':
      management.receivePiece(message.call, message.piece)
      break
    case 'close':
      void close(message).then(() => main.close())
      break
    case 'attach':
      engines.attach(message.environmentId, message.handle)
      send({ kind: 'acknowledged', acknowledge: message.acknowledge })
      break
    case 'detach':
      engines.detach(message.environmentId)
      send({ kind: 'acknowledged', acknowledge: message.acknowledge })
  }
}

try {
  if (settings.opaPort !== null) await opaServer.listen({ host, port: settings.opaPort })
  send({ kind: 'listening', port: await server.listen({ host, port }) })
} catch (error) {
  await close({ withinMs: 0 })
  send({ kind: 'listen-failed', message: error instanceof Error ? error.message : String(error) })
}
