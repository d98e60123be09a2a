/** API schemas of the lists of tenants for one user (conditions.md 10.1 and 10.2). */
import { Type, type Static } from 'typebox'
import { AttributeMap, optional } from '#model/wire/common-fields.ts'
import { UserInQuery } from './decision.ts'

/** A tenant in the response of a decision route. */
export const TenantInList = Type.Object({
  key: Type.String(),
  attributes: Type.Unsafe<Record<string, unknown>>({
    ...AttributeMap,
    description: 'As stored; `{}` if there are none.',
  }),
})

export const AllowedTenants = Type.Object({
  allowed_tenants: Type.Array(
    Type.Object({
      allow: Type.Literal(true),
      result: Type.Literal(true, { description: 'The same value, for older clients.' }),
      tenant: TenantInList,
    }),
    { description: 'Ascending by key. Tenants with a deny are omitted.' },
  ),
})

/** The list of allowed tenants, in the envelope of Open Policy Agent. */
export const OpaAllowedTenants = Type.Object({ result: AllowedTenants })

export const UserTenantsQuery = Type.Object({
  user: UserInQuery,
  context: optional(AttributeMap),
})
export type UserTenantsQuery = Static<typeof UserTenantsQuery>

export const UserTenants = Type.Array(TenantInList)
