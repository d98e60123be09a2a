/** A command is a function that adds itself to the parser. */
import type { Argv } from 'yargs'
import type { CommonOptions, Session } from './session.ts'

/** Adds a command to the parser; `run` gives the command its session. */
export type Command = (parser: Argv<CommonOptions>, run: Run) => Argv<CommonOptions>

export type Run = <Options extends CommonOptions>(
  action: (session: Session, options: Options) => Promise<void>,
) => (options: Options) => Promise<void>
