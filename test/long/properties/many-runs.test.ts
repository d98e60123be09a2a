/** The properties of `test/properties` on many more random values. The query makes each module load anew, for this file. */
import { readdirSync } from 'node:fs'
import { describe } from 'vitest'

const folder = new URL('../../properties/', import.meta.url)

for (const name of readdirSync(folder).filter(each => each.endsWith('.test.ts'))) {
  describe(name, async () => {
    await import(/* @vite-ignore */ `../../properties/${name}?many-runs`)
  })
}
