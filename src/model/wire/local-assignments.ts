/** Role assignments as a decision point lists them (conditions, section 10.7). */
import { Type } from 'typebox'
import { moment, pagingQuery, Reference } from './building-blocks.ts'

/** Filters hold together. */
export const LocalRoleAssignmentsQuery = Type.Object({
  ...pagingQuery,
  user: Type.Optional(Reference),
  role: Type.Optional(Reference),
  tenant: Type.Optional(Reference),
  /** The type of the instance. */
  resource: Type.Optional(Reference),
  resource_instance: Type.Optional(Reference),
})

export const LocalRoleAssignments = Type.Array(
  Type.Object({
    user: Type.String(),
    role: Type.String(),
    tenant: Type.String(),
    resource_instance: Type.Optional(
      Type.String({ description: '`type:key`; absent where the role is held in the tenant.' }),
    ),
    expires_at: Type.Optional(moment('When it ends; absent: it lasts.')),
  }),
)
