/** Permissions of members and limits of API keys: their options and their texts. */
import { MEMBER_LEVELS, type MemberGrant, type MemberPermission } from '#model/wire/organization/member.ts'
import type { Session } from '#cli/session/session.ts'

const LIMIT = { type: 'string' } as const

/** Options that limit a permission or an API key of an environment. */
export const LIMIT_OPTIONS = {
  tenants: { ...LIMIT, describe: 'limits it to these tenants of the environment, separated by commas' },
  roles: {
    ...LIMIT,
    describe: 'roles that its holder can give in these tenants, separated by commas: clerk,document#viewer',
  },
} as const

/** Options of a permission. `--project` and `--env` name its object. */
export const PERMISSION_OPTIONS = {
  level: { type: 'string', choices: MEMBER_LEVELS, demandOption: true, describe: 'access level' },
  ...LIMIT_OPTIONS,
} as const

interface LimitOptions {
  readonly tenants?: string | undefined
  readonly roles?: string | undefined
}

interface ObjectOptions {
  readonly project?: string | undefined
  readonly env?: string | undefined
}

interface PermissionOptions extends ObjectOptions, LimitOptions {
  readonly level: MemberPermission['access_level']
}

/** The limits as requests contain them. An empty text is an empty list. */
export function limitsOf({ tenants, roles }: LimitOptions): Pick<MemberPermission, 'tenants' | 'roles'> {
  return {
    ...(tenants !== undefined && { tenants: namesIn(tenants) }),
    ...(roles !== undefined && { roles: namesIn(roles) }),
  }
}

function namesIn(list: string): string[] {
  return list.split(',').flatMap(name => name.trim() || [])
}

/**
 * Returns the permission on the environment or the project that the options name. Without these options, it
 * is the permission on the organization. Throws `UsageError` if the project of an environment is unknown.
 */
export async function permissionOf(session: Session, options: PermissionOptions): Promise<MemberPermission> {
  const { env, level, tenants, roles } = options
  const project = env === undefined ? options.project : await session.project()
  return {
    object_type: objectTypeOf({ project, env }),
    ...(project !== undefined && { project_id: project }),
    ...(env !== undefined && { environment_id: env }),
    access_level: level,
    ...limitsOf({ tenants, roles }),
  }
}

function objectTypeOf({ project, env }: ObjectOptions): MemberPermission['object_type'] {
  if (env !== undefined) return 'env'
  return project === undefined ? 'org' : 'project'
}

/** Names of an object. The names of ancestors that it does not have are null or absent. */
interface ObjectNames {
  readonly object_type: 'org' | 'project' | 'env'
  readonly project: string | null | undefined
  readonly environment: string | null | undefined
}

/** The scope of an API key, or the object of a permission. */
export function objectText({ object_type: type, project, environment }: ObjectNames): string {
  if (type === 'org') return 'everything'
  return type === 'project' ? `project ${project}` : `${environment} of project ${project}`
}

export function objectOfGrant({ object_type, project_key, environment_key }: MemberGrant): string {
  return objectText({ object_type, project: project_key, environment: environment_key })
}

/** Level of a key or a permission, and whether it is limited to tenants. */
export function levelText({
  access_level: level,
  tenants,
}: Pick<MemberGrant, 'access_level' | 'tenants'>): string {
  if (tenants === undefined) return level
  return `${level} in ${tenants.length} tenant${tenants.length === 1 ? '' : 's'}`
}

/** All permissions in one line. */
export function grantsText(grants: readonly MemberGrant[]): string {
  return grants.map(grant => `${levelText(grant)} on ${objectOfGrant(grant)}`).join(', ')
}
