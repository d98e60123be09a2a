/** API schemas of role assignments, in the form in which a decision point lists them (conditions.md 10.7). */
import { Type } from 'typebox'
import { LONG_KEY_BYTES_MAX } from '#model/limits.ts'
import { moment } from '#model/wire/common-fields.ts'
import { pagingQuery } from '#model/wire/paging.ts'

/** A filter that is an empty text matches nothing. */
const Filter = Type.Optional(
  Type.String({
    maxLength: 2 * LONG_KEY_BYTES_MAX,
    description: 'A key or an id. Empty: matches no assignment.',
  }),
)

/** Parameters of the list. An assignment must match all filters. */
export const LocalRoleAssignmentsQuery = Type.Object({
  ...pagingQuery,
  page: Type.Optional(Type.Integer({ minimum: 1, default: 1, description: 'Number of the page, from 1.' })),
  user: Filter,
  role: Filter,
  tenant: Filter,
  /** Resource type of the instance. */
  resource: Filter,
  resource_instance: Filter,
})

export const LocalRoleAssignments = Type.Array(
  Type.Object({
    user: Type.String(),
    role: Type.String(),
    tenant: Type.String(),
    resource_instance: Type.Optional(Type.String({ description: '`type:key`. Absent for a tenant role.' })),
    expires_at: Type.Optional(moment('Expiration time. Absent: it does not expire.')),
  }),
)
