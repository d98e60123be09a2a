/**
 * Action groups: names for several actions of a resource type. They are stored for clients and do not affect
 * decisions (native.md B.4).
 */
import { presentIdentity, type ReadContext, type WriteContext } from '#management/drafts/context.ts'
import { requireType } from '#management/drafts/lookups.ts'
import { pageOfArray } from '#management/paging/paging.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { withAttributes } from '#management/paging/selection.ts'
import type { ActionGroupRecord, TypeRecord } from '#entities/records.ts'
import {
  ACTION,
  type ActionGroup,
  type ActionGroupCreate,
  type ActionGroupUpdate,
  type ActionsQuery,
} from '#entities/action.ts'
import { presented, recordFrom, updated } from '#entities/entity.ts'
import { checkPartIsNew, putType, requirePart, withPart, type TypeParams } from './types.ts'

interface ActionGroupParams extends TypeParams {
  readonly action_group_id: string
}

/** Returns the action groups as a bare array in every case. */
export function listActionGroups(
  context: ReadContext,
  input: { readonly params: TypeParams; readonly query: ActionsQuery },
): ActionGroup[] {
  const type = requireType(context.records, input.params.resource_id)
  const found = withAttributes(type.actionGroups, input.query.attributes)
  return pageOfArray(found, input.query).map(group => presentActionGroup(context, type, group))
}

export function createActionGroup(
  context: WriteContext,
  input: { readonly params: TypeParams; readonly body: ActionGroupCreate },
): ActionGroup {
  const { body } = input
  const type = requireType(context.records, input.params.resource_id)
  const actions = actionKeys(type, body.actions ?? [])
  checkPartIsNew(type.actionGroups, body.key, { what: 'action group', type })
  const group: ActionGroupRecord = {
    id: context.newId(),
    key: body.key,
    ...recordFrom(ACTION, body),
    actions,
    createdAt: context.now,
    updatedAt: context.now,
  }
  putType(context, { ...type, actionGroups: [...type.actionGroups, group], updatedAt: context.now })
  return presentActionGroup(context, type, group)
}

export function getActionGroup(
  context: ReadContext,
  input: { readonly params: ActionGroupParams },
): ActionGroup {
  const { type, group } = locate(context.records, input.params)
  return presentActionGroup(context, type, group)
}

export function updateActionGroup(
  context: WriteContext,
  input: { readonly params: ActionGroupParams; readonly body: ActionGroupUpdate },
): ActionGroup {
  const { body } = input
  const { type, group } = locate(context.records, input.params)
  const changed: ActionGroupRecord = {
    ...group,
    ...updated(ACTION, group, body),
    actions: body.actions === undefined ? group.actions : actionKeys(type, body.actions ?? []),
    updatedAt: context.now,
  }
  putType(context, { ...type, actionGroups: withPart(type.actionGroups, changed), updatedAt: context.now })
  return presentActionGroup(context, type, changed)
}

export function deleteActionGroup(
  context: WriteContext,
  input: { readonly params: ActionGroupParams },
): void {
  const { type, group } = locate(context.records, input.params)
  const actionGroups = type.actionGroups.filter(({ id }) => id !== group.id)
  putType(context, { ...type, actionGroups, updatedAt: context.now })
}

/**
 * The keys of the named actions, without duplicates. Throws `NOT_FOUND` for an action that the type does not
 * have.
 */
function actionKeys(type: TypeRecord, references: readonly string[]): string[] {
  const found = references.map(reference => requirePart(type.actions, reference, { what: 'action', type }))
  return [...new Set(found.map(({ key }) => key))]
}

function locate(records: RecordReader, params: ActionGroupParams) {
  const type = requireType(records, params.resource_id)
  const where = { what: 'action group', type }
  return { type, group: requirePart(type.actionGroups, params.action_group_id, where) }
}

function presentActionGroup(context: ReadContext, type: TypeRecord, group: ActionGroupRecord): ActionGroup {
  return {
    ...presentIdentity(context.scope, group),
    ...presented(ACTION, group),
    resource_id: type.id,
    actions: [...group.actions],
  }
}

export const reads = { getActionGroup, listActionGroups }

export const writes = { createActionGroup, deleteActionGroup, updateActionGroup }
