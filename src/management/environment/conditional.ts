/**
 * Changes that are made only if a thing is still as the caller has seen it (RFC 9110, section 13.1.1). The thing is read, written out
 * and compared in the very draft that changes it, and the commit rests on all that was read for that. So of two who have seen
 * the same, one loses the race, runs again, and finds that the thing is another.
 */
import { hash } from 'node:crypto'
import { AuthzError } from '#model/errors.ts'
import { jsonText } from '#model/json-text.ts'
import type { ReadContext, WriteContext } from '#management/commands/context.ts'
import { isResumable, type Resumable } from '#management/commands/resumable.ts'
import { changedMeanwhile, isAmong, type WantedTags } from '#management/commands/wanted-tags.ts'

/** Characters of a tag: 128 bits and more, so that nobody makes two things with one. */
const TAG_LENGTH = 22

/** How a thing must be for a change of it to be made. */
export interface Condition<Reading extends string = string> {
  /** The operation that reads the thing, with the parameters of the change. */
  readonly thing: Reading
  readonly tags: WantedTags
}

/** The tag of a representation, in its quotes: strong, since it names these very bytes. */
export function tagOf(json: string | Uint8Array): string {
  return `"${hash('sha256', json, 'base64url').slice(0, TAG_LENGTH)}"`
}

interface Conditional<Answer> {
  readonly tags: WantedTags
  readonly read: (context: ReadContext) => unknown
  readonly write: (context: WriteContext) => Answer | Resumable<Answer>
}

/**
 * `write`, if the answer of `read` has one of the tags then. Throws `PRECONDITION_FAILED` if not. Of a thing that is not there,
 * `write` says what that means to it; a change that would make it is refused, too.
 */
export function conditional<Answer>({ tags, read, write }: Conditional<Answer>) {
  return function* (context: WriteContext): Resumable<Answer> {
    const present = yield* tagNow(context, read)
    if (present !== null && !isAmong(present, tags)) throw changedMeanwhile(tags, present)
    const given = write(context)
    const answer = isResumable(given) ? yield* given : given
    if (present === null) throw changedMeanwhile(tags, null)
    return answer
  }
}

/** The tag of the thing as the draft shows it; null: it is not there. */
function* tagNow(context: WriteContext, read: Conditional<unknown>['read']): Resumable<string | null> {
  try {
    return tagOf(jsonText(yield* context.records.resting(() => read(context))))
  } catch (error) {
    if (error instanceof AuthzError && error.code === 'NOT_FOUND') return null
    throw error
  }
}
