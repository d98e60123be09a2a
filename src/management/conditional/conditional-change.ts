/**
 * Conditional changes: a change is made only if the entity still has an expected `ETag` (RFC 9110, section
 * 13.1.1). The draft that changes the entity also reads it and compares its tag. The commit succeeds only if
 * none of the rows that were read for the comparison has changed. If two clients send a change based on the
 * same state, the second commit has a conflict. Its command runs again, and now the comparison fails.
 */
import { hash } from 'node:crypto'
import { AuthzError } from '#model/errors.ts'
import { jsonText } from '#model/text/json-text.ts'
import type { ExpectedTags } from '#management/drafts/context.ts'
import type { Draft } from '#management/drafts/draft.ts'
import { isResumable, type Resumable } from '#scheduling/resumable.ts'
import { tagMismatch, matchesAny } from './tag-match.ts'

/** Length of a tag: at least 128 bits, so that collisions cannot be constructed. */
const TAG_LENGTH = 22

/** Precondition of a change. */
export interface Precondition<Reading extends string = string> {
  /** The operation that reads the entity, with the parameters of the change. */
  readonly thing: Reading
  readonly tags: ExpectedTags
}

/** The tag of a representation, in quotes. It is strong, because it identifies the exact bytes. */
export function tagOf(json: string | Uint8Array): string {
  return `"${hash('sha256', json, 'base64url').slice(0, TAG_LENGTH)}"`
}

/** The part of a context that conditions read. Contexts of environments and of the organization have it. */
interface DraftContext {
  readonly records: Draft
}

interface Conditional<Context extends DraftContext, Answer> {
  readonly tags: ExpectedTags
  readonly read: (context: NoInfer<Context>) => unknown
  readonly write: (context: Context) => Answer | Resumable<Answer>
}

/**
 * Returns a command that runs `write` if the result of `read` has one of the tags, and otherwise throws
 * `PRECONDITION_FAILED`. If the entity does not exist, errors of `write` take precedence; a `write` that
 * would create it is also rejected.
 */
export function conditional<Context extends DraftContext, Answer>({
  tags,
  read,
  write,
}: Conditional<Context, Answer>) {
  return function* (context: Context): Resumable<Answer> {
    const present = yield* tagNow(context, read)
    if (present !== null && !matchesAny(present, tags)) throw tagMismatch(tags, present)
    const given = write(context)
    const answer = isResumable(given) ? yield* given : given
    if (present === null) throw tagMismatch(tags, null)
    return answer
  }
}

/** The tag of the entity in the draft; null if it does not exist. */
function* tagNow<Context extends DraftContext>(
  context: Context,
  read: (context: Context) => unknown,
): Resumable<string | null> {
  try {
    return tagOf(jsonText(yield* context.records.resting(() => read(context))))
  } catch (error) {
    if (error instanceof AuthzError && error.code === 'NOT_FOUND') return null
    throw error
  }
}
