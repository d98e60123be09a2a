/** The process of the command line: arguments in, output and an exit code out. Nothing imports this file. */
import { runCommandLine } from './command-line.ts'
import { defectMessage, EXIT } from './exit-codes.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // Whoever read has read enough, and the exit code says what it says.
  if (error.code === 'EPIPE') return
  process.stderr.write(`verdict: standard output cannot be written: ${error.message}\n`)
  process.exit(EXIT.usage)
})

// Nobody can be told; the exit code says what it says.
process.stderr.on('error', () => {})

// What fails where no command waits for it.
process.on('uncaughtException', error => {
  process.stderr.write(defectMessage(error))
  process.exit(EXIT.defect)
})

// Set, not exited with: what is still on its way into a pipe gets there.
process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
})
