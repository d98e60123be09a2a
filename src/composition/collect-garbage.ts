/** Collects all garbage of a thread's heap, at moments at which V8 has no reason of its own to do it. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Stops this thread for some 15 ms. The flavor `last-resort` takes some 45 ms: it also packs what is left and returns free
 * memory to the system. `composition/v8-tuning.ts` lets every thread call the collector. In a process without that tuning a
 * new context is made for the call; the context itself is garbage afterwards.
 */
export function collectGarbage(flavor: 'regular' | 'last-resort'): void {
  setFlagsFromString('--expose-gc')
  const collect = globalThis.gc ?? (runInNewContext('gc') as NodeJS.GCFunction)
  collect({ type: 'major', execution: 'sync', flavor })
}
