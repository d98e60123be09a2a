/**
 * Grants that are made, changed or removed only if they are still as the caller has seen them: memberships, nestings, roles of groups,
 * role assignments, tuples. What callers see of a grant beside what it is of, is its end, so that is its tag. It is looked at where the
 * draft is about to write the grant, and the commit rests on the row that was looked at. So of two who have seen the same, one loses the
 * race, runs again, and finds another end.
 */
import { type Ends, presentEnd } from './fact-ends.ts'
import { changedMeanwhile, type GrantCondition, isAmong, thereMeanwhile } from './wanted-tags.ts'

/** `"2030-01-01T00:00:00.000Z"`, and `"null"` for what lasts. */
function tagOfGrant(granted: Ends): string {
  return `"${presentEnd(granted).expires_at ?? null}"`
}

/** Throws `PRECONDITION_FAILED` unless what is held is as the condition, if there is one, has it; null: nothing is held. */
export function checkGrant(condition: GrantCondition | undefined, held: Ends | null): void {
  if (condition === undefined) return
  const { tags, isNew } = condition
  const present = held && tagOfGrant(held)
  if (tags !== null && (present === null || !isAmong(present, tags))) throw changedMeanwhile(tags, present)
  if (isNew && present !== null) throw thereMeanwhile(present)
}
