/**
 * Entry point of the command line, and of the service with `verdict serve`. The file is plain JavaScript,
 * because a runtime that is too old cannot read the other files. With such a runtime, it prints one clear
 * line and not a stack trace.
 */
import module from 'node:module'

const isSource = import.meta.url.endsWith('/src/verdict.js')
if (isSource && !('typescript' in process.features && process.features.typescript)) {
  const { node } = process.versions
  process.stderr.write(
    `verdict: Node ${node} does not run TypeScript; use Node 22.18 or newer (npm ci installs it)\n`,
  )
  process.exit(2)
}

if (process.argv[2] === 'serve') await import('./start.js')
else {
  const { compiledFolder, entryOf } = await import('#composition/process/quick-entry.js')
  module.enableCompileCache?.(compiledFolder)
  await import(await entryOf('cli', 'src/cli/main.ts'))
}
