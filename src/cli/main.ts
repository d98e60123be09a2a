/** The process of the command line: arguments in, output and an exit code out. Nothing imports this file. */
import { runCommandLine } from './command-line.ts'
import { EXIT } from './exit-codes.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever read has read enough, and the exit code says what it says.
  if (error.code === 'EPIPE') return
  process.stderr.write(`verdict: standard output cannot be written: ${error.message}\n`)
  process.exit(EXIT.usage)
})

// Set, not exited with: what is still on its way into a pipe gets there.
process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
})
