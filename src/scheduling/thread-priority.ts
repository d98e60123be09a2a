/** Priority of a thread among the threads of the process. */
import { constants, setPriority } from 'node:os'

/**
 * Lowers the priority of the calling thread. When an HTTP thread has work, the kernel then interrupts this
 * thread instead of letting it use up its time slice. A tenth of the processor time remains for this thread
 * even if all cores are busy, because it can hold the lock of an index. On Linux, the priority applies only
 * to the calling thread; on other systems, it would apply to the process, so it is not changed there.
 */
export function lowerPriority(): void {
  if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
}
