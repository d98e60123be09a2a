/** A thread that moves a deadline once. */
import { workerData } from 'node:worker_threads'
import { type DeadlineHandle, StalenessDeadline } from '#threads/indexes/staleness-deadline.ts'

new StalenessDeadline(workerData as DeadlineHandle).set(3_600_000)
