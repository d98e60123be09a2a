/** The thread for large writes, with the lists of `toyRule`. */
import { parentPort } from 'node:worker_threads'
import { serveWrites } from '#store/large-writes/serve-writes.ts'
import { toyRule } from './toy-rows.ts'

serveWrites(parentPort!, toyRule)
