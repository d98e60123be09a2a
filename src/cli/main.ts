/**
 * Entry module of the command line: passes the arguments to the commands and sets the exit code. No other
 * file imports this module.
 */
import { runCommandLine } from '#cli/command-line/command-line.ts'
import { defectMessage, EXIT } from '#cli/session/exit-codes.ts'

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The program that reads the output has closed it. The exit code still contains the result.
  if (error.code === 'EPIPE') return
  process.stderr.write(`verdict: standard output cannot be written: ${error.message}\n`)
  process.exit(EXIT.usage)
})

// Standard error cannot be written. The exit code still contains the result.
process.stderr.on('error', () => {})

// Handles errors that are thrown outside of the awaited code of a command.
process.on('uncaughtException', error => {
  process.stderr.write(defectMessage(error))
  process.exit(EXIT.defect)
})

// The exit code is set without calling `process.exit`, so that pending output to a pipe is still written.
process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
})
