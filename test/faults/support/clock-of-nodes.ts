/** A clock of nodes that a test can set. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { storeDirectory } from '#testing/processes/running-service.ts'

const CLOCK = new URL('./settable-clock.js', import.meta.url).href

/** The settings of nodes that go by it; how it is set so far from the true time; and what it shows. */
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
