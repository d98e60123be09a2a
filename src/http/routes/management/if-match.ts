/** `If-Match`: the tags of a thing for which a change of it is meant (RFC 9110, section 13.1.1). */
import { IF_MATCH } from '#http/message/header-fields.ts'
import type { WantedTags } from '#management/environment/conditional.ts'
import { AuthzError } from '#model/errors.ts'

const NAME = IF_MATCH.name.toLowerCase()
/** An element of the list with what is before the next one: a tag, weak or strong, or nothing. Blanks can be read in one way only. */
const ELEMENT = /[ \t]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y

/**
 * The tags that will do; null: the caller says nothing of them. Weak tags are left out, since they never match. Throws
 * `MALFORMED_REQUEST` for what is no list of tags.
 */
export function wantedTags(headers: ReadonlyMap<string, string>): WantedTags | null {
  const text = headers.get(NAME)
  if (text === undefined) return null
  if (text.trim() === '*') return 'any'
  const tags: string[] = []
  let count = 0
  ELEMENT.lastIndex = 0
  while (ELEMENT.lastIndex < text.length) {
    const [, weak, tag] = ELEMENT.exec(text) ?? malformed()
    if (tag === undefined) continue
    count += 1
    if (weak === undefined) tags.push(tag)
  }
  return count === 0 ? malformed() : tags
}

function malformed(): never {
  throw new AuthzError(
    'MALFORMED_REQUEST',
    'If-Match is a list of tags in quotes, as answers have them in ETag, or *',
  )
}
