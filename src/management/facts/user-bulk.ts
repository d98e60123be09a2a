/** Bulk operations on users (native.md B.11, D-26). */
import { forEachElement } from '#management/operations/bulk.ts'
import type { WriteContext } from '#management/drafts/context.ts'
import { requireUser } from '#management/drafts/lookups.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { deleteEach } from '#management/operations/delete-each.ts'
import type { BulkIdents } from '#model/wire/references.ts'
import type { Empty } from '#model/wire/common-fields.ts'
import type { UsersBulkCreate } from '#entities/user.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'
import { checkAssignments, createNewUser, writeUser } from './users.ts'

export function* createUsers(
  context: WriteContext,
  input: { readonly body: UsersBulkCreate },
): Resumable<Empty> {
  yield* forEachElement(input.body.operations, ['body', 'operations'], (body, place) => {
    checkAssignments(context, body, place)
    createNewUser(context, body)
  })
  return {}
}

/** Creates missing users. For existing users, replaces the profile and adds missing assignments. */
export function* replaceUsers(
  context: WriteContext,
  input: { readonly body: UsersBulkCreate },
): Resumable<Empty> {
  yield* forEachElement(input.body.operations, ['body', 'operations'], (body, place) => {
    checkAssignments(context, body, place)
    writeUser(context, context.records.get('user', rowKeys.user(body.key)), body)
  })
  return {}
}

/** A user that is named twice is removed once. */
export function deleteUsers(context: WriteContext, input: { readonly body: BulkIdents }): Resumable<Empty> {
  const { records } = context
  const remove = (ident: string) => {
    const user = requireUser(records, ident)
    records.delete(user, { kind: 'user-removed', user: user.key })
    return { id: user.id, names: [user.key] }
  }
  return deleteEach(context, input, remove, 'user')
}

export const writes = { createUsers, deleteUsers, replaceUsers }
