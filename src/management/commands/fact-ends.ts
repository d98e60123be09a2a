/** When facts end: as callers say it, as answers show it, and as the engine hears of it. */
import { type OperationContext, presentInstant } from './context.ts'
import type { Filter } from './selection.ts'
import type { Ending } from '#model/change.ts'
import { AuthzError } from '#model/errors.ts'
import type { Instant } from '#model/records.ts'
import type { ListName } from '#store/view.ts'

/** What a body says of the end of what it grants. */
interface Granting {
  readonly expires_at?: string | null
}

/** What is granted until a moment; null: it lasts. */
export interface Ends {
  readonly expiresAt: Instant | null
}

/** What a grant has made of a fact: added it, given the one that was there another end, or left it as it was. */
export interface Granted<Record extends Ends> {
  readonly record: Record
  readonly outcome: 'added' | 'moved' | 'unchanged'
}

/** Null: what is granted lasts. */
export function endIn({ expires_at: end }: Granting): Instant | null {
  return typeof end === 'string' ? Date.parse(end) : null
}

/** What schemas cannot say: an end lies ahead. `place` is where the grant stands in the request. */
export function checkEnd(
  { now }: OperationContext,
  granting: Granting,
  place: readonly (string | number)[],
): void {
  const end = endIn(granting)
  if (end === null || end > now) return
  const times = `${presentInstant(end)} is past, here it is ${presentInstant(now)}`
  const msg = `must lie ahead: ${times}; name a later time, or null for what lasts`
  throw new AuthzError('INVALID_SHAPE', `expires_at: ${msg}`, {
    detail: [{ loc: [...place, 'expires_at'], msg, type: 'value_error' }],
  })
}

export function presentEnd({ expiresAt }: Ends) {
  return expiresAt === null ? {} : { expires_at: presentInstant(expiresAt) }
}

export function endingOf({ expiresAt }: Ends): Ending {
  return expiresAt === null ? {} : { until: expiresAt }
}

/** What ends before a moment: the facts that end at all are in a list, and each of them is looked at. */
export function endFilters(
  before: string | undefined,
  ending: () => ListName,
): readonly (Filter<Ends> | null)[] {
  if (before === undefined) return []
  const end = Date.parse(before)
  return [
    { lists: [ending()], matches: ({ expiresAt }) => expiresAt !== null },
    { lists: null, matches: ({ expiresAt }) => expiresAt !== null && expiresAt < end },
  ]
}
