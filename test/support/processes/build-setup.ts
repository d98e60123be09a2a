/** Rebuilds an outdated build before all tests, because threads and processes run the build. */
import { build } from '../../../packaging/build.ts'
import { isConsoleBuilt } from '../../../packaging/build-console.ts'
import { isBuilt } from '#composition/process/built-form.ts'

export default async function setup(): Promise<void> {
  if (!isBuilt() || !isConsoleBuilt()) await build()
}
