/** Preconditions `If-Match` and `If-None-Match` of changes (RFC 9110, section 13.1). */
import { GRANT_IF_NONE_MATCH, IF_MATCH } from '#http/message/header-fields.ts'
import type { GrantCondition, ExpectedTags } from '#management/drafts/context.ts'
import { AuthzError } from '#model/errors.ts'

const NAME = IF_MATCH.name.toLowerCase()
const NEW_NAME = GRANT_IF_NONE_MATCH.name.toLowerCase()
/**
 * Matches one element of the list with its comma: a weak tag, a strong tag, or nothing. The pattern can match
 * blanks in only one way, so it cannot backtrack.
 */
const ELEMENT = /[ \t]*(?:(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y

/**
 * Returns the tags in `If-Match`, or null if the header is absent. Weak tags count as strong ones: the tags
 * of this service identify the exact content, but proxies can change them to weak ones. Throws
 * `MALFORMED_REQUEST` if the header is not a list of tags.
 */
export function expectedTags(headers: ReadonlyMap<string, string>): ExpectedTags | null {
  const text = headers.get(NAME)
  if (text === undefined) return null
  if (text.trim() === '*') return 'any'
  const tags: string[] = []
  ELEMENT.lastIndex = 0
  while (ELEMENT.lastIndex < text.length) {
    const [, tag] = ELEMENT.exec(text) ?? malformed()
    if (tag !== undefined) tags.push(tag)
  }
  return tags.length === 0 ? malformed() : tags
}

/**
 * Precondition for the grant that the request changes; null if there is none. For removals, `If-None-Match`
 * is ignored.
 */
export function grantCondition(
  headers: ReadonlyMap<string, string>,
  grant: 'made' | 'removed',
): GrantCondition | null {
  const tags = expectedTags(headers)
  const text = grant === 'made' ? headers.get(NEW_NAME) : undefined
  if (text !== undefined && text.trim() !== '*')
    throw new AuthzError('MALFORMED_REQUEST', 'If-None-Match must be *: the grant must not exist')
  const isNew = text !== undefined
  return tags === null && !isNew ? null : { tags, isNew }
}

function malformed(): never {
  throw new AuthzError('MALFORMED_REQUEST', 'If-Match must be * or a list of quoted tags from ETag headers')
}
