/**
 * Actions, action groups, attributes and relations of a resource, and the attributes of users (native.md
 * B.4).
 */
import { Type } from 'typebox'
import { CLIENT_VERSION } from '#http/message/header-fields.ts'
import type { Route } from '#http/routing/route.ts'
import {
  Action,
  ActionCreate,
  ActionGroup,
  ActionGroupCreate,
  ActionGroupPath,
  ActionGroupsPath,
  ActionGroupUpdate,
  ActionPath,
  ActionsPath,
  ActionsQuery,
  ActionUpdate,
} from '#entities/action.ts'
import {
  Attribute,
  AttributeCreate,
  AttributesQuery,
  AttributeUpdate,
  ResourceAttributePath,
  ResourceAttributesPath,
  UserAttributePath,
  UserAttributesPath,
} from '#entities/attribute.ts'
import {
  Relation,
  RelationCreate,
  RelationList,
  RelationPath,
  RelationsPath,
  RelationsQuery,
} from '#entities/relation.ts'
import { managed, type ManagementGateway, SCHEMA_BASE } from './managed.ts'

const RESOURCE = `${SCHEMA_BASE}/resources/{resource_id}`

export function resourcePartRoutes(gateway: ManagementGateway): Route[] {
  return [
    ...actionRoutes(gateway),
    ...actionGroupRoutes(gateway),
    ...attributeRoutes(gateway),
    ...userAttributeRoutes(gateway),
    ...relationRoutes(gateway),
  ]
}

function actionRoutes(gateway: ManagementGateway): Route[] {
  const manage = managed(gateway)
  const all = { path: `${RESOURCE}/actions`, params: ActionsPath }
  const one = { path: `${RESOURCE}/actions/{action_id}`, params: ActionPath, thing: 'getAction' } as const
  return [
    manage({
      ...all,
      operation: 'listActions',
      level: 'read',
      method: 'GET',
      summary: 'List the actions of a resource',
      query: ActionsQuery,
      answer: Type.Array(Action),
    }),
    manage({
      ...all,
      operation: 'createAction',
      level: 'write',
      method: 'POST',
      summary: 'Create an action',
      body: ActionCreate,
      answer: Action,
    }),
    manage({
      ...one,
      operation: 'getAction',
      level: 'read',
      method: 'GET',
      summary: 'Read an action',
      answer: Action,
    }),
    manage({
      ...one,
      operation: 'updateAction',
      level: 'write',
      method: 'PATCH',
      summary: 'Change an action; each given field replaces the whole old value',
      body: ActionUpdate,
      answer: Action,
    }),
    manage({
      ...one,
      operation: 'deleteAction',
      level: 'write',
      method: 'DELETE',
      summary: 'Delete an action and the permissions that name it',
    }),
  ]
}

function actionGroupRoutes(gateway: ManagementGateway): Route[] {
  const manage = managed(gateway)
  const all = { path: `${RESOURCE}/action_groups`, params: ActionGroupsPath }
  const one = {
    path: `${RESOURCE}/action_groups/{action_group_id}`,
    params: ActionGroupPath,
    thing: 'getActionGroup',
  } as const
  return [
    manage({
      ...all,
      operation: 'listActionGroups',
      level: 'read',
      method: 'GET',
      summary: 'List the action groups of a resource',
      query: ActionsQuery,
      answer: Type.Array(ActionGroup),
    }),
    manage({
      ...all,
      operation: 'createActionGroup',
      level: 'write',
      method: 'POST',
      summary: 'Create an action group',
      body: ActionGroupCreate,
      answer: ActionGroup,
    }),
    manage({
      ...one,
      operation: 'getActionGroup',
      level: 'read',
      method: 'GET',
      summary: 'Read an action group',
      answer: ActionGroup,
    }),
    manage({
      ...one,
      operation: 'updateActionGroup',
      level: 'write',
      method: 'PATCH',
      summary: 'Change an action group; each given field replaces the whole old value',
      body: ActionGroupUpdate,
      answer: ActionGroup,
    }),
    manage({
      ...one,
      operation: 'deleteActionGroup',
      level: 'write',
      method: 'DELETE',
      summary: 'Delete an action group; its actions are kept',
    }),
  ]
}

