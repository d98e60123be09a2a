/** API schemas of the limits of a delegated grant on an environment (administration.md section 6). */
import { Type } from 'typebox'
import { DELEGATED_ROLES_MAX, DELEGATED_TENANTS_MAX } from '#model/limits.ts'
import { optional, Uuid } from '#model/wire/common-fields.ts'
import { Reference, RoleName } from '#model/wire/references.ts'

/** Limits in requests. Null or absent: the grant is not limited. */
export const limitFields = {
  tenants: optional(
    Type.Array(Reference, { minItems: 1, maxItems: DELEGATED_TENANTS_MAX }),
    'Limits a grant on an environment to these tenants. The level is then `write_facts` or `read`.',
  ),
  roles: optional(
    Type.Array(RoleName, { maxItems: DELEGATED_ROLES_MAX }),
    'Roles that the holder of a limited grant can give and take. Required for `write_facts`.',
  ),
}

/** Limits in responses. Absent if the grant is not limited. */
export const shownLimits = {
  tenants: Type.Optional(
    Type.Array(Uuid, { description: 'Ids of the tenants to which the grant is limited.' }),
  ),
  roles: Type.Optional(
    Type.Array(RoleName, { description: 'Roles that the holder of the limited grant can give and take.' }),
  ),
}
