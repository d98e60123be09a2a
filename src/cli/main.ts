/**
 * Process of the command line: passes arguments to the commands and sets the exit code. No other file imports
 * this one.
 */
import { runCommandLine } from './command-line.ts'
import { defectMessage, EXIT } from './exit-codes.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader has closed the output. The exit code still contains the result.
  if (error.code === 'EPIPE') return
  process.stderr.write(`verdict: standard output cannot be written: ${error.message}\n`)
  process.exit(EXIT.usage)
})

// Standard error is not readable. The exit code still contains the result.
process.stderr.on('error', () => {})

// Failures that no command awaits.
process.on('uncaughtException', error => {
  process.stderr.write(defectMessage(error))
  process.exit(EXIT.defect)
})

// Sets the code instead of exiting, so that pending output to a pipe is written.
process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
})
