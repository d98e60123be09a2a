/**
 * What may stand next in a command that is not finished, for the shells (`shell-scripts.ts`). The parser knows commands and options;
 * what it would offer besides is left out here, so that where a file belongs the shell offers files.
 */
import { COMMANDS } from './commands.ts'

/** The first argument with which a shell asks, and the parser's own word for that. */
export const COMPLETION_FLAG = '--complete-words'
const PARSER_FLAG = '--get-yargs-completions'

const DESCRIPTIONS = new Map(COMMANDS.map(({ usage, description }) => [nameOf(usage), description]))

/** Arguments with which the parser says what may follow on these words: those behind the name of the program, the unfinished one last. */
export function completionArguments(words: readonly string[]): string[] {
  // Of `--output=t`, bash makes three words.
  return [PARSER_FLAG, 'verdict', ...words.filter(word => word !== '=')]
}

/** What the parser says, as lines of a name, and for commands a tab and what they do. */
export function completionLines(said: string, words: readonly string[]): string[] {
  const current = words.at(-1) ?? ''
  const isCommandGiven = words.slice(0, -1).some(word => DESCRIPTIONS.has(word))
  return said.split('\n').flatMap(offered => {
    // For some shells, which it takes from its own environment, it adds descriptions.
    const name = offered.replace(/(\t|(?<!\\):).*$/, '')
    if (name === '' || !name.startsWith(current) || name.startsWith('-') !== current.startsWith('-'))
      return []
    const description = isCommandGiven ? undefined : DESCRIPTIONS.get(name)
    return [description === undefined ? name : `${name}\t${description}`]
  })
}

function nameOf(usage: string): string {
  return usage.split(' ', 1)[0] ?? ''
}
