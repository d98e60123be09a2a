/** What an entry says was done: the calls of the interface that change something, and what their names mean. */
import type { Option } from '../../parts/fields.tsx'
import type { Texts } from '../../texts/en.ts'

type Operations = Texts['access']['operations']

/** Calls that take access away. */
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

/** What the service does when grants come to their end. */
const EXPIRY = 'expireGrants' satisfies keyof Operations

/** `expired`: a grant ended by itself; `revoked`: a call took it away; `call`: a call changed something else. */
type Cause = 'expired' | 'revoked' | 'call'

export function causeOf(operation: string): Cause {
  if (operation === EXPIRY) return 'expired'
  return REVOKING.has(operation) ? 'revoked' : 'call'
}

/** In words; null: this console is older than the service. */
export function wordsOf(operation: string, { access: { operations } }: Texts): string | null {
  return Object.hasOwn(operations, operation) ? operations[operation as keyof Operations] : null
}

/** By name or by words. */
export function operationsLike({ access: { operations } }: Texts) {
  return (search: string): Promise<readonly Option[]> => {
    const part = search.toLowerCase()
    const matches = Object.entries(operations).filter(
      ([id, words]) => id.toLowerCase().includes(part) || words.toLowerCase().includes(part),
    )
    return Promise.resolve(matches.map(([id, note]) => ({ id, note })))
  }
}
