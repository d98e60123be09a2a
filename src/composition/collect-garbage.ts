/** Collections of all of a thread's heap, for moments at which V8 has no reason of its own. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Stops this thread for some 15 ms; as the last resort, which also packs what is left and gives the rest back, for some 45.
 * `composition/v8-tuning.ts` has every thread know how. In a process that is not tuned a context is made for it, which is garbage itself.
 */
export function collectGarbage(flavor: 'regular' | 'last-resort'): void {
  setFlagsFromString('--expose-gc')
  const collect = globalThis.gc ?? (runInNewContext('gc') as NodeJS.GCFunction)
  collect({ type: 'major', execution: 'sync', flavor })
}
