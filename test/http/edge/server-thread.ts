/** A server of the edge in a worker thread: says its port, and closes when told to. */
import { parentPort, threadId, workerData } from 'node:worker_threads'
import { defineRoute } from '#http/routing/route.ts'
import { HttpServer } from '#http/edge/server.ts'

const port = parentPort!
const server = new HttpServer({
  routes: [
    defineRoute({
      method: 'GET',
      path: '/thread',
      operationId: 'thread',
      summary: 'Which thread answers',
      family: 'native',
      access: 'public',
      responses: {},
      handle: () => ({ status: 200, body: { threadId } }),
    }),
  ],
  authenticate: () => null,
  limits: { bodyBytesMax: 1_000 },
  onFault: error => {
    throw error
  },
})
port.postMessage(await server.listen({ host: '127.0.0.1', port: workerData as number }))
port.once('message', () => {
  void server.close().then(() => port.close())
})
