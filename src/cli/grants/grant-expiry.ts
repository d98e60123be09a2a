/**
 * Expiration time of a grant from the command line. It is given as a duration from now or as a point in time.
 */
import { Compile } from 'typebox/schema'
import type { Argv } from 'yargs'
import { expiryMoment, MOMENT_FORM } from '#model/wire/common-fields.ts'
import { UsageError } from '#cli/session/exit-codes.ts'

const [SECOND, MINUTE, HOUR, DAY, WEEK] = [1, 60, 3_600, 86_400, 604_800].map(unit => unit * 1_000) as [
  number,
  number,
  number,
  number,
  number,
]
const UNITS: Readonly<Record<string, number>> = { s: SECOND, m: MINUTE, h: HOUR, d: DAY, w: WEEK }
/**
 * Maximum of `--for`, which is ten years. A longer duration is probably a typo. `--until` has no such limit.
 */
const FOR_MAX = 3_653 * DAY

export const expiryArguments = <Given>(command: Argv<Given>) =>
  command
    .option('for', {
      type: 'string',
      describe: 'time until expiration: 90s, 30m, 8h, 5d or 2w; at most ten years',
    })
    .option('until', { type: 'string', describe: 'expiration time: 2031-01-31T18:00:00+01:00' })

/**
 * Returns the expiration time in the format of `toISOString`, or null if the grant does not expire. Throws
 * `UsageError` if an option is not valid.
 */
export function expiryOf(
  { for: time, until }: { readonly for?: string | undefined; readonly until?: string | undefined },
  now: number,
): string | null {
  if (time !== undefined && until !== undefined)
    throw new UsageError('--for and --until exclude each other; use one of them')
  if (time !== undefined) return new Date(now + millisecondsOf(time)).toISOString()
  if (until === undefined) return null
  if (!Compile(expiryMoment('')).Check(until))
    throw new UsageError(`--until: expected ${MOMENT_FORM}, got ${JSON.stringify(until)}`)
  if (Date.parse(until) <= now) throw new UsageError(`--until: ${until} is in the past; use a later time`)
  return new Date(until).toISOString()
}

function millisecondsOf(text: string): number {
  const [, count = '', unit = ''] = /^(\d{1,9})([a-z])$/.exec(text) ?? []
  const time = Number(count) * (UNITS[unit] ?? 0)
  if (time > 0 && time <= FOR_MAX) return time
  const form = 'a number followed by s, m, h, d or w, such as 8h, up to ten years'
  throw new UsageError(`--for: expected ${form}, got ${JSON.stringify(text)}`)
}
