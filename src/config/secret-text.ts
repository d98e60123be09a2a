/** A secret that may stand in a variable, or in a file that a second variable names: for the service and the command line. */
import { readFileSync } from 'node:fs'
import { utf8Text } from '#model/utf8-text.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The second name of a secret: the path of a file that holds it. */
export function fileName(secret: string): string {
  return `${secret}_FILE`
}

/**
 * The text of the secret; undefined: neither variable is set. Throws an `Error` that shows no secret where both are, or the file cannot
 * be read.
 */
export function secretText(name: string, environment: Environment): string | undefined {
  const [value, file] = [environment[name], environment[fileName(name)]]
  if (file === undefined) return value
  // Empty is as good as none: a container cannot take away what its image sets.
  if (value !== undefined && value !== '')
    throw new Error(`${fileName(name)} is set, too: one place is enough`)
  return contentOf(fileName(name), file)
}

/** Without the end of its last line, which editors and `echo` write. */
function contentOf(name: string, file: string): string {
  try {
    return utf8Text(readFileSync(file)).replace(/\r?\n$/, '')
  } catch (error) {
    throw new Error(`${name} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}
