/**
 * Runs commands for delegates, whose grant is limited to tenants and roles (administration.md section 6). The
 * draft of every command is checked before its commit, regardless of the operation: no path to a fact can
 * bypass the check.
 *
 * The check reads lists, and lists are not a requirement of a commit. A change of another caller that is made
 * concurrently counts as made afterwards, because such a caller has no ceiling. But two delegates could
 * together bring about what each of them must not. Therefore, a change of a delegate also writes the row of
 * its tenant: if another delegate changes facts there concurrently, the later command runs again. Derivations
 * never lead to another tenant.
 */
import type { WriteContext } from '#management/drafts/context.ts'
import type { Draft } from '#management/drafts/draft.ts'
import { isResumable, type Resumable } from '#scheduling/resumable.ts'
import { assert } from '#model/assert.ts'
import { AuthzError, ConflictError } from '#model/errors.ts'
import type { Delegation } from '#model/principal.ts'
import type { DerivationRecord, RecordKind, RoleRecord } from '#entities/records.ts'
import { rowKeyOf } from '#store/keyspace/keyspace.ts'
import { Ceiling } from './ceiling.ts'

/**
 * Kinds of records that commands of delegates write. Roles and relations belong to the groups API, which
 * creates those without which a grant of a group has no effect (native.md C.3).
 */
const WRITTEN: ReadonlySet<RecordKind> = new Set(['assignment', 'tuple', 'relation', 'role'])

/** The tenants that a delegate with these grants can see. */
export function tenantsOf(delegations: readonly Delegation[]): string[] {
  return delegations.flatMap(({ tenants }) => tenants)
}

/** Returns the command, limited to what the delegate can see and change. Null: the command itself. */
export function limitedTo<Answer>(
  delegations: readonly Delegation[] | null,
  command: (context: WriteContext) => Answer | Resumable<Answer>,
): (context: WriteContext) => Answer | Resumable<Answer> {
  if (delegations === null) return command
  return function* (context) {
    context.records.limitTo(tenantsOf(delegations))
    const result = command(context)
    const answer = isResumable(result) ? yield* result : result
    yield* checkWritten(context.records, delegations)
    return answer
  }
}

/** Throws `FORBIDDEN` if the draft changes something that the delegate must not change. */
function* checkWritten(records: Draft, delegations: readonly Delegation[]): Resumable<void> {
  const { sequence } = records
  for (const kind of records.writtenKinds()) {
    if (!WRITTEN.has(kind) && changes(records, kind)) throw forbidden(kind)
  }
  requireOnlyGroupParts(records)
  const ceiling = new Ceiling(records, rolesByTenant(delegations))
  const tenantIds = new Set<string>()
  for (const [before, after] of records.written('assignment')) {
    const assignment = (after ?? before)!
    tenantIds.add(assignment.tenantId)
    yield* ceiling.checkAssignment(assignment)
  }
  for (const [before, after] of records.written('tuple')) {
    const tuple = (after ?? before)!
    tenantIds.add(tuple.tenantId)
    yield* ceiling.checkTuple(tuple)
  }
  for (const id of tenantIds) {
    const tenant = records.byId('tenant', id)
    assert(tenant, 'the tenant of a fact exists')
    // After a pause, the lists can belong to different states. No single state would then have been checked.
    if (records.sequence !== sequence) throw new ConflictError(rowKeyOf(tenant))
    records.touch(tenant)
  }
}

/** Roles that a delegate can give and take in each tenant: those of all grants with this tenant. */
function rolesByTenant(delegations: readonly Delegation[]): ReadonlyMap<string, ReadonlySet<string>> {
  const ids = new Set(tenantsOf(delegations))
  const rolesIn = (id: string): string[] =>
    delegations.flatMap(({ tenants, roles }) => (tenants.includes(id) ? roles : []))
  return new Map([...ids].map(id => [id, new Set(rolesIn(id))]))
}

/** Whether the draft changes a record of that kind, and does not only write it again. */
function changes(records: Draft, kind: RecordKind): boolean {
  for (const [before, after] of records.written(kind)) if (before !== after) return true
  return false
}

/**
 * Requires that the draft creates only relations of the groups API, changes nothing of a role except its
 * derivations, and derives roles only over relations that it creates. Such a relation has no other tuples
 * than those of the draft.
 */
function requireOnlyGroupParts(records: Draft): void {
  const created = new Set<string>()
  for (const [before, after] of records.written('relation')) {
    if (after === null) throw forbidden('relation')
    if (before?.id === after.id) continue
    if (after.groupUse === null) throw forbidden('relation')
    created.add(`${after.typeId} ${after.key}`)
  }
  for (const [before, after] of records.written('role')) {
    if (after === null || !isSameButDerivations(before, after)) throw forbidden('role')
    const known = before?.grantedTo.entries ?? []
    const isAllowed = (entry: DerivationRecord): boolean =>
      known.includes(entry) || created.has(`${after.typeId} ${entry.relation}`)
    const isKept = known.every(entry => after.grantedTo.entries.includes(entry))
    if (!isKept || !after.grantedTo.entries.every(isAllowed)) throw forbidden('role')
  }
}

/**
 * Whether two states of a role differ at most in the entries of its derivations. Null: a role without effect.
 */
function isSameButDerivations(before: RoleRecord | null, after: RoleRecord): boolean {
  if (before === null) return after.permissions.length + after.extends.length === 0
  // The groups API copies a role together with the lists that it does not change.
  return (
    before.id === after.id &&
    before.permissions === after.permissions &&
    before.extends === after.extends &&
    before.grantedTo.guarded === after.grantedTo.guarded
  )
}

function forbidden(kind: RecordKind): AuthzError {
  const message = `this change would also change a ${kind}, which a grant that is limited to tenants does not permit`
  return new AuthzError('FORBIDDEN', message)
}
