/**
 * Entry of `verdict serve` in the help. The command does not reach this code, because the program starts the
 * service before it parses the arguments (`src/verdict.js`).
 */
import type { Command } from '#cli/session/command.ts'
import { UsageError } from '#cli/session/exit-codes.ts'

export const serveCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      command.example(
        'STORE_URL=lmdb:/var/lib/verdict $0 serve',
        'runs on a separate directory until SIGTERM',
      ),
    run(() => Promise.reject(new UsageError('serve must be the first argument'))),
  )
