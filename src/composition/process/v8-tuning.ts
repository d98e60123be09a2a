/**
 * Tunes V8 in all threads of this process: how it collects new objects, and how much its compiler inlines.
 *
 * - Pretenuring is disabled. With it, V8 learns which allocation sites create long-lived objects, and then
 *   allocates these objects directly in the old generation. While a store is filled or a queue is full, V8
 *   learns this for sites whose objects are garbage a millisecond later. They then stay in the old generation
 *   until a full collection, and keep the objects alive that they reference. During a purge of rows, 4 of
 *   every 13 MB survived only for that reason, and each collection paused the thread for 5 ms. Without
 *   pretenuring, 0.1 MB survives and the pause is 2 ms.
 * - Helper threads for collections of the new generation are disabled, as are those that free the library's
 *   body buffers. Hardly any new object of the service survives a collection, so most of its time is spent on
 *   waking the helpers and waiting for them. If all cores are busy, the helpers also take time from a thread
 *   that handles requests. On a core that all threads share, a collection of 0.9 MB pauses an HTTP thread for
 *   0.19 ms with both kinds of helpers, for 0.12 ms without the first kind, and for 0.09 ms without both.
 *   Full collections still use helpers.
 * - Between two event-loop iterations, a thread collects when a sixth of the new generation is full; the
 *   default of V8 is four fifths. Near the peak, an HTTP thread then pauses 250 times per second for 0.07 ms
 *   instead of 57 times for 0.22 ms. This takes 5 ms more per second, which throughput does not show, but no
 *   pause is five times as long as a decision. At a quarter, the p99 latency is higher; at an eighth,
 *   throughput is 3 % lower.
 * - The compiler can inline 2.6 times as much bytecode into a function as by default. Otherwise a decision
 *   consists of about 25 functions. Each of them waits for its first instructions, because the library and
 *   the kernel have used the caches in between. This gains about 2 % of the throughput of single decisions;
 *   bulk requests are unchanged (`docs/performance/experiments.md`).
 * - Threads can request a collection (`src/composition/process/collect-garbage.ts`).
 */
import { setFlagsFromString } from 'node:v8'

/** Flags of the whole process. */
export const V8_FLAGS: readonly string[] = [
  '--expose-gc',
  '--max-inlined-bytecode-size-cumulative=2400',
  '--no-allocation-site-pretenuring',
  '--no-parallel-scavenge',
  '--minor-gc-task-trigger=16',
  '--no-concurrent-array-buffer-sweeping',
]

/** Must be called before other threads start. */
export function tuneV8(): void {
  for (const flag of V8_FLAGS) setFlagsFromString(flag)
}
