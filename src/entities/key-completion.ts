/** API schemas of key completion, which returns the keys that begin with a text. */
import { Type, type Static } from 'typebox'
import {
  COMPLETION_RESOURCES_MAX,
  COMPLETIONS_DEFAULT,
  COMPLETIONS_MAX,
  LONG_KEY_BYTES_MAX,
} from '#model/limits.ts'
import { environmentPath, Reference } from '#model/wire/references.ts'
import { nullable, Uuid } from '#model/wire/common-fields.ts'
import { ConditionSetType } from './condition-set.ts'

const CompletedKind = Type.Union(
  [
    Type.Literal('user'),
    Type.Literal('tenant'),
    Type.Literal('resource_instance'),
    Type.Literal('group'),
    Type.Literal('resource'),
    Type.Literal('role'),
    Type.Literal('condition_set'),
  ],
  { description: 'Kind of the entities.' },
)
export type CompletedKind = Static<typeof CompletedKind>

export const KeyCompletionsPath = Type.Object(environmentPath)
export const KeyCompletionsQuery = Type.Object({
  kind: CompletedKind,
  prefix: Type.Optional(
    Type.String({
      maxLength: LONG_KEY_BYTES_MAX,
      default: '',
      description: 'Prefix of the keys. Case-sensitive, without wildcards.',
    }),
  ),
  resource: Type.Optional({
    ...Reference,
    description:
      'For instances, groups and roles: only those of this resource, by key or id. Absent: those of the first ' +
      `${COMPLETION_RESOURCES_MAX} resources, and tenant roles.`,
  }),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: COMPLETIONS_MAX,
      default: COMPLETIONS_DEFAULT,
      description: 'Maximum number of keys in the response.',
    }),
  ),
})
export type KeyCompletionsQuery = Static<typeof KeyCompletionsQuery>

export const KeyCompletion = Type.Object({
  id: {
    ...Uuid,
    description:
      'ID of the entity. Use it in paths if the key is `.` or `../..`, because clients would resolve these keys as steps of the path.',
  },
  key: Type.String(),
  name: nullable(Type.String(), 'Display name; for a user, first and last name. Null: it has none.'),
  email: nullable(Type.String(), 'Present for a user with an e-mail address.'),
  resource: nullable(Type.String(), 'For an instance, a group or a role on a resource: key of the resource.'),
  tenant: nullable(Type.String(), 'For an instance or a group: key of its tenant.'),
  type: nullable(ConditionSetType, 'Present for a condition set.'),
})
export type KeyCompletion = Static<typeof KeyCompletion>

export const KeyCompletions = Type.Object({
  data: Type.Array(KeyCompletion, { description: 'Sorted by the UTF-8 bytes of the keys.' }),
  has_more: Type.Boolean({
    description:
      'Whether there are or might be more keys. There might be more because the number of examined entities is limited, especially for groups.',
  }),
})
export type KeyCompletions = Static<typeof KeyCompletions>
