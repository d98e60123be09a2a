/** Pool thread that serves one HTTP thread. */
import { PoolWork } from '#composition/wiring/pool-work.ts'
import type { PoolJob } from '#threads/pool/pool-jobs.ts'

const pool = new PoolWork()

export default (job: PoolJob) => pool.work(job)
