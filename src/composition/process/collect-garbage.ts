/** Runs a full garbage collection of a thread's heap when V8 has no reason to start one. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Blocks this thread for about 15 ms. The flavor `last-resort` takes about 45 ms: it also compacts the heap
 * and returns free memory to the system. `composition/process/v8-tuning.ts` exposes the collector to every
 * thread. In a process without that tuning, the call creates a new context, which itself becomes garbage
 * afterwards.
 */
export function collectGarbage(flavor: 'regular' | 'last-resort'): void {
  setFlagsFromString('--expose-gc')
  const collect = globalThis.gc ?? (runInNewContext('gc') as NodeJS.GCFunction)
  collect({ type: 'major', execution: 'sync', flavor })
}
