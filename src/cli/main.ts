/** The process of the command line: arguments in, output and an exit code out. Nothing imports this file. */
import { runCommandLine } from './command-line.ts'
import { defectMessage, EXIT } from './exit-codes.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader has closed the output. The exit code still says the result.
  if (error.code === 'EPIPE') return
  process.stderr.write(`verdict: standard output cannot be written: ${error.message}\n`)
  process.exit(EXIT.usage)
})

// Nobody reads the message. The exit code still says the result.
process.stderr.on('error', () => {})

// Failures that no command awaits.
process.on('uncaughtException', error => {
  process.stderr.write(defectMessage(error))
  process.exit(EXIT.defect)
})

// Set instead of exiting, so that output on its way into a pipe gets there.
process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
})
