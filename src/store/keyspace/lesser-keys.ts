/**
 * Rows of API keys below the level `admin`. Releases without levels must reject such a key, and not treat it
 * as a key of level `admin` (administration.md K14). Its row therefore names an environment that does not
 * exist. The real environment is after the level, and the limits of a delegated key are after that. The row
 * of a key of level `admin` ends before the level.
 *
 * `fields`: names of the fields, in the order of `values`.
 */
import { UUID_BYTES } from './uuid-bytes.ts'

const NOWHERE = new Uint8Array(UUID_BYTES)

export function hideLesserKey(values: unknown[], fields: readonly string[]): void {
  const level = fields.indexOf('accessLevel')
  const environment = fields.indexOf('environmentId')
  const delegation = values[level + 1] ?? null
  if (values[level] === 'admin') {
    values.length = level
    return
  }
  values[level + 1] = values[environment]
  if (delegation !== null) values[level + 2] = delegation
  values[environment] = NOWHERE
}

export function showLesserKey(values: unknown[], fields: readonly string[]): void {
  const level = fields.indexOf('accessLevel')
  if (values.length <= level) {
    values[level] = 'admin'
    return
  }
  values[fields.indexOf('environmentId')] = values[level + 1]
  values[level + 1] = values[level + 2] ?? null
}
