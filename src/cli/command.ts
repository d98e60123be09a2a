/** A command is a function that adds itself to the parser. */
import type { Argv } from 'yargs'
import type { CommonOptions, Session } from './session.ts'

/** Adds a command to the parser under what help says of it; `run` gives the command its session. */
export type Command = (listing: CommandListing, parser: Argv<CommonOptions>, run: Run) => Argv<CommonOptions>

export type Run = <Options extends CommonOptions>(
  action: (session: Session, options: Options) => Promise<void>,
) => (options: Options) => Promise<void>

export interface CommandListing {
  /** Its name and its arguments, as the parser takes them. */
  readonly usage: string
  readonly description: string
  readonly load: () => Promise<Command>
}
