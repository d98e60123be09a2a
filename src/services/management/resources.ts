/** Resources: the types of things there are, with their actions, attributes, roles and relations (contract B.4). */
import { AuthzError } from '#model/errors.ts'
import type { ActionRecord, AttributeRecord, TypeRecord } from '#model/records.ts'
import type {
  ActionBlock,
  AttributeBlock,
  Resource,
  ResourceCreate,
  ResourcesQuery,
} from '#model/wire/resource.ts'
import { lists, rowKeys } from '#store/keyspace.ts'
import { presentScope, presentTimes, type ReadContext, type WriteContext } from './context.ts'
import { requireType } from './lookups.ts'
import { arrayOrEnvelope, matchesSearch, pageOf } from './paging.ts'
import { addRelation } from './relations.ts'
import { addRole, presentResourceRole, updateRole } from './roles.ts'

export function createResource(context: WriteContext, input: { readonly body: ResourceCreate }): Resource {
  const { records } = context
  const { body } = input
  const taken = records.get('type', rowKeys.type(body.key))
  const type = addType(context, body)
  for (const [key, subject] of Object.entries(body.relations ?? {})) {
    const subjectType = requireType(records, subject)
    addRelation(context, { objectType: type, subjectType, key, name: key, description: null, groupUse: null })
  }
  const roles = Object.entries(body.roles ?? {}).map(([key, block]) => ({
    role: addRole(context, type, key, block),
    block,
  }))
  for (const { role, block } of roles) updateRole(context, type, role, block)
  if (taken) {
    throw new AuthzError('DUPLICATE_ENTITY', `there is a resource ${JSON.stringify(body.key)} already`)
  }
  return presentResource(context, type)
}

function addType(context: WriteContext, body: ResourceCreate): TypeRecord {
  const type: TypeRecord = {
    kind: 'type',
    id: context.newId(),
    key: body.key,
    name: body.name,
    urn: body.urn ?? null,
    description: body.description ?? null,
    actions: Object.entries(body.actions).map(([key, block]) => newAction(context, key, block)),
    attributes: Object.entries(body.attributes ?? {}).map(([key, block]) =>
      newAttribute(context, key, block),
    ),
    typeAttributes: body.type_attributes ?? null,
    createdAt: context.now,
    updatedAt: context.now,
  }
  putType(context, type)
  return type
}

/** Writes a type and tells the engine. */
export function putType(context: WriteContext, type: TypeRecord): void {
  context.records.put(type, {
    kind: 'type-put',
    type: type.key,
    actions: type.actions.map(action => action.key),
  })
}

function newAction(context: WriteContext, key: string, block: ActionBlock): ActionRecord {
  return {
    id: context.newId(),
    key,
    name: block.name ?? key,
    description: block.description ?? null,
    attributes: block.attributes ?? null,
  }
}

function newAttribute(context: WriteContext, key: string, block: AttributeBlock): AttributeRecord {
  return { id: context.newId(), key, type: block.type, description: block.description ?? null }
}

export function getResource(
  context: ReadContext,
  input: { readonly params: { readonly resource_id: string } },
): Resource {
  return presentResource(context, requireType(context.records, input.params.resource_id))
}

export function listResources(context: ReadContext, input: { readonly query: ResourcesQuery }) {
  const { search } = input.query
  const page = pageOf(context.records, {
    kind: 'type',
    list: lists.all('type'),
    paging: input.query,
    matches: search === undefined ? null : type => matchesSearch(search, [type.key, type.name]),
    present: type => presentResource(context, type),
  })
  return arrayOrEnvelope(page, input.query.include_total_count)
}

export function presentResource(context: ReadContext, type: TypeRecord): Resource {
  const { records } = context
  const actions = type.actions.map(action => [action.key, { ...action }] as const)
  const attributes = type.attributes.map(attribute => [attribute.key, { ...attribute }] as const)
  const roles = [...records.list('role', lists.rolesOfType(type.id))].map(
    role => [role.key, presentResourceRole(context, role, type)] as const,
  )
  const relations = [...records.list('relation', lists.relationsOfType(type.id))].map(relation => {
    const subjectType = records.byId('type', relation.subjectTypeId)
    return [
      relation.key,
      {
        resource_id: relation.subjectTypeId,
        relation_name: relation.name,
        resource: subjectType?.key ?? '',
        description: relation.description,
      },
    ] as const
  })
  return {
    id: type.id,
    key: type.key,
    ...presentScope(context.scope),
    ...presentTimes(type),
    name: type.name,
    urn: type.urn,
    description: type.description,
    actions: Object.fromEntries(actions),
    type_attributes: type.typeAttributes,
    attributes: Object.fromEntries(attributes),
    roles: Object.fromEntries(roles),
    relations: Object.fromEntries(relations),
    action_groups: {},
  }
}
