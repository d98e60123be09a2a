/** Limits of the attributes and context of one check (conditions.md 7). */
import type { JsonObject } from '#model/json-object.ts'
import { AuthzError } from './errors.ts'
import { SENT_ATTRIBUTES_BYTES_MAX, SENT_ATTRIBUTES_DEPTH_MAX } from './limits.ts'

/** Maximum number of JSON bytes per character, and per value that is not a string. */
const CHARACTER_BYTES_MAX = 6
const VALUE_BYTES_MAX = 26

/**
 * Throws `LIMIT_EXCEEDED` if the values are too large in total or nested too deeply.
 * O(`SENT_ATTRIBUTES_BYTES_MAX`), even for larger values.
 */
export function checkSent(values: readonly (JsonObject | null | undefined)[]): void {
  const walk = new MeasuringWalk()
  for (const value of values) if (value) walk.add(value, 1)
  if (walk.most <= SENT_ATTRIBUTES_BYTES_MAX) return
  const bytes = values.reduce((sum, value) => sum + (value ? Buffer.byteLength(JSON.stringify(value)) : 0), 0)
  if (bytes > SENT_ATTRIBUTES_BYTES_MAX) throw tooLong()
}

/**
 * Estimates the JSON size without serializing. The estimate must be fast, because members that the items of a
 * batch inherit are measured again for each item.
 */
class MeasuringWalk {
  /** Lower and upper bound of the JSON size. */
  #least = 0
  most = 0

  add(value: unknown, depth: number): void {
    if (typeof value === 'string') this.#count(value.length + 2, CHARACTER_BYTES_MAX * value.length + 2)
    else if (typeof value === 'bigint') this.#count(1, String(value).length)
    else if (typeof value !== 'object' || value === null) this.#count(1, VALUE_BYTES_MAX)
    else {
      if (depth > SENT_ATTRIBUTES_DEPTH_MAX) throw tooDeep()
      this.#count(2, 2)
      if (Array.isArray(value)) {
        for (const item of value) {
          this.#count(1, 1)
          this.add(item, depth + 1)
        }
        return
      }
      // Does not use `Object.entries`, which would create entries for all members before the first one is
      // examined.
      for (const name in value) {
        this.#count(name.length + 4, CHARACTER_BYTES_MAX * name.length + 4)
        this.add((value as Record<string, unknown>)[name], depth + 1)
      }
    }
  }

  #count(least: number, most: number): void {
    this.#least += least
    this.most += most
    // The lower bound counts one separator too many for each list. It can therefore be too high, but it is
    // never more than twice the actual size.
    if (this.#least > 2 * SENT_ATTRIBUTES_BYTES_MAX) throw tooLong()
  }
}

function tooLong(): AuthzError {
  return new AuthzError(
    'LIMIT_EXCEEDED',
    `the attributes and the context of a check can have at most ${SENT_ATTRIBUTES_BYTES_MAX} bytes as JSON; send only those that conditions read, or store them`,
    { limit: 'attributes' },
  )
}

function tooDeep(): AuthzError {
  return new AuthzError(
    'LIMIT_EXCEEDED',
    `the attributes and the context of a check can be nested at most ${SENT_ATTRIBUTES_DEPTH_MAX} levels deep`,
    { limit: 'attributes' },
  )
}
