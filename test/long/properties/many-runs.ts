/**
 * The properties of `test/properties` on many more random values, in parts that workers run in parallel. The query in the path of
 * a module makes it load again.
 */
import { readdirSync } from 'node:fs'
import { describe } from 'vitest'

const folder = new URL('../../properties/', import.meta.url)
const names = readdirSync(folder).filter(name => name.endsWith('.test.ts'))
const PARTS = 4

/** Declares the tests of every fourth module, beginning with this one. */
export function manyRuns(part: 0 | 1 | 2 | 3): void {
  for (const name of names.filter((_, index) => index % PARTS === part)) {
    describe(name, async () => {
      await import(/* @vite-ignore */ `../../properties/${name}?many-runs`)
    })
  }
}
