/** API schemas of trials of condition sets. A trial evaluates a set on samples before the set is saved. */
import { type Static, Type } from 'typebox'
import type { SentAttributes } from '#model/decision.ts'
import { CONDITION_SAMPLES_MAX } from '#model/limits.ts'
import { AttributeMap, optional } from '#model/wire/common-fields.ts'
import { InstanceReference, Reference } from '#model/wire/references.ts'
import { ConditionSetKey, ConditionSetType } from './condition-set.ts'
import { explainedTestFields, TruthValue } from '#model/wire/decisions/explained-rule.ts'
import { ErrorFinding } from '#model/wire/problem.ts'

export const SetSample = Type.Object(
  {
    user: optional(Reference, 'A user by key or id. Absent: only sent attributes are used for the user.'),
    resource_instance: optional(InstanceReference, 'Absent: only sent attributes are used for the resource.'),
    attributes: optional(
      AttributeMap,
      'Attributes of the user, for a user set, or of the resource, for a resource set. They override stored attributes.',
    ),
  },
  { description: 'User and resource for which the conditions are evaluated.' },
)
export type SetSample = Static<typeof SetSample>

export const ConditionSetTry = Type.Object(
  {
    key: Type.Optional(ConditionSetKey),
    /** If absent, `userset`. */
    type: Type.Optional(ConditionSetType),
    resource_id: optional(Reference, 'Resource to which a resource set is limited, by key or id.'),
    conditions: Type.Optional(
      Type.Unknown({
        description: 'Absent: `{}`, which is always true. Errors in them are returned in `findings`.',
      }),
    ),
    parent_id: optional(Reference, 'Parent set, whose conditions must also hold, by key or id.'),
    samples: Type.Optional(Type.Array(SetSample, { maxItems: CONDITION_SAMPLES_MAX })),
    context: optional(AttributeMap, 'Context of all samples.'),
    tenant: optional(
      Reference,
      'Tenant of samples without a stored instance, by key or id. Absent: the default tenant.',
    ),
  },
  {
    description:
      'A condition set to create. With the `key` of a saved set: a change of that set. Omitted fields keep ' +
      'their saved values, and type and resource cannot be changed.',
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
        description: 'Key of the ancestor to which the test belongs. Absent: the tried set itself.',
      }),
    ),
  },
  { description: 'A test of an attribute, with its value.' },
)
export type TriedTest = Static<typeof TriedTest>

const TriedSample = Type.Object({
  user: Type.Optional(Type.String({ description: 'As sent, like `resource_instance`.' })),
  resource_instance: Type.Optional(Type.String()),
  tenant: Type.String({
    description: 'Tenant of the evaluation: that of the instance, if it is stored.',
  }),
  not_stored: Type.Optional(
    Type.Array(Type.Enum(['user', 'resource_instance']), {
      description:
        'Named entities that are not stored: only sent attributes were used for them. Absent: none.',
    }),
  ),
  is_of_other_resource: Type.Optional(
    Type.Literal(true, {
      description:
        'The set is limited to another resource than that of the instance. Its conditions were not evaluated.',
    }),
  ),
  value: TruthValue,
  conditions: Type.Array(TriedTest, {
    description:
      'Tests in their written order: those of the set, then those of its ancestors, nearest first.',
  }),
  more: Type.Optional(
    Type.Literal(true, { description: 'More tests exist than are listed. Absent if not.' }),
  ),
})
export type TriedSample = Static<typeof TriedSample>

/**
 * Input for the thread that evaluates a trial: the condition set, which has been validated, and the samples,
 * whose names have been resolved.
 */
export interface ConditionTrial {
  readonly environmentId: string
  /** Time of the request, in milliseconds since 1970, as the value of `server.time`. */
  readonly readAt: number
  readonly valid: boolean
  readonly findings: TriedSet['findings']
  readonly warnings: TriedSet['findings']
  /** The set itself, followed by its ancestors. */
  readonly sets: readonly { readonly key: string; readonly conditions: unknown }[]
  readonly samples: readonly {
    readonly head: Omit<TriedSample, 'conditions' | 'more'>
    /**
     * Names for which the conditions are evaluated. `null` if they are not evaluated; `head` then contains
     * the value.
     */
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
  valid: Type.Boolean({ description: 'Whether the conditions are valid.' }),
  findings: Type.Array(ErrorFinding, {
    description:
      'Errors in the conditions and their locations: the `detail` of the 422 response to creating the set. Empty if it is valid.',
  }),
  warnings: Type.Array(ErrorFinding, {
    description:
      'Warnings for the author. `every_tenant`: the user set has no condition on tenants. `budget`: the conditions exceed the ' +
      'evaluation budget of a check for a sample, and the remaining tests are unknown, as in a decision.',
  }),
  samples: Type.Array(TriedSample, {
    description: 'In the order in which they were sent. Empty if the conditions are not valid.',
  }),
})
export type TriedSet = Static<typeof TriedSet>
