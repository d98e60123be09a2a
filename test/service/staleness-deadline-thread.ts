/** A thread that exits when the deadline has passed. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { StalenessDeadline, type DeadlineHandle } from '#threads/indexes/staleness-deadline.ts'

const deadline = new StalenessDeadline(workerData as DeadlineHandle)
while (!deadline.isOver) await nextTurn()
