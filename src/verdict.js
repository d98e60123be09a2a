/**
 * The command line, or the service itself with `verdict serve`. Plain JavaScript, because a runtime that is too old cannot read the
 * rest; one clear line instead of its stack trace.
 */
import module from 'node:module'

const isSource = import.meta.url.endsWith('/src/verdict.js')
if (isSource && !('typescript' in process.features && process.features.typescript)) {
  const { node } = process.versions
  process.stderr.write(
    `verdict: Node ${node} does not run TypeScript; use Node 22.18 or newer (npm ci brings one)\n`,
  )
  process.exit(2)
}

if (process.argv[2] === 'serve') await import('./start.js')
else {
  const { compiledFolder, entryOf } = await import('#composition/quick-entry.js')
  module.enableCompileCache?.(compiledFolder)
  await import(await entryOf('cli', 'src/cli/main.ts'))
}
