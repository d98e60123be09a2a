/**
 * Rows of API keys below the level `admin`. Releases without levels must reject such a key, and not treat it
 * as a key of level `admin` (administration.md K14). Its row therefore names an environment that does not
 * exist. The real environment is after the level, which is the last field. The row of a key of level `admin`
 * contains neither.
 *
 * `fields`: names of the fields, in the order of `values`.
 */
import { UUID_BYTES } from './uuid-bytes.ts'

const NOWHERE = new Uint8Array(UUID_BYTES)

export function hideLesserKey(values: unknown[], fields: readonly string[]): void {
  if (values.at(-1) === 'admin') {
    values.length -= 1
    return
  }
  const environment = fields.indexOf('environmentId')
  values.push(values[environment])
  values[environment] = NOWHERE
}

export function showLesserKey(values: unknown[], fields: readonly string[]): void {
  const level = fields.length - 1
  if (values.length <= level) values[level] = 'admin'
  else values[fields.indexOf('environmentId')] = values[level + 1]
}
