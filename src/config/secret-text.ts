/**
 * Reads a secret from an environment variable, or from a file whose path is in a second variable. Both the
 * service and the command line use this.
 */
import { readFileSync } from 'node:fs'
import { utf8Text } from '#model/text/utf8-text.ts'

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** Returns the name of the second variable, which contains the path of a file with the secret. */
export function fileName(secret: string): string {
  return `${secret}_FILE`
}

/**
 * Returns the text of the secret. Returns undefined if neither variable is set. Throws an `Error` if both
 * variables are set or if the file cannot be read. The message of the error never contains the secret.
 */
export function secretText(name: string, environment: EnvironmentVariables): string | undefined {
  const [value, file] = [environment[name], environment[fileName(name)]]
  if (file === undefined) return value
  // An empty variable counts as unset, because a container cannot unset a variable that its image sets.
  if (value !== undefined && value !== '')
    throw new Error(`${fileName(name)} is also set; set only one of them`)
  return contentOf(fileName(name), file)
}

/**
 * Returns the content of the file. A line break at the end is removed, because editors and `echo` append one.
 */
function contentOf(name: string, file: string): string {
  try {
    return utf8Text(readFileSync(file)).replace(/\r?\n$/, '')
  } catch (error) {
    throw new Error(`${name} cannot be read: ${(error as Error).message}`, { cause: error })
  }
}
