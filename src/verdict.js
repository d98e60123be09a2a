/**
 * The command line, or the service itself with `verdict serve`. Plain JavaScript, because a runtime that is too old cannot read the
 * rest; one clear line instead of its stack trace.
 */
import module from 'node:module'
import { fileURLToPath } from 'node:url'

const isSource = import.meta.url.endsWith('/src/verdict.js')
if (isSource && !('typescript' in process.features && process.features.typescript)) {
  const { node } = process.versions
  process.stderr.write(
    `verdict: Node ${node} does not run TypeScript; use Node 22.18 or newer (npm ci brings one)\n`,
  )
  process.exit(2)
}

/** Where the command line is: of several forms, the one that starts fastest and is of these sources. */
async function commandLine() {
  if (!isSource) return new URL('cli.js', import.meta.url)
  const root = new URL('..', import.meta.url)
  const { isUnchanged } = await import('#composition/source-stamp.js')
  if (process.env['VERDICT_FORM'] !== 'sources' && isUnchanged(fileURLToPath(root))) {
    // In the folder of this checkout, which whoever may write there owns anyhow.
    module.enableCompileCache?.(fileURLToPath(new URL('node_modules/.cache/compiled', root)))
    return new URL('dist/cli.js', root)
  }
  const { entry } = await import('#composition/built-form.ts')
  return entry('cli', 'src/cli/main.ts')
}

if (process.argv[2] === 'serve') await import('./start.js')
else await import((await commandLine()).href)
