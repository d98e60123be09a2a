/** Objects on which keys and members have a level, as requests name them. */
import { AuthzError } from '#model/errors.ts'
import { idFrom } from '#model/instance-reference.ts'
import type { AccessGrant } from '#model/principal.ts'
import type { ApiKeyObjectType } from '#model/wire/organization/api-key.ts'
import { type OrganizationReadContext, requireOrganization } from './organization-context.ts'

/** The organization, a project or an environment. */
export type GrantPlace = Pick<AccessGrant, 'projectId' | 'environmentId'>

/** Members of a request that name an object. */
interface ObjectNames {
  readonly organization_id?: string | null
  readonly project_id?: string | null
  readonly environment_id?: string | null
}

const NEEDED: Readonly<Record<ApiKeyObjectType, readonly string[]>> = {
  org: [],
  project: ['project_id'],
  env: ['project_id', 'environment_id'],
}

/**
 * Requires that a request names exactly the objects that an object of this type needs. `what`: the entity
 * that is scoped to the object. Throws `NOT_FOUND` for another organization, and `INVALID_INPUT`.
 */
export function requireNames(
  { records }: OrganizationReadContext,
  names: ObjectNames,
  objectType: ApiKeyObjectType,
  what: 'key' | 'permission',
): void {
  const { organization_id: organizationId } = names
  if (organizationId && idFrom(organizationId) !== requireOrganization(records).id) {
    throw new AuthzError('NOT_FOUND', `there is no organization ${JSON.stringify(organizationId)}`)
  }
  for (const name of ['project_id', 'environment_id'] as const) {
    const isNeeded = NEEDED[objectType].includes(name)
    if (Boolean(names[name]) === isNeeded) continue
    const message = `${name}: ${isNeeded ? 'required' : 'not allowed'} for a ${what} with object_type ${objectType}`
    throw new AuthzError('INVALID_INPUT', message)
  }
}

export function objectTypeOf({ projectId, environmentId }: GrantPlace): ApiKeyObjectType {
  if (environmentId !== null) return 'env'
  return projectId === null ? 'org' : 'project'
}
