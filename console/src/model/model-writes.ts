/**
 * API calls that change the model. Each function makes one call. A function that adds something returns the
 * `ETag` of the new part.
 */
import { answerOf, onlyAs, type Schemas, service, taggedAnswerOf } from '../interface/client.ts'
import type { CurrentEnvironment } from '../shell/current-environment.tsx'
import {
  ACTION,
  ACTION_GROUP,
  ATTRIBUTE,
  editableAction,
  editableActionGroup,
  editableAttribute,
  editableRole,
  editableType,
  RELATION,
  TENANT_ROLE,
  TENANT_ROLES,
  TYPE,
  TYPE_ROLE,
  TYPES,
} from './model-edits.ts'
import type { Derivation } from './model-facts.ts'

type Path = CurrentEnvironment['path']

type Tag = string | null

export async function addType(path: Path, body: Schemas['ResourceCreate']): Promise<Tag> {
  await answerOf(service.POST(TYPES, { params: { path }, body }))
  return (await editableType(path, body.key).load()).tag
}

/**
 * `tag` is the `ETag` that the type must have. Otherwise, the service responds with 412. If it is null, the
 * type is removed in any case.
 */
export function removeType(path: Path, type: string, tag: Tag = null) {
  return answerOf(
    service.DELETE(TYPE, { params: { path: { ...path, resource_id: type }, header: onlyAs(tag) } }),
  )
}

export async function addAction(path: Path, type: string, body: Schemas['ActionCreate']): Promise<Tag> {
  await answerOf(service.POST(`${TYPE}/actions`, { params: { path: { ...path, resource_id: type } }, body }))
  return (await editableAction(path, type, body.key).load()).tag
}

export function removeAction(path: Path, type: string, action: string, tag: Tag = null) {
  return answerOf(
    service.DELETE(ACTION, {
      params: { path: { ...path, resource_id: type, action_id: action }, header: onlyAs(tag) },
    }),
  )
}

export async function addActionGroup(
  path: Path,
  type: string,
  body: Schemas['ActionGroupCreate'],
): Promise<Tag> {
  await answerOf(
    service.POST(`${TYPE}/action_groups`, { params: { path: { ...path, resource_id: type } }, body }),
  )
  return (await editableActionGroup(path, type, body.key).load()).tag
}

export function removeActionGroup(path: Path, type: string, group: string, tag: Tag = null) {
  return answerOf(
    service.DELETE(ACTION_GROUP, {
      params: { path: { ...path, resource_id: type, action_group_id: group }, header: onlyAs(tag) },
    }),
  )
}

export async function addAttribute(path: Path, type: string, body: Schemas['AttributeCreate']): Promise<Tag> {
  await answerOf(
    service.POST(`${TYPE}/attributes`, { params: { path: { ...path, resource_id: type } }, body }),
  )
  return (await editableAttribute(path, type, body.key).load()).tag
}

export function removeAttribute(path: Path, type: string, attribute: string, tag: Tag = null) {
  return answerOf(
    service.DELETE(ATTRIBUTE, {
      params: { path: { ...path, resource_id: type, attribute_id: attribute }, header: onlyAs(tag) },
    }),
  )
}

/** `type` is null for a tenant role. */
export async function addRole(path: Path, type: string | null, body: Schemas['RoleCreate']): Promise<Tag> {
  if (type === null) await answerOf(service.POST(TENANT_ROLES, { params: { path }, body }))
  else
    await answerOf(service.POST(`${TYPE}/roles`, { params: { path: { ...path, resource_id: type } }, body }))
  return (await editableRole(path, type, body.key).load()).tag
}

export function removeRole(path: Path, type: string | null, role: string, tag: Tag = null): Promise<unknown> {
  const header = onlyAs(tag)
  return type === null
    ? answerOf(service.DELETE(TENANT_ROLE, { params: { path: { ...path, role_id: role }, header } }))
    : answerOf(
        service.DELETE(TYPE_ROLE, {
          params: { path: { ...path, resource_id: type, role_id: role }, header },
        }),
      )
}

/**
 * Adds or removes a single permission. A request with all permissions would overwrite concurrent changes by
 * other users.
 */
export function setPermission(
  path: Path,
  {
    type,
    role,
    permission,
    isGiven,
  }: {
    readonly type: string | null
    readonly role: string
    readonly permission: string
    readonly isGiven: boolean
  },
): Promise<unknown> {
  const body = { permissions: [permission] }
  if (type === null) {
    const given = { params: { path: { ...path, role_id: role } }, body }
    return isGiven
      ? answerOf(service.POST(`${TENANT_ROLE}/permissions`, given))
      : answerOf(service.DELETE(`${TENANT_ROLE}/permissions`, given))
  }
  const given = { params: { path: { ...path, resource_id: type, role_id: role } }, body }
  return isGiven
    ? answerOf(service.POST(`${TYPE_ROLE}/permissions`, given))
    : answerOf(service.DELETE(`${TYPE_ROLE}/permissions`, given))
}

/** Sets whether the role extends another role. `type` is null for tenant roles. */
export function setExtends(
  path: Path,
  {
    type,
    role,
    parent,
    extend,
  }: {
    readonly type: string | null
    readonly role: string
    readonly parent: string
    readonly extend: boolean
  },
): Promise<unknown> {
  if (type === null) {
    const at = { params: { path: { ...path, role_id: role, parent_role_id: parent } } }
    return extend
      ? answerOf(service.PUT(`${TENANT_ROLE}/parents/{parent_role_id}`, at))
      : answerOf(service.DELETE(`${TENANT_ROLE}/parents/{parent_role_id}`, at))
  }
  const at = {
    params: { path: { ...path, resource_id: type, role_id: role, parent_role_id: parent } },
  }
  return extend
    ? answerOf(service.PUT(`${TYPE_ROLE}/parents/{parent_role_id}`, at))
    : answerOf(service.DELETE(`${TYPE_ROLE}/parents/{parent_role_id}`, at))
}

export async function addRelation(path: Path, type: string, body: Schemas['RelationCreate']): Promise<Tag> {
  const params = { path: { ...path, resource_id: type } }
  await answerOf(service.POST(`${TYPE}/relations`, { params, body }))
  const at = { path: { ...params.path, relation_id: body.key } }
  return (await taggedAnswerOf(service.GET(RELATION, { params: at }))).tag
}

export function removeRelation(path: Path, type: string, relation: string, tag: Tag = null) {
  return answerOf(
    service.DELETE(RELATION, {
      params: { path: { ...path, resource_id: type, relation_id: relation }, header: onlyAs(tag) },
    }),
  )
}

/** Adds a derivation. It is a part of the derived role, so the returned `ETag` is that of the role. */
export async function addDerivation(path: Path, { from, to, along, guard }: Derivation): Promise<Tag> {
  await answerOf(
    service.POST(`${TYPE_ROLE}/implicit_grants`, {
      params: { path: { ...path, resource_id: to.type, role_id: to.role } },
      body: {
        role: from.role,
        on_resource: from.type,
        linked_by_relation: along,
        when: { no_direct_roles_on_object: guard.ofItself },
      },
    }),
  )
  return (await editableRole(path, to.type, to.role).load()).tag
}

export function removeDerivation(path: Path, { from, to, along }: Derivation, tag: Tag = null) {
  return answerOf(
    service.DELETE(`${TYPE_ROLE}/implicit_grants`, {
      params: { path: { ...path, resource_id: to.type, role_id: to.role }, header: onlyAs(tag) },
      body: { role: from.role, on_resource: from.type, linked_by_relation: along },
    }),
  )
}
