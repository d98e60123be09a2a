/** Operations on single actions of a resource type (native.md B.4). */
import { presentIdentity, type ReadContext, type WriteContext } from '#management/drafts/context.ts'
import { requireType } from '#management/drafts/lookups.ts'
import { pageOfArray } from '#management/paging/paging.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { withAttributes } from '#management/paging/selection.ts'
import type { ActionRecord, TypeRecord } from '#entities/records.ts'
import {
  type Action,
  ACTION,
  type ActionCreate,
  type ActionsQuery,
  type ActionUpdate,
} from '#entities/action.ts'
import { presented, recordFrom, updated } from '#entities/entity.ts'
import { removeActions } from './schema-removals.ts'
import { checkPartIsNew, putType, requirePart, withPart, type TypeParams } from './types.ts'

interface ActionParams extends TypeParams {
  readonly action_id: string
}

/** Returns the actions as a bare array in every case. */
export function listActions(
  context: ReadContext,
  input: { readonly params: TypeParams; readonly query: ActionsQuery },
): Action[] {
  const type = requireType(context.records, input.params.resource_id)
  const found = withAttributes(type.actions, input.query.attributes)
  return pageOfArray(found, input.query).map(action => presentAction(context, type, action))
}

export function createAction(
  context: WriteContext,
  input: { readonly params: TypeParams; readonly body: ActionCreate },
): Action {
  const { body } = input
  const type = requireType(context.records, input.params.resource_id)
  checkPartIsNew(type.actions, body.key, { what: 'action', type })
  const action: ActionRecord = {
    id: context.newId(),
    key: body.key,
    ...recordFrom(ACTION, body),
    createdAt: context.now,
    updatedAt: context.now,
  }
  putType(context, { ...type, actions: [...type.actions, action], updatedAt: context.now })
  return presentAction(context, type, action)
}

export function getAction(context: ReadContext, input: { readonly params: ActionParams }): Action {
  const { type, action } = locate(context.records, input.params)
  return presentAction(context, type, action)
}

export function updateAction(
  context: WriteContext,
  input: { readonly params: ActionParams; readonly body: ActionUpdate },
): Action {
  const { body } = input
  const { type, action } = locate(context.records, input.params)
  const changed = { ...action, ...updated(ACTION, action, body), updatedAt: context.now }
  putType(context, { ...type, actions: withPart(type.actions, changed), updatedAt: context.now })
  return presentAction(context, type, changed)
}

export function* deleteAction(
  context: WriteContext,
  input: { readonly params: ActionParams },
): Resumable<void> {
  const { type, action } = locate(context.records, input.params)
  yield* removeActions(context, type, new Set([action.key]))
}

function locate(records: RecordReader, params: ActionParams) {
  const type = requireType(records, params.resource_id)
  return { type, action: requirePart(type.actions, params.action_id, { what: 'action', type }) }
}

function presentAction(context: ReadContext, type: TypeRecord, action: ActionRecord): Action {
  return {
    ...presentIdentity(context.scope, action),
    ...presented(ACTION, action),
    resource_id: type.id,
    permission_name: `${type.key}:${action.key}`,
  }
}

export const reads = { getAction, listActions }

export const writes = { createAction, deleteAction, updateAction }
