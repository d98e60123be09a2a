/** API schemas of key completion: keys that begin with a text. */
import { Type, type Static } from 'typebox'
import {
  COMPLETION_RESOURCES_MAX,
  COMPLETIONS_DEFAULT,
  COMPLETIONS_MAX,
  LONG_KEY_BYTES_MAX,
} from '#model/limits.ts'
import { environmentPath, nullable, Reference, Uuid } from './building-blocks.ts'
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
  { description: 'What the keys are of.' },
)
export type CompletedKind = Static<typeof CompletedKind>

export const KeyCompletionsPath = Type.Object(environmentPath)
export const KeyCompletionsQuery = Type.Object({
  kind: CompletedKind,
  prefix: Type.Optional(
    Type.String({
      maxLength: LONG_KEY_BYTES_MAX,
      default: '',
      description:
        'What the keys begin with, as it is written: case counts, and no character stands for others.',
    }),
  ),
  resource: Type.Optional({
    ...Reference,
    description:
      'Of instances, groups and roles: only those of this resource, by key or id. Absent: those of the first ' +
      `${COMPLETION_RESOURCES_MAX} resources, and roles of tenants.`,
  }),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: COMPLETIONS_MAX,
      default: COMPLETIONS_DEFAULT,
      description: 'The most keys to answer.',
    }),
  ),
})
export type KeyCompletionsQuery = Static<typeof KeyCompletionsQuery>

export const KeyCompletion = Type.Object({
  id: {
    ...Uuid,
    description: 'What paths may name it by, too: clients take the keys `.` and `..` there for steps.',
  },
  key: Type.String(),
  name: nullable(Type.String(), 'A name for people; of a user, first and last name. Null: it has none.'),
  email: nullable(Type.String(), 'Of a user that has one.'),
  resource: nullable(
    Type.String(),
    'Of an instance, a group and a role on a resource: the key of the resource.',
  ),
  tenant: nullable(Type.String(), 'Of an instance and a group: the key of its tenant.'),
  type: nullable(ConditionSetType, 'Of a condition set.'),
})
export type KeyCompletion = Static<typeof KeyCompletion>

export const KeyCompletions = Type.Object({
  data: Type.Array(KeyCompletion, { description: 'In the order of the bytes of the keys in UTF-8.' }),
  has_more: Type.Boolean({
    description: 'Whether there are more, or may be: what is looked at is bounded, most of all for groups.',
  }),
})
export type KeyCompletions = Static<typeof KeyCompletions>
