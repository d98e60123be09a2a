/** The thread that reads large bodies for one HTTP thread. */
import { constants, setPriority } from 'node:os'
import { workerData } from 'piscina'
import { BodyWorker } from '#composition/wiring/body-work.ts'
import type { BodyJob } from '#threads/pool/body-jobs.ts'

// If cores are scarce, single decisions have priority. On Linux, the priority applies only to this thread; on
// other systems, it would apply to the process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
const bodies = new BodyWorker(workerData)

export default (job: BodyJob) => bodies.work(job)
