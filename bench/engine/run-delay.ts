/**
 * How long this thread has been ready and not running, since others had its core: no work of ours, and none of anybody
 * we wait for.
 */
import { openSync, readSync } from 'node:fs'

const file = openSync('/proc/thread-self/schedstat', 'r')
const text = Buffer.alloc(64)

/** Milliseconds since the thread began; 1.4 µs. To be asked in the thread that imported this. */
export function runDelayMs(): number {
  const length = readSync(file, text, 0, text.length, 0)
  // Nanoseconds on a core, nanoseconds of waiting for one, turns.
  return Number(text.toString('latin1', 0, length).split(' ')[1]) / 1e6
}
