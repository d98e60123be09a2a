/** Parameters and envelopes of lists: pages, filters and flags (native.md B.1). */
import { Type, type TSchema } from 'typebox'
import { ASSIGNMENT_PAGE_SIZE_MAX, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from '#model/limits.ts'
import { moment } from './common-fields.ts'

/** Parameter of lists of grants. */
export const expiryFilter = {
  expires_before: Type.Optional(
    moment('Only grants that expire before this time. Examines every expiring grant.'),
  ),
}

export function pageSize(maximum: number) {
  return Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum,
      default: PAGE_SIZE_DEFAULT,
      description: 'Number of items per page.',
    }),
  )
}

/** Parameters of several lists. */
export const TotalCountFlag = Type.Boolean({
  description: 'Return an envelope with the total instead of an array.',
})

export const DetailFlag = Type.Boolean({ description: 'Include the related entities of each item.' })

export const SearchText = Type.String({
  description: 'Part of a text, ignoring case. `*` matches any characters.',
})

/**
 * OpenAPI extension for a property that is documented under another spelling and accepted for older clients.
 */
export const UNDESCRIBED = 'x-undescribed'

/** OpenAPI extension for a schema that stands for all query parameters whose names have this prefix. */
export const NAME_PREFIX = 'x-name-prefix'

/**
 * Filters of lists by attributes. For example, `attr_plan=gold` selects the items whose attribute `plan` has
 * that value. The names in this object do not include the prefix.
 */
export const AttributeFilters = Type.Unsafe<Readonly<Record<string, string>>>({
  type: 'object',
  additionalProperties: { type: 'string' },
  [NAME_PREFIX]: 'attr_',
  description:
    'Only items with these attributes: each parameter is `attr_` followed by the name of an attribute, and its value is the value of the ' +
    'attribute: a string, a number, `true` or `false`. Examines each item of the list.',
})

export const pagingQuery = {
  page: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER / ASSIGNMENT_PAGE_SIZE_MAX,
      default: 1,
      description: 'Number of the page, from 1.',
    }),
  ),
  per_page: pageSize(PAGE_SIZE_MAX),
}

export interface Paging {
  readonly page?: number
  readonly per_page?: number
  /**
   * Number of rows to skip. Used instead of a page number if one page contains entities of several
   * environments. Not part of the API.
   */
  readonly offset?: number
}

export function envelope<Schema extends TSchema>(item: Schema) {
  return Type.Object({
    data: Type.Array(item),
    total_count: Type.Integer({ minimum: 0 }),
    page_count: Type.Integer({ minimum: 0 }),
  })
}
