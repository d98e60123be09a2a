/** A resource type in the form of responses, with all its parts (native.md B.4). */
import { ACTION } from '#entities/action.ts'
import { ATTRIBUTE } from '#entities/attribute.ts'
import { presented } from '#entities/entity.ts'
import { presentIdentity, type ReadContext, type Scoped } from '#management/drafts/context.ts'
import { assert } from '#model/assert.ts'
import type { TypeRecord } from '#entities/records.ts'
import { type Resource, RESOURCE } from '#entities/resource.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { presentResourceRole } from './roles.ts'

export function presentResource(context: ReadContext, type: TypeRecord): Resource {
  const { action_groups, ...fields } = presentTypeFields(context, type)
  return { ...fields, roles: roleMap(context, type), relations: relationMap(context, type), action_groups }
}

/** The fields of a type, without its roles and relations. */
export function presentTypeFields({ scope }: Scoped, type: TypeRecord) {
  const { type_attributes, ...fields } = presented(RESOURCE, type)
  return {
    ...presentIdentity(scope, type),
    ...fields,
    actions: Object.fromEntries(
      type.actions.map(action => [
        action.key,
        { id: action.id, key: action.key, ...presented(ACTION, action) },
      ]),
    ),
    type_attributes,
    attributes: Object.fromEntries(
      type.attributes.map(attribute => [
        attribute.key,
        { id: attribute.id, key: attribute.key, ...presented(ATTRIBUTE, attribute) },
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
