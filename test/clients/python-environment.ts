/** Python environments with published packages, which are kept in `.artifacts`. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'vitest'
import { API_KEY } from '#testing/processes/running-service.ts'
import { besideSuites, keptFolder, reasonAgainst, run } from './published.ts'

const QUIETLY = ['--quiet', '--disable-pip-version-check']

/** The interpreter of an environment with these packages. Skips the test if they are not available. */
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
  if (reason !== null) context.skip(`${packages[0]} is not available: ${reason}`)
  return python
}

/** Runs a script with the address of the service and more arguments, and returns its output. */
export function drive(python: string, script: string, address: string, ...keys: string[]): Promise<string> {
  const env = { PYTHONPATH: besideSuites('.'), PYTHONDONTWRITEBYTECODE: '1' }
  return run(python, [besideSuites(script), address, API_KEY, ...keys], { env })
}
