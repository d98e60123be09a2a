/**
 * Completions of an unfinished command, for the scripts of the shells (`shell-scripts.ts`). The parser
 * provides commands and options. Its other suggestions are removed, so that the shell offers files where a
 * file is expected.
 */
import { COMMANDS } from './commands.ts'

/** The first argument in requests of a shell, and the corresponding flag of the parser. */
export const COMPLETION_FLAG = '--complete-words'
const PARSER_FLAG = '--get-yargs-completions'

const DESCRIPTIONS = new Map(COMMANDS.map(({ usage, description }) => [nameOf(usage), description]))

/**
 * Arguments that make the parser print completions of these words. The words are those after the program
 * name; the last one is unfinished.
 */
export function completionArguments(words: readonly string[]): string[] {
  // bash splits `--output=t` into three words.
  return [PARSER_FLAG, 'verdict', ...words.filter(word => word !== '=')]
}

/**
 * Converts the output of the parser to lines. Each line is a name; for a command, a tab and its description
 * follow.
 */
export function completionLines(output: string, words: readonly string[]): string[] {
  const current = words.at(-1) ?? ''
  const isCommandGiven = words.slice(0, -1).some(word => DESCRIPTIONS.has(word))
  return output.split('\n').flatMap(offered => {
    // For some shells, which the parser detects by environment variables, it appends descriptions.
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
