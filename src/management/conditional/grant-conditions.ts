/**
 * Preconditions of changes to grants: memberships, nested groups, roles of groups, role assignments and
 * tuples. The only variable attribute of a grant is its expiration time, so that is its `ETag`. It is
 * compared when the draft is about to write the grant, and the commit requires the compared row. If two
 * clients have seen the same state, one of them gets a conflict, its command runs again, and the comparison
 * fails.
 */
import { type Expiring, presentExpiry } from '#management/drafts/fact-expiry.ts'
import { tagMismatch, matchesAny, alreadyExists } from './tag-match.ts'
import type { GrantCondition } from '#management/drafts/context.ts'

/** Tag of a grant: `"2030-01-01T00:00:00.000Z"`, or `"null"` for a grant that does not expire. */
function tagOfGrant(granted: Expiring): string {
  return `"${presentExpiry(granted).expires_at ?? null}"`
}

/**
 * Throws `PRECONDITION_FAILED` if there is a condition and the grant does not meet it. `held` is the current
 * grant, or null if there is none.
 */
export function checkGrant(condition: GrantCondition | undefined, held: Expiring | null): void {
  if (condition === undefined) return
  const { tags, isNew } = condition
  const present = held && tagOfGrant(held)
  if (tags !== null && (present === null || !matchesAny(present, tags))) throw tagMismatch(tags, present)
  if (isNew && present !== null) throw alreadyExists(present)
}
