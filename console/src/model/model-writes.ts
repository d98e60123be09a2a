/** How the model is changed: each function is one call of the interface. */
import { answerOf, onlyAs, type Schemas, service, taggedAnswerOf } from '../interface/client.ts'
import type { Place } from '../shell/place.tsx'
import type { Derivation } from './model-facts.ts'

type Path = Place['path']

const TYPES = '/v2/schema/{proj_id}/{env_id}/resources'
const TYPE = `${TYPES}/{resource_id}` as const
const TYPE_ROLE = `${TYPE}/roles/{role_id}` as const
const TENANT_ROLES = '/v2/schema/{proj_id}/{env_id}/roles'
const TENANT_ROLE = `${TENANT_ROLES}/{role_id}` as const

/** Answers the tag of what was made, by which it is taken back only as long as it is that. */
export async function addType(path: Path, body: Schemas['ResourceCreate']): Promise<string | null> {
  await answerOf(service.POST(TYPES, { params: { path }, body }))
  const at = { path: { ...path, resource_id: body.key } }
  return (await taggedAnswerOf(service.GET(TYPE, { params: at }))).tag
}

/** `tag`: what it must be still, else nothing is removed (412). */
export function removeType(path: Path, type: string, tag: string | null = null) {
  return answerOf(
    service.DELETE(TYPE, { params: { path: { ...path, resource_id: type }, header: onlyAs(tag) } }),
  )
}

export function addAction(path: Path, type: string, body: Schemas['ActionCreate']) {
  return answerOf(service.POST(`${TYPE}/actions`, { params: { path: { ...path, resource_id: type } }, body }))
}

export function removeAction(path: Path, type: string, action: string) {
  return answerOf(
    service.DELETE(`${TYPE}/actions/{action_id}`, {
      params: { path: { ...path, resource_id: type, action_id: action } },
    }),
  )
}

/** `type`: null for a role of tenants. */
export async function addRole(
  path: Path,
  type: string | null,
  body: Schemas['RoleCreate'],
): Promise<string | null> {
  if (type === null) {
    await answerOf(service.POST(TENANT_ROLES, { params: { path }, body }))
    const at = { path: { ...path, role_id: body.key } }
    return (await taggedAnswerOf(service.GET(TENANT_ROLE, { params: at }))).tag
  }
  await answerOf(service.POST(`${TYPE}/roles`, { params: { path: { ...path, resource_id: type } }, body }))
  const at = { path: { ...path, resource_id: type, role_id: body.key } }
  return (await taggedAnswerOf(service.GET(TYPE_ROLE, { params: at }))).tag
}

export function removeRole(
  path: Path,
  type: string | null,
  role: string,
  tag: string | null = null,
): Promise<unknown> {
  const header = onlyAs(tag)
  return type === null
    ? answerOf(service.DELETE(TENANT_ROLE, { params: { path: { ...path, role_id: role }, header } }))
    : answerOf(
        service.DELETE(TYPE_ROLE, {
          params: { path: { ...path, resource_id: type, role_id: role }, header },
        }),
      )
}

/** Adds to what others write meanwhile, or takes from it: nothing of theirs is overwritten. */
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

/** Whether the role has all that the other one has. */
export function setExtends(
  path: Path,
  {
    type,
    role,
    parent,
    extend,
  }: { readonly type: string; readonly role: string; readonly parent: string; readonly extend: boolean },
): Promise<unknown> {
  const at = {
    params: { path: { ...path, resource_id: type, role_id: role, parent_role_id: parent } },
  }
  return extend
    ? answerOf(service.PUT(`${TYPE_ROLE}/parents/{parent_role_id}`, at))
    : answerOf(service.DELETE(`${TYPE_ROLE}/parents/{parent_role_id}`, at))
}

export function addRelation(path: Path, type: string, body: Schemas['RelationCreate']) {
  return answerOf(
    service.POST(`${TYPE}/relations`, { params: { path: { ...path, resource_id: type } }, body }),
  )
}

export function removeRelation(path: Path, type: string, relation: string) {
  return answerOf(
    service.DELETE(`${TYPE}/relations/{relation_id}`, {
      params: { path: { ...path, resource_id: type, relation_id: relation } },
    }),
  )
}

export function addDerivation(path: Path, { from, to, along, isGuarded }: Derivation) {
  return answerOf(
    service.POST(`${TYPE_ROLE}/implicit_grants`, {
      params: { path: { ...path, resource_id: to.type, role_id: to.role } },
      body: {
        role: from.role,
        on_resource: from.type,
        linked_by_relation: along,
        when: { no_direct_roles_on_object: isGuarded },
      },
    }),
  )
}

export function removeDerivation(path: Path, { from, to, along }: Derivation) {
  return answerOf(
    service.DELETE(`${TYPE_ROLE}/implicit_grants`, {
      params: { path: { ...path, resource_id: to.type, role_id: to.role } },
      body: { role: from.role, on_resource: from.type, linked_by_relation: along },
    }),
  )
}
