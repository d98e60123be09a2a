/**
 * Completes an unfinished command for the scripts of the shells (`shell-scripts.ts`). The parser suggests
 * commands and options. Its other suggestions are removed, so that the shell can suggest files where a file
 * is expected.
 */
import { COMMANDS } from './commands.ts'

/**
 * First argument of a shell script that requests completions, and the flag that requests completions from the
 * parser.
 */
export const COMPLETION_FLAG = '--complete-words'
const PARSER_FLAG = '--get-yargs-completions'

const DESCRIPTIONS = new Map(COMMANDS.map(({ usage, description }) => [nameOf(usage), description]))

/**
 * Converts the words after the program name to arguments with which the parser prints completions. The last
 * word is unfinished.
 */
export function completionArguments(words: readonly string[]): string[] {
  // bash splits `--output=t` into three words.
  return [PARSER_FLAG, 'verdict', ...words.filter(word => word !== '=')]
}

/**
 * Converts the output of the parser to lines. Each line contains a name. For a command, the name is followed
 * by a tab and a description.
 */
export function completionLines(output: string, words: readonly string[]): string[] {
  const current = words.at(-1) ?? ''
  const isCommandGiven = words.slice(0, -1).some(word => DESCRIPTIONS.has(word))
  return output.split('\n').flatMap(offered => {
    // If an environment variable indicates certain shells, the parser appends a description to each name. It
    // is removed here.
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
