/** Thread for writes that would block the main thread for too long. */
import { parentPort } from 'node:worker_threads'
import { assert } from '#model/assert.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { serveWrites } from '#store/large-writes/serve-writes.ts'

assert(parentPort, 'this thread is started by the main thread')
serveWrites(parentPort, listRule)
