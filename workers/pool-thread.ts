/** Pool thread that serves one HTTP thread. */
import { workerData } from 'piscina'
import { PoolWork } from '#composition/wiring/pool-work.ts'
import { lowerPriority } from '#scheduling/thread-priority.ts'
import type { PoolJob } from '#threads/pool/pool-jobs.ts'

lowerPriority()
const pool = new PoolWork(workerData)

export default (job: PoolJob) => pool.work(job)
