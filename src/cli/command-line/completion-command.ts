/** `verdict completion`: prints the script for shell completion of commands and options. */
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command } from '#cli/session/command.ts'
import { UsageError } from '#cli/session/exit-codes.ts'
import { completionScript, type Shell, SHELLS } from './shell-scripts.ts'

export const completionCommand: Command = ({ usage, description }, parser, run) =>
  parser.command(
    usage,
    description,
    command =>
      command
        .positional('shell', { choices: SHELLS, describe: 'name of the shell; default: the shell in SHELL' })
        .example('$0 completion bash >> ~/.bashrc', 'takes effect in the next shell')
        .example('$0 completion zsh >> ~/.zshrc', 'the same for zsh')
        .example('$0 completion fish >> ~/.config/fish/config.fish', 'the same for fish'),
    run(async (session, { shell }) => {
      const { env, stdout } = session.streams
      const own = basename(env['SHELL'] ?? '')
      const wanted = shell ?? SHELLS.find(each => each === own)
      if (wanted === undefined) {
        throw new UsageError(
          `the shell is unknown; use ${SHELLS.map(each => `verdict completion ${each}`).join(', ')}`,
        )
      }
      stdout.write(`${completionScript(wanted satisfies Shell, thisProgram())}\n`)
    }),
  )

/**
 * Returns the command that runs this program. It contains the path of the current runtime, because the `node`
 * in `PATH` could be too old.
 */
function thisProgram(): string[] {
  const entry = new URL('bin/verdict.js', import.meta.resolve('#package.json'))
  return [process.execPath, '--disable-warning=ExperimentalWarning', fileURLToPath(entry)]
}
