/**
 * Explains errors in a command line in more detail than the parser, which only counts arguments and suggests
 * no similar names.
 */
import { nearestName } from '#model/nearest-name.ts'

const TOO_FEW = /^Not enough non-option arguments: got (\d+), need at least \d+$/
const UNKNOWN = /^Unknown (?:argument|command)s?: (.*)$/s

const INVALID = /^ {2}Argument: (\S+), Given: (.*), Choices: (.*)$/m

/**
 * Returns a message for an error of the parser. If the message of the parser is sufficient, it is returned
 * unchanged. `help`: help of the command, if the parser recognized the command.
 */
export function usageMessage(message: string, args: readonly string[], help: string): string {
  // The first line of the help contains the command and its arguments.
  const usage = help.trimStart().split('\n', 1)[0] ?? ''
  const words = usage.split(' ').filter(word => /^\w/.test(word))
  const called = words.join(' ')
  const tooFew = TOO_FEW.exec(message)
  if (tooFew) {
    const missing = [...usage.matchAll(/<[^>]+>/g)].map(([name]) => name).slice(Number(tooFew[1]))
    if (missing.length > 0) return `${listed(missing)} missing: ${usage}; see ${called} --help`
  }
  const [, name, given, choices] = INVALID.exec(message) ?? []
  if (name !== undefined) {
    const option = help.includes(`--${name}`) ? `--${name}` : name
    return `${option}: expected one of ${choices}, got ${given}; see ${called} --help`
  }
  const [first] = UNKNOWN.exec(message)?.[1]?.split(', ') ?? []
  return first === undefined ? message : unknownMessage(first, args, { usage, called, help })
}

interface Called {
  readonly usage: string
  /** The words of the called command. */
  readonly called: string
  readonly help: string
}

function unknownMessage(given: string, args: readonly string[], { usage, called, help }: Called): string {
  if (args.some(arg => arg === `--${given}` || arg.startsWith(`--${given}=`))) {
    const options = Array.from(help.matchAll(/^ .*?--([\w-]+)/gm), ([, name = '']) => `--${name}`)
    const near = nearestName(`--${given}`, options)
    return `--${given}: unknown option of ${called}${hint(near, called)}`
  }
  if (!help.includes('\nCommands:\n')) return `${JSON.stringify(given)} is an unexpected argument: ${usage}`
  const start = `  ${called} `
  const names = help
    .split('\n')
    .flatMap(line => (line.startsWith(start) ? line.slice(start.length).split(' ', 1) : []))
  return `unknown command ${JSON.stringify(`${called} ${given}`)}${hint(nearestName(given, names), called)}`
}

function listed(names: readonly string[]): string {
  const [last = ''] = names.slice(-1)
  return names.length === 1 ? `${last} is` : `${names.slice(0, -1).join(', ')} and ${last} are`
}

function hint(near: string | null, called: string): string {
  return near === null ? `; see ${called} --help` : `; did you mean ${near}?`
}
