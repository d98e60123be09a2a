/** API schemas of trials of condition sets, which evaluate a set on samples before it is saved. */
import { type Static, Type } from 'typebox'
import type { SentAttributes } from '#model/decision.ts'
import { CONDITION_SAMPLES_MAX } from '#model/limits.ts'
import { AttributeMap, InstanceReference, optional, Reference } from './building-blocks.ts'
import { ConditionSetKey, ConditionSetType } from './condition-set.ts'
import { explainedTestFields, TruthValue } from './explained-rule.ts'
import { ErrorFinding } from './problem.ts'

export const SetSample = Type.Object(
  {
    user: optional(Reference, 'A user by key or id. Absent: nothing is known of the user but what is sent.'),
    resource_instance: optional(InstanceReference, 'Absent: the same of the resource.'),
    attributes: optional(
      AttributeMap,
      'Attributes of the user, for a user set, and of the resource, for a resource set. They count before stored ones.',
    ),
  },
  { description: 'Of whom or what the conditions are asked.' },
)
export type SetSample = Static<typeof SetSample>

export const ConditionSetTry = Type.Object(
  {
    key: Type.Optional(ConditionSetKey),
    /** Absent: `userset`. */
    type: Type.Optional(ConditionSetType),
    resource_id: optional(Reference, 'The resource that a resource set is limited to, by key or id.'),
    conditions: Type.Optional(
      Type.Unknown({
        description: 'Absent: `{}`, which always holds. What is wrong with them is answered in `findings`.',
      }),
    ),
    parent_id: optional(Reference, 'A set whose conditions must hold, too, by key or id.'),
    samples: Type.Optional(Type.Array(SetSample, { maxItems: CONDITION_SAMPLES_MAX })),
    context: optional(AttributeMap, 'The context of all samples.'),
    tenant: optional(
      Reference,
      'The tenant of samples without a stored instance, by key or id. Absent: the default one.',
    ),
  },
  {
    description:
      'A condition set as it would be created. With the `key` of a saved one: as that would be after a change. What is left out is as ' +
      'it is saved then, and type and resource cannot be changed.',
    examples: [
      {
        type: 'userset',
        conditions: { 'user.department': { equals: 'sales' } },
        samples: [{ user: 'ann' }, { attributes: { department: 'law' } }],
      },
    ],
  },
)
export type ConditionSetTry = Static<typeof ConditionSetTry>

const TriedTest = Type.Object(
  {
    ...explainedTestFields,
    set: Type.Optional(
      Type.String({
        description: 'The key of the set above whose test it is; absent: of the tried set itself.',
      }),
    ),
  },
  { description: 'A test of an attribute, with its value.' },
)
export type TriedTest = Static<typeof TriedTest>

const TriedSample = Type.Object({
  user: Type.Optional(Type.String({ description: 'As it was sent; so is `resource_instance`.' })),
  resource_instance: Type.Optional(Type.String()),
  tenant: Type.String({
    description: 'The tenant in which it was asked: that of the instance, if it is stored.',
  }),
  not_stored: Type.Optional(
    Type.Array(Type.Enum(['user', 'resource_instance']), {
      description:
        'What was named and is not stored, so that nothing is known of it but what was sent; absent: nothing.',
    }),
  ),
  is_of_other_resource: Type.Optional(
    Type.Literal(true, {
      description:
        'The set is limited to another resource than that of the instance. Its conditions were not asked.',
    }),
  ),
  value: TruthValue,
  conditions: Type.Array(TriedTest, {
    description:
      'Each test in the order in which it is written: those of the set, then those of the sets above, nearest first.',
  }),
  more: Type.Optional(
    Type.Literal(true, { description: 'There are more tests than are told; absent if not.' }),
  ),
})
export type TriedSample = Static<typeof TriedSample>

/** A checked condition set and its samples with resolved names: input for the thread that evaluates them. */
export interface ConditionTrial {
  readonly environmentId: string
  /** For `server.time`, in milliseconds since 1970. */
  readonly readAt: number
  readonly valid: boolean
  readonly findings: TriedSet['findings']
  readonly warnings: TriedSet['findings']
  /** The set, followed by its ancestors. */
  readonly sets: readonly { readonly key: string; readonly conditions: unknown }[]
  readonly samples: readonly {
    readonly head: Omit<TriedSample, 'conditions' | 'more'>
    /** `null` if no conditions are evaluated; `head` then has the value. */
    readonly question: {
      readonly user: string | null
      readonly type: string | null
      readonly key: string | null
      readonly tenant: string
    } | null
    readonly sent: SentAttributes
  }[]
}

export const TriedSet = Type.Object({
  valid: Type.Boolean({ description: 'Whether the conditions would be taken.' }),
  findings: Type.Array(ErrorFinding, {
    description:
      'What is wrong with the conditions, and where: the `detail` of the 422 that creating the set would be. Empty if it is valid.',
  }),
  warnings: Type.Array(ErrorFinding, {
    description:
      'What the author should know. `every_tenant`: the conditions of a user set do not ask about tenants. `budget`: the conditions cost ' +
      'more for a sample than they may for a question, and what is left is unknown, as in a decision.',
  }),
  samples: Type.Array(TriedSample, {
    description: 'In the order in which they were sent. Empty if the conditions are not valid.',
  }),
})
export type TriedSet = Static<typeof TriedSet>
