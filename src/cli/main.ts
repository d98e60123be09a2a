/** The process of the command line: arguments in, output and an exit code out. Nothing imports this file. */
import { runCommandLine } from './command-line.ts'

// Set, not exited with: what is still on its way into a pipe gets there.
process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
})
