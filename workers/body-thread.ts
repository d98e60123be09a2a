/** The thread that reads large bodies for one HTTP thread. */
import { workerData } from 'piscina'
import { BodyWorker } from '#composition/wiring/body-work.ts'
import { lowerPriority } from '#scheduling/thread-priority.ts'
import type { BodyJob } from '#threads/pool/body-jobs.ts'

lowerPriority()
const bodies = new BodyWorker(workerData)

export default (job: BodyJob) => bodies.work(job)
