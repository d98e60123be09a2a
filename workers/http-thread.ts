/**
 * An HTTP thread: one server, one engine an environment, everything a decision needs. It takes its orders from the main
 * thread. A fault that is a broken invariant closes the server and ends the thread, and with it the process.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { MapEngine } from '#engine/map-engine/map-engine.ts'
import { HttpServer } from '#http/server.ts'
import { assert, InvariantError } from '#model/assert.ts'
import { createLog } from '#telemetry/log.ts'
import { CredentialCheck } from '#threads/credential-check.ts'
import { EngineReplicas } from '#threads/engine-replicas.ts'
import { ManagementClient } from '#threads/management-client.ts'
import type { FromHttpThread, HttpThreadOptions, ToHttpThread } from '#threads/messages.ts'
import type { ThreadSettings } from '../src/config.ts'
import { threadRoutes } from './thread-routes.ts'

assert(parentPort, 'an HTTP thread is started by the main thread')
const main = parentPort
const { host, port, tokenSecret, settings } = workerData as HttpThreadOptions<ThreadSettings>
const log = createLog(settings.logLevel)
const engines = new EngineReplicas(() => new MapEngine())
const management = new ManagementClient(main)
const credentials = new CredentialCheck()
let isReady = false

const server = new HttpServer({
  routes: threadRoutes({ engines, management, isReady: () => isReady, tokenSecret, settings }),
  authenticate: credentials.authenticate,
  limits: settings,
  hasStrictHeaders: settings.hasStrictHeaders,
  onFault: (error, requestId) => {
    log.error({ err: error, requestId }, 'a request failed')
    if (error instanceof InvariantError) void endAfterFault(error)
  },
})

function send(message: FromHttpThread): void {
  main.postMessage(message)
}

/** The app must be closed before the thread ends: the process would be aborted otherwise, and its log lost. */
async function endAfterFault(error: unknown): Promise<void> {
  await server.close({ withinMs: 0 })
  setImmediate(() => {
    throw error
  })
}

main.on('message', (message: ToHttpThread) => {
  try {
    receive(message)
  } catch (error) {
    log.fatal({ err: error }, 'a message from the main thread could not be handled')
    void endAfterFault(error)
  }
})

function receive(message: ToHttpThread): void {
  switch (message.kind) {
    case 'credentials':
      credentials.replaceAll(message.credentials)
      break
    case 'ready':
      isReady = message.isReady
      break
    case 'answer':
      management.receive(message.call, message.answer)
      break
    case 'close':
      void server.close().then(() => main.close())
      break
    default:
      engines.receive(message)
      send({ kind: 'acknowledged', acknowledge: message.acknowledge })
  }
}

try {
  send({ kind: 'listening', port: await server.listen({ host, port }) })
} catch (error) {
  await server.close()
  send({ kind: 'listen-failed', message: error instanceof Error ? error.message : String(error) })
}
