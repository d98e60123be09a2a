/** Runs `test/properties` with many more random values, in parts that workers can run in parallel. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe } from 'vitest'

const folder = new URL('../../properties/', import.meta.url)
const names = readdirSync(folder).filter(name => name.endsWith('.test.ts'))
const PARTS = 3

/** Modules that start a service. Its connections would time out while other modules occupy the thread. */
const overHttp = names.filter(name => readFileSync(new URL(name, folder), 'utf8').includes('Service('))
const inProcess = names.filter(name => !overHttp.includes(name))

/** Declares the tests of every third module without a service, or of all modules with a service. */
export function manyRuns(part: 0 | 1 | 2 | 'over HTTP'): void {
  const chosen = part === 'over HTTP' ? overHttp : inProcess.filter((_, index) => index % PARTS === part)
  for (const name of chosen) {
    describe(name, async () => {
      // The query makes Node load the module again.
      await import(/* @vite-ignore */ `../../properties/${name}?many-runs`)
    })
  }
}
