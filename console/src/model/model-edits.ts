/**
 * Parts of the model that users can edit, with optimistic concurrency control. A part is read with its
 * `ETag`, and is written only if the tag is unchanged.
 */
import { onlyAs, type Schemas, service, taggedAnswerOf } from '../interface/client.ts'
import type { CurrentEnvironment } from '../shell/current-environment.tsx'
import type { ModelRole, ModelType, TenantRole } from './model-reads.ts'

type Path = CurrentEnvironment['path']

export const TYPES = '/v2/schema/{proj_id}/{env_id}/resources'
export const TYPE = `${TYPES}/{resource_id}` as const
export const ACTION = `${TYPE}/actions/{action_id}` as const
export const ACTION_GROUP = `${TYPE}/action_groups/{action_group_id}` as const
export const ATTRIBUTE = `${TYPE}/attributes/{attribute_id}` as const
export const RELATION = `${TYPE}/relations/{relation_id}` as const
export const TYPE_ROLE = `${TYPE}/roles/{role_id}` as const
export const TENANT_ROLES = '/v2/schema/{proj_id}/{env_id}/roles'
export const TENANT_ROLE = `${TENANT_ROLES}/{role_id}` as const

export interface Tagged<Thing> {
  readonly value: Thing
  readonly tag: string | null
}

export interface Editable<Thing, Change> {
  readonly load: () => Promise<Tagged<Thing>>
  /** Writes the change and returns the new `ETag`. Rejects with 412 if the current tag is not `over`. */
  readonly change: (to: Change, over: string | null) => Promise<string | null>
}

export function editableType(path: Path, type: string): Editable<ModelType, Schemas['ResourceUpdate']> {
  const params = { path: { ...path, resource_id: type } }
  return {
    load: () => taggedAnswerOf(service.GET(TYPE, { params })),
    change: (body, over) => tagOf(service.PATCH(TYPE, { params: { ...params, header: onlyAs(over) }, body })),
  }
}

export function editableAction(
  path: Path,
  type: string,
  action: string,
): Editable<Schemas['Action'], Schemas['ActionUpdate']> {
  const params = { path: { ...path, resource_id: type, action_id: action } }
  return {
    load: () => taggedAnswerOf(service.GET(ACTION, { params })),
    change: (body, over) =>
      tagOf(service.PATCH(ACTION, { params: { ...params, header: onlyAs(over) }, body })),
  }
}

export function editableActionGroup(
  path: Path,
  type: string,
  group: string,
): Editable<Schemas['ActionGroup'], Schemas['ActionGroupUpdate']> {
  const params = { path: { ...path, resource_id: type, action_group_id: group } }
  return {
    load: () => taggedAnswerOf(service.GET(ACTION_GROUP, { params })),
    change: (body, over) =>
      tagOf(service.PATCH(ACTION_GROUP, { params: { ...params, header: onlyAs(over) }, body })),
  }
}

export type AttributeKind = Schemas['AttributeType']

export function editableAttribute(
  path: Path,
  type: string,
  attribute: string,
): Editable<Schemas['Attribute'], Schemas['AttributeUpdate']> {
  const params = { path: { ...path, resource_id: type, attribute_id: attribute } }
  return {
    load: () => taggedAnswerOf(service.GET(ATTRIBUTE, { params })),
    change: (body, over) =>
      tagOf(service.PATCH(ATTRIBUTE, { params: { ...params, header: onlyAs(over) }, body })),
  }
}

type RoleChange = Pick<Schemas['RoleUpdate'], 'name' | 'description' | 'attributes'>

/** `type` is null for a tenant role. */
export function editableRole(
  path: Path,
  type: string | null,
  role: string,
): Editable<TenantRole | ModelRole, RoleChange> {
  if (type === null) {
    const params = { path: { ...path, role_id: role } }
    return {
      load: () => taggedAnswerOf(service.GET(TENANT_ROLE, { params })),
      change: (body, over) =>
        tagOf(service.PATCH(TENANT_ROLE, { params: { ...params, header: onlyAs(over) }, body })),
    }
  }
  const params = { path: { ...path, resource_id: type, role_id: role } }
  return {
    load: () => taggedAnswerOf(service.GET(TYPE_ROLE, { params })),
    change: (body, over) =>
      tagOf(service.PATCH(TYPE_ROLE, { params: { ...params, header: onlyAs(over) }, body })),
  }
}

/**
 * The guard of a role. If it is true, the derivations of the role have no effect for users who hold a direct
 * role on the object.
 */
export function editableGuard(path: Path, type: string, role: string): Editable<boolean, boolean> {
  const params = { path: { ...path, resource_id: type, role_id: role } }
  const load = () => taggedAnswerOf(service.GET(TYPE_ROLE, { params }))
  return {
    load: async () => {
      const { value, tag } = await load()
      return { value: value.granted_to.when.no_direct_roles_on_object, tag }
    },
    change: async (isGuarded, over) => {
      await taggedAnswerOf(
        service.PUT(`${TYPE_ROLE}/implicit_grants/conditions`, {
          params: { ...params, header: onlyAs(over) },
          body: { no_direct_roles_on_object: isGuarded },
        }),
      )
      // The response to the write contains only a part of the role and has no `ETag`, so the role is read
      // again.
      return (await load()).tag
    },
  }
}

async function tagOf(answered: Parameters<typeof taggedAnswerOf>[0]): Promise<string | null> {
  return (await taggedAnswerOf(answered)).tag
}
