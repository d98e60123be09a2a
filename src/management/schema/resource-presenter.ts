/** A resource type in the form of responses, with all its parts (native.md B.4). */
import { presentIdentity, type ReadContext, type Scoped } from '#management/drafts/context.ts'
import { assert } from '#model/assert.ts'
import type { TypeRecord } from '#entities/records.ts'
import type { Resource } from '#entities/resource.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { presentResourceRole } from './roles.ts'

export function presentResource(context: ReadContext, type: TypeRecord): Resource {
  const { action_groups, ...fields } = presentTypeFields(context, type)
  return { ...fields, roles: roleMap(context, type), relations: relationMap(context, type), action_groups }
}

/** The fields of a type, without its roles and relations. */
export function presentTypeFields({ scope }: Scoped, type: TypeRecord) {
  return {
    ...presentIdentity(scope, type),
    name: type.name,
    urn: type.urn,
    description: type.description,
    actions: Object.fromEntries(
      type.actions.map(({ id, key, name, description, attributes }) => [
        key,
        { id, key, name, description, attributes },
      ]),
    ),
    type_attributes: type.typeAttributes,
    attributes: Object.fromEntries(
      type.attributes.map(({ id, key, type: valueType, description }) => [
        key,
        { id, key, type: valueType, description },
      ]),
    ),
    action_groups: Object.fromEntries(type.actionGroups.map(({ key, actions }) => [key, [...actions]])),
  }
}

function roleMap(context: ReadContext, type: TypeRecord): Resource['roles'] {
  const roles = [...context.records.list('role', lists.rolesOfType(type.id))]
  return Object.fromEntries(roles.map(role => [role.key, presentResourceRole(context, role, type)]))
}

function relationMap(context: ReadContext, type: TypeRecord): Resource['relations'] {
  const relations = [...context.records.list('relation', lists.relationsOfType(type.id))]
  return Object.fromEntries(
    relations.map(relation => {
      const subjectType = context.records.byId('type', relation.subjectTypeId)
      assert(subjectType, 'the subject type of a relation exists')
      return [
        relation.key,
        {
          resource_id: subjectType.id,
          relation_name: relation.name,
          resource: subjectType.key,
          description: relation.description,
        },
      ]
    }),
  )
}
