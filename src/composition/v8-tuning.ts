/**
 * How V8's collector treats what was just made, and how much its compiler inlines, in all threads of this process.
 *
 * - It learns which places of the code make what lives long, and from then on has those made among the old objects, at once.
 *   Where a store is filled or a queue runs full it learns that of places whose objects are garbage a millisecond later; they
 *   then lie among the old until all of the heap is collected, and keep alive what they point to. While rows were cleared
 *   away, 4 of every 13 MB survived for that reason alone, and each collection stopped the thread for 5 ms; without it 0.1 MB
 *   survives, and it stops for 2.
 * - Helper threads take a part of each collection of what is new, and free the library's buffers of bodies. Of ours hardly
 *   anything survives one, so that to wake them and wait for them is most of what it takes, and where all cores are at work they
 *   take theirs from a thread that answers. A collection of 0.9 MB stops an HTTP thread for 0.19 ms with both kinds of
 *   helpers, for 0.12 without the first, for 0.09 without both, on a core that all threads share. Collections of the whole heap
 *   have theirs still.
 * - Between two turns of its loop a thread collects once a sixth of the room for new objects is full, where V8 would
 *   wait for four fifths. In an HTTP thread that is 250 times a second 0.07 ms near the peak, and not 57 times 0.22: 5
 *   ms a second more, of which throughput shows nothing, but none is by itself five times as long as a decision takes.
 *   At a quarter p99 is higher, at an eighth throughput is 3 % lower.
 * - The compiler may inline 2.6 times the bytecode into a function that it would by default. Without that a decision is some 25
 *   functions, each of which waits for its own first instructions, because the library and the kernel have used the caches in
 *   between. Some 2 % of the throughput of single decisions; bulks are as they were (`docs/performance/experiments.md`).
 * - Threads may ask for a collection (`src/composition/collect-garbage.ts`).
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
