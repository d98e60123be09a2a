/** The tags for which a change is meant (RFC 9110, section 13.1), and how it is refused where what is there has another by now. */
import { isSameTag } from '#model/entity-tag.ts'
import { AuthzError } from '#model/errors.ts'

/** Those of representations that will do; `any`: something must be there, however it is. */
export type WantedTags = readonly string[] | 'any'

/** What must be so for a grant to be made, changed or removed. */
export interface GrantCondition {
  /** Of the grant as it is; null: no matter how it is. */
  readonly tags: WantedTags | null
  /** Whether there must be none yet. */
  readonly isNew: boolean
}

export function isAmong(tag: string, tags: WantedTags): boolean {
  return tags === 'any' || tags.some(sent => isSameTag(sent, tag))
}

function told(tags: readonly string[]): string {
  return tags.length === 1 ? tags[0]! : `one of ${tags.length} tags`
}

/** `present`: the tag of what is there; null: nothing is. */
export function changedMeanwhile(tags: WantedTags, present: string | null): AuthzError {
  const expected = tags === 'any' ? 'one' : told(tags)
  const found = present === null ? 'there is none' : `it is ${present} by now`
  return new AuthzError(
    'PRECONDITION_FAILED',
    `If-Match expects ${expected}, and ${found}: nothing was changed; read it again`,
    { tag: present },
  )
}

export function thereMeanwhile(present: string): AuthzError {
  return new AuthzError(
    'PRECONDITION_FAILED',
    `If-None-Match expects none, and there is one, ${present}: nothing was changed; read it again`,
    { tag: present },
  )
}
