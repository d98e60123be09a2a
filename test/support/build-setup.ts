/** Before all tests: the built form is that of the present sources, since threads and processes of the service run it. */
import { build } from '../../packaging/build.ts'
import { isConsoleBuilt } from '../../packaging/build-console.ts'
import { isBuilt } from '#composition/built-form.ts'

export default async function setup(): Promise<void> {
  if (!isBuilt() || !isConsoleBuilt()) await build()
}
