/** Types of commands. A command is a function that adds itself to the parser. */
import type { Argv } from 'yargs'
import type { CommonOptions, Session } from './session.ts'

/**
 * Adds a command with its usage and description to the parser. `run` opens the session and executes the
 * command.
 */
export type Command = (listing: CommandListing, parser: Argv<CommonOptions>, run: Run) => Argv<CommonOptions>

export type Run = <Options extends CommonOptions>(
  action: (session: Session, options: Options) => Promise<void>,
) => (options: Options) => Promise<void>

export interface CommandListing {
  /** Name and arguments in the syntax of the parser. */
  readonly usage: string
  readonly description: string
  readonly load: () => Promise<Command>
}
