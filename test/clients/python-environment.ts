/** Environments of Python with published packages, each kept beside the others under `.artifacts`. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'vitest'
import { keptFolder, reasonAgainst, run } from './published.ts'

const QUIETLY = ['--quiet', '--disable-pip-version-check']

/** The interpreter of an environment that has the packages, given with their versions; skips the test where they cannot be had. */
export async function pythonWith(
  context: TestContext,
  name: string,
  packages: readonly string[],
): Promise<string> {
  const folder = keptFolder(name)
  const python = join(folder, 'bin', 'python')
  const reason = await reasonAgainst(async () => {
    if (!existsSync(python)) await run('python3', ['-m', 'venv', folder])
    await run(python, ['-m', 'pip', 'install', ...QUIETLY, ...packages])
  })
  if (reason !== null) context.skip(`not to be had here: ${packages[0]}: ${reason}`)
  return python
}
