/** API schemas of the organization. There is one organization. */
import { type Static, Type } from 'typebox'
import { AttributeMap, Name, nullable, timeFields, Uuid } from '#model/wire/common-fields.ts'
import { pagingQuery, SearchText } from '#model/wire/paging.ts'
import { Reference, ShortKey } from '#model/wire/references.ts'

export const Organization = Type.Object({
  id: Uuid,
  key: ShortKey,
  ...timeFields,
  name: Name,
  is_enterprise: Type.Boolean({ description: 'Always false: there are no plans.' }),
  usage_limits: nullable(AttributeMap),
  settings: nullable(AttributeMap),
})
export type Organization = Static<typeof Organization>

/** List of organizations. It is always an array without an envelope. */
export const OrganizationList = Type.Array(Organization)

export const OrganizationPath = Type.Object({ org_id: Reference })
export type OrganizationPath = Static<typeof OrganizationPath>

export const OrganizationsQuery = Type.Object({ ...pagingQuery, search: Type.Optional(SearchText) })
export type OrganizationsQuery = Static<typeof OrganizationsQuery>