function attributeRoutes(gateway: ManagementGateway): Route[] {
  const manage = managed(gateway)
  const all = { path: `${RESOURCE}/attributes`, params: ResourceAttributesPath }
  const one = {
    path: `${RESOURCE}/attributes/{attribute_id}`,
    params: ResourceAttributePath,
    thing: 'getAttribute',
  } as const
  return [
    manage({
      ...all,
      operation: 'listAttributes',
      level: 'read',
      method: 'GET',
      summary: 'List the attributes of a resource',
      query: AttributesQuery,
      answer: Type.Array(Attribute),
    }),
    manage({
      ...all,
      operation: 'createAttribute',
      level: 'write',
      method: 'POST',
      summary: 'Declare an attribute of a resource',
      body: AttributeCreate,
      answer: Attribute,
    }),
    manage({
      ...one,
      operation: 'getAttribute',
      level: 'read',
      method: 'GET',
      summary: 'Read an attribute of a resource',
      answer: Attribute,
    }),
    manage({
      ...one,
      operation: 'updateAttribute',
      level: 'write',
      method: 'PATCH',
      summary: 'Change an attribute of a resource',
      body: AttributeUpdate,
      answer: Attribute,
    }),
    manage({
      ...one,
      operation: 'deleteAttribute',
      level: 'write',
      method: 'DELETE',
      summary: 'Delete an attribute of a resource',
    }),
  ]
}

function userAttributeRoutes(gateway: ManagementGateway): Route[] {
  const manage = managed(gateway)
  const all = { path: `${SCHEMA_BASE}/users/attributes`, params: UserAttributesPath }
  const one = {
    path: `${SCHEMA_BASE}/users/attributes/{attribute_id}`,
    params: UserAttributePath,
    thing: 'getUserAttribute',
  } as const
  return [
    manage({
      ...all,
      operation: 'listUserAttributes',
      level: 'read',
      method: 'GET',
      summary: 'List the attributes of users',
      query: AttributesQuery,
      answer: Type.Array(Attribute),
    }),
    manage({
      ...all,
      operation: 'createUserAttribute',
      level: 'write',
      method: 'POST',
      summary: 'Declare an attribute of users',
      body: AttributeCreate,
      answer: Attribute,
    }),
    manage({
      ...one,
      operation: 'getUserAttribute',
      level: 'read',
      method: 'GET',
      summary: 'Read an attribute of users',
      answer: Attribute,
    }),
    manage({
      ...one,
      operation: 'updateUserAttribute',
      level: 'write',
      method: 'PATCH',
      summary: 'Change an attribute of users',
      body: AttributeUpdate,
      answer: Attribute,
    }),
    manage({
      ...one,
      operation: 'deleteUserAttribute',
      level: 'write',
      method: 'DELETE',
      summary: 'Delete an attribute of users',
    }),
  ]
}

function relationRoutes(gateway: ManagementGateway): Route[] {
  const manage = managed(gateway)
  const all = { path: `${RESOURCE}/relations`, params: RelationsPath }
  const one = {
    path: `${RESOURCE}/relations/{relation_id}`,
    params: RelationPath,
    thing: 'getRelation',
  } as const
  return [
    manage({
      ...all,
      operation: 'listRelations',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      summary: 'List the relations whose objects are of this resource',
      query: RelationsQuery,
      forCaller: { header: CLIENT_VERSION, queryOf: relationsQueryOf },
      answer: RelationList,
    }),
    manage({
      ...all,
      operation: 'createRelation',
      level: 'write',
      method: 'POST',
      summary: 'Create a relation whose objects are of this resource',
      body: RelationCreate,
      answer: Relation,
    }),
    manage({
      ...one,
      operation: 'getRelation',
      level: 'read',
      delegated: 'read',
      method: 'GET',
      summary: 'Read a relation',
      answer: Relation,
    }),
    manage({
      ...one,
      operation: 'deleteRelation',
      level: 'write',
      method: 'DELETE',
      summary: 'Delete a relation, its tuples and the derivations through it',
    }),
  ]
}

/**
 * Name prefixes of clients that expect a plain array. Other clients get the envelope of the published API
 * (native.md 0.9).
 */
const READERS_OF_ARRAYS = /^(node|java):/

function relationsQueryOf(query: RelationsQuery, headers: ReadonlyMap<string, string>): RelationsQuery {
  const isReaderOfArrays = READERS_OF_ARRAYS.test(headers.get(CLIENT_VERSION.name.toLowerCase()) ?? '')
  return { ...query, include_total_count: query.include_total_count ?? !isReaderOfArrays }
}
