/**
 * Users (native.md B.7). A user belongs to the environment. Role assignments determine the user's permissions
 * in a tenant.
 */
import { newIdentity, type ReadContext, type WriteContext } from '#management/drafts/context.ts'
import { Created } from '#management/operations/answer-marks.ts'
import { requireUser } from '#management/drafts/lookups.ts'
import { dependantsOf, removeDependants } from '#management/drafts/removal.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { assignRole, checkWanted, ensureRole } from './role-assignments.ts'
import type { Change } from '#model/change.ts'
import { AuthzError } from '#model/errors.ts'
import { idFrom } from '#model/instance-reference.ts'
import { type RecordFields, recordFrom, updated } from '#entities/entity.ts'
import type { UserRecord } from '#entities/records.ts'
import { type User, USER, type UserCreate, type UserUpdate } from '#entities/user.ts'
import { attributesOfUser } from '#model/user-attributes.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'
import { presentUser } from './user-presenter.ts'

export interface UserParams {
  readonly user_id: string
}

export function* createUser(context: WriteContext, input: { readonly body: UserCreate }): Resumable<User> {
  checkAssignments(context, input.body, ['body'])
  return yield* presentUser(context, createNewUser(context, input.body))
}

/**
 * Creates the user with its assignments. `DUPLICATE_ENTITY` is thrown only if no other error applies
 * (native.md D-38).
 */
export function createNewUser(context: WriteContext, body: UserCreate): UserRecord {
  const taken = context.records.get('user', rowKeys.user(body.key))
  const user = addUser(context, body)
  for (const wanted of body.role_assignments ?? []) assignRole(context, user, wanted)
  if (taken) throw new AuthzError('DUPLICATE_ENTITY', `there is a user ${JSON.stringify(body.key)} already`)
  return user
}

/** Checks the assignments in a user's body for rules that schemas cannot express. */
export function checkAssignments(
  context: WriteContext,
  body: UserCreate,
  place: readonly (string | number)[],
): void {
  const wanted = body.role_assignments ?? []
  wanted.forEach((assignment, index) =>
    checkWanted(context, assignment, [...place, 'role_assignments', index]),
  )
}

/** Adds a user that does not exist yet. */
export function addUser(context: WriteContext, body: UserCreate): UserRecord {
  const user: UserRecord = {
    kind: 'user',
    ...newIdentity(context, body.key),
    ...recordFrom(USER, body),
  }
  context.records.put(user, userChange(user))
  return user
}

/** Creates the user, or replaces its profile and adds missing assignments, with their expiration times. */
export function* replaceUser(
  context: WriteContext,
  input: { readonly params: UserParams; readonly body: UserCreate },
): Resumable<User | Created<User>> {
  checkAssignments(context, input.body, ['body'])
  const found = findForReplacement(context, input.params.user_id, input.body.key)
  const user = writeUser(context, found, input.body)
  const presented = yield* presentUser(context, user)
  return found ? presented : new Created(presented)
}

/**
 * The path names the user to replace. A missing user is created under the key of the body, so both keys must
 * be equal.
 */
function findForReplacement(context: WriteContext, reference: string, key: string): UserRecord | null {
  const found = context.records.get('user', rowKeys.user(key))
  if (reference === key || (found && idFrom(reference) === found.id)) return found
  throw new AuthzError(
    'INVALID_INPUT',
    `the path names user ${JSON.stringify(reference)}, but the body names ${JSON.stringify(key)}`,
  )
}

/** Replaces `found` by the body, or creates the user if `found` is null. Then adds the roles of the body. */
export function writeUser(context: WriteContext, found: UserRecord | null, body: UserCreate): UserRecord {
  const user = found ? changeUser(context, found, recordFrom(USER, body)) : addUser(context, body)
  for (const wanted of body.role_assignments ?? []) ensureRole(context, user, wanted)
  return user
}

/** Updates a user. Each field in the body replaces the whole old value, and null clears it. */
export function* updateUser(
  context: WriteContext,
  input: { readonly params: UserParams; readonly body: UserUpdate },
): Resumable<User> {
  const user = requireUser(context.records, input.params.user_id)
  return yield* presentUser(context, changeUser(context, user, updated(USER, user, input.body)))
}

function changeUser(context: WriteContext, user: UserRecord, fields: RecordFields<typeof USER>): UserRecord {
  const changed = { ...user, ...fields, updatedAt: context.now }
  context.records.put(changed, userChange(changed))
  return changed
}

function userChange(user: UserRecord): Change {
  return { kind: 'user-put', user: user.key, attributes: attributesOfUser(user) }
}

export function getUser(context: ReadContext, input: { readonly params: UserParams }): Resumable<User> {
  return presentUser(context, requireUser(context.records, input.params.user_id))
}

export function deleteUser(context: WriteContext, input: { readonly params: UserParams }): void {
  removeUser(context, requireUser(context.records, input.params.user_id))
}

/** Removes a user and the user's assignments (native.md C.7). */
export function removeUser(context: WriteContext, user: UserRecord): void {
  context.records.delete(user, { kind: 'user-removed', user: user.key })
  removeDependants(context, [dependantsOf(user)])
}

export const reads = { getUser }

export const writes = { createUser, deleteUser, replaceUser, updateUser }
