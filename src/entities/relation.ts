/**
 * API schemas of relations. A relation is defined on its object type, and it names the subject type
 * (native.md B.4, C.1).
 */
import { Type, type Static } from 'typebox'
import { envelope, pagingQuery } from '#model/wire/paging.ts'
import { environmentPath, Reference, ShortKey } from '#model/wire/references.ts'
import { identityFields, Name, Text, Uuid } from '#model/wire/common-fields.ts'
import { nullableField, requiredField, schemasOf } from './entity.ts'

/** Declared fields of relations. */
export const RELATION = {
  name: requiredField('name', Name),
  description: nullableField('description', Text),
}

export const RelationCreate = Type.Object({
  key: ShortKey,
  ...schemasOf(RELATION, 'create'),
  subject_resource: Reference,
})
export type RelationCreate = Static<typeof RelationCreate>

export const Relation = Type.Object({
  ...identityFields(ShortKey),
  ...schemasOf(RELATION, 'shown'),
  subject_resource: ShortKey,
  subject_resource_id: Uuid,
  object_resource: ShortKey,
  object_resource_id: Uuid,
})
export type Relation = Static<typeof Relation>

export const RelationsPath = Type.Object({ ...environmentPath, resource_id: Reference })
export const RelationPath = Type.Object({
  ...environmentPath,
  resource_id: Reference,
  relation_id: Reference,
})
export const RelationsQuery = Type.Object({
  ...pagingQuery,
  include_total_count: Type.Optional(
    Type.Boolean({
      description:
        'True: return an envelope with the total. False: return an array. Absent: clients for Node and Java receive an array, all others an envelope.',
    }),
  ),
})
export type RelationsQuery = Static<typeof RelationsQuery>
export const RelationList = Type.Union([Type.Array(Relation), envelope(Relation)])
