/**
 * API schemas of the native decision interface (native.md A.2, A.3). Members that are not listed here are
 * ignored.
 */
import { type Static, Type } from 'typebox'
import { AttributeMap, optional } from '#model/wire/common-fields.ts'
import { UNDESCRIBED } from '#model/wire/paging.ts'
import { DecisionDebug } from './decision-debug.ts'
import { ExplainedRule } from './explained-rule.ts'
import { NativeError } from '#model/wire/problem.ts'

/** An empty key is rejected, because no entity has one (native.md D-42). */
const Key = Type.String({ minLength: 1 })

/** A member that older clients send with another spelling. */
const OtherSpelling = Type.Optional(Type.Union([Type.String(), Type.Null()], { [UNDESCRIBED]: true }))

export const UserInQuery = Type.Object({
  key: Key,
  email: optional(Type.String()),
  first_name: optional(Type.String()),
  last_name: optional(Type.String()),
  firstName: OtherSpelling,
  lastName: OtherSpelling,
  attributes: optional(AttributeMap),
})

export const ResourceInQuery = Type.Object({
  type: Key,
  key: optional(Type.String({ description: 'Absent or empty: a check of the type.' })),
  tenant: optional(
    Type.String({
      minLength: 1,
      description: 'Absent: the tenant of the instance, otherwise the default tenant.',
    }),
  ),
  attributes: optional(AttributeMap),
  context: optional(AttributeMap),
})

export const AllowedQuery = Type.Object(
  {
    user: UserInQuery,
    action: Key,
    resource: ResourceInQuery,
    context: optional(AttributeMap),
    sdk: optional(Type.String()),
  },
  {
    examples: [{ user: { key: 'carol' }, action: 'write', resource: { type: 'document', key: 'roadmap' } }],
  },
)
export type AllowedQuery = Static<typeof AllowedQuery>

export const BulkAuthorizationQuery = Type.Array(AllowedQuery)

const resultFields = {
  allow: Type.Boolean(),
  result: Type.Boolean({ description: 'The same value, for older clients.' }),
}
export const QuestionTold = Type.Object(
  { user: UserInQuery, action: Key, resource: ResourceInQuery },
  { description: 'The check as received; only with `debug`.' },
)

export const AllowedResult = Type.Object(
  {
    ...resultFields,
    /** `debug` and `query` are present only with `DEBUG_DECISIONS`. */
    debug: Type.Optional(DecisionDebug),
    query: Type.Optional(QuestionTold),
  },
  { examples: [{ allow: true, result: true }] },
)
export type AllowedResult = Static<typeof AllowedResult>

/** Body of a 403 response if denials also have the status 403. */
export const DeniedOrRefused = Type.Union([AllowedResult, NativeError])

export const ExplainQuery = Type.Object({
  full: Type.Optional(
    Type.Boolean({
      description: 'Return all conditions of each side of a rule, with their values.',
    }),
  ),
})

export const ExplainedResult = Type.Object({
  ...resultFields,
  debug: DecisionDebug,
  rules: Type.Optional(
    Type.Array(ExplainedRule, {
      description:
        'Results of the rules on the action and resource, allowing ones first; at most 100. Absent if no rule was evaluated.',
    }),
  ),
  more: Type.Optional(Type.Boolean({ description: 'More rules exist than are listed. Absent if not.' })),
})
export type ExplainedResult = Static<typeof ExplainedResult>

/** The request and response of `/allowed`, in the envelopes of Open Policy Agent (native.md A.7). */
export const OpaQuery = Type.Object({ input: AllowedQuery })
export const OpaResult = Type.Object({ result: Type.Object({ allow: Type.Boolean() }) })

export const BulkAllowedResult = Type.Object({ allow: Type.Array(AllowedResult) })

export const OpaBulkQuery = Type.Object({ input: BulkAuthorizationQuery })
export const OpaBulkResult = Type.Object({ result: BulkAllowedResult })
