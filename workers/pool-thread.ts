/** A thread of the pool beside an HTTP thread. */
import { PoolWork } from '#composition/pool-work.ts'
import type { PoolJob } from '#threads/pool/pool-jobs.ts'

const pool = new PoolWork()

export default (job: PoolJob) => pool.work(job)
