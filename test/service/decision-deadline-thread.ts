/** Ends when the deadline is over. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { workerData } from 'node:worker_threads'
import { DecisionDeadline, type DeadlineHandle } from '#threads/indexes/decision-deadline.ts'

const deadline = new DecisionDeadline(workerData as DeadlineHandle)
while (!deadline.isOver) await nextTurn()
