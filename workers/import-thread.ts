/** Thread that imports data into files. */
import { parentPort, workerData } from 'node:worker_threads'
import { ImportWork } from '#composition/wiring/import-work.ts'
import { assert } from '#model/assert.ts'
import { lowerPriority } from '#scheduling/thread-priority.ts'

assert(parentPort, 'this thread is started by the main thread')
lowerPriority()
void new ImportWork(parentPort, workerData)
