/**
 * Entity tags in the preconditions of a change (RFC 9110, section 13.1), and the errors if the entity has
 * another tag.
 */
import { isSameTag } from '#model/entity-tag.ts'
import type { ExpectedTags } from '#management/drafts/context.ts'
import { AuthzError } from '#model/errors.ts'

export function matchesAny(tag: string, tags: ExpectedTags): boolean {
  return tags === 'any' || tags.some(sent => isSameTag(sent, tag))
}

function tagText(tags: readonly string[]): string {
  return tags.length === 1 ? tags[0]! : `one of ${tags.length} tags`
}

/**
 * Error for an entity whose tag does not match. `present` is its current tag; null if the entity does not
 * exist.
 */
export function tagMismatch(tags: ExpectedTags, present: string | null): AuthzError {
  const expected = tags === 'any' ? 'an existing entity' : tagText(tags)
  const found = present === null ? 'it does not exist' : `the current tag is ${present}`
  return new AuthzError(
    'PRECONDITION_FAILED',
    `If-Match expects ${expected}, but ${found}; nothing was changed, read the entity again`,
    { tag: present },
  )
}

export function alreadyExists(present: string): AuthzError {
  return new AuthzError(
    'PRECONDITION_FAILED',
    `If-None-Match expects that the entity does not exist, but it exists with tag ${present}; nothing was changed, read it again`,
    { tag: present },
  )
}
