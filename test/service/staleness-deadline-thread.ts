/** Ends when the deadline is over. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { StalenessDeadline, type DeadlineHandle } from '#threads/indexes/staleness-deadline.ts'

const deadline = new StalenessDeadline(workerData as DeadlineHandle)
while (!deadline.isOver) await nextTurn()
