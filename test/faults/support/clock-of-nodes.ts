/** A clock for node processes, which a test can set. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { storeDirectory } from '#testing/processes/running-service.ts'

const CLOCK = new URL('./settable-clock.js', import.meta.url).href

/** Returns the settings of nodes that use the clock, a function that sets it, and one that reads it. */
export function settableClock() {
  const file = join(storeDirectory(), 'offset')
  let offset = 0
  const setClock = (offsetMs: number): void => {
    offset = offsetMs
    writeFileSync(file, String(offsetMs))
  }
  setClock(0)
  const settings = { NODE_OPTIONS: `--import=${CLOCK}`, CLOCK_OFFSET_FILE: file }
  return { settings, setClock, now: () => Date.now() + offset }
}
