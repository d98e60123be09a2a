/**
 * Operations that audit log entries can contain, which are the API calls that change data, and the labels of
 * these operations.
 */
import type { Option } from '../../parts/fields.tsx'
import type { Texts } from '../../texts/en.ts'

type Operations = Texts['access']['operations']

/** Operations that revoke access. */
const REVOKING: ReadonlySet<string> = new Set<keyof Operations>([
  'deleteRoleAssignment',
  'unassignRoles',
  'unassignUserRole',
  'removeGroupMember',
  'removeGroupRole',
  'unassignGroup',
  'deleteRelationshipTuple',
  'deleteRelationshipTuples',
  'removeTenantUser',
  'deleteUser',
  'deleteUsers',
  'deleteGroup',
  'deleteTenant',
  'deleteTenants',
  'deleteResourceInstance',
  'deleteResourceInstances',
])

/** Operation that the service records when it expires grants. */
const EXPIRY = 'expireGrants' satisfies keyof Operations

/**
 * Cause of an entry. `expired`: a grant expired. `revoked`: an API call revoked access. `call`: an API call
 * changed something else.
 */
type Cause = 'expired' | 'revoked' | 'call'

export function causeOf(operation: string): Cause {
  if (operation === EXPIRY) return 'expired'
  return REVOKING.has(operation) ? 'revoked' : 'call'
}

/**
 * Label of an operation. Null if this console does not know the operation, because it is older than the
 * service.
 */
export function wordsOf(operation: string, { access: { operations } }: Texts): string | null {
  return Object.hasOwn(operations, operation) ? operations[operation as keyof Operations] : null
}

/** Completes operations. The user can type their name or their label. */
export function operationsLike({ access: { operations } }: Texts) {
  return (search: string): Promise<readonly Option[]> => {
    const part = search.toLowerCase()
    const matches = Object.entries(operations).filter(
      ([id, words]) => id.toLowerCase().includes(part) || words.toLowerCase().includes(part),
    )
    return Promise.resolve(matches.map(([id, note]) => ({ id, note })))
  }
}
