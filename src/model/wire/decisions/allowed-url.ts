/**
 * API schemas of checks of requests by their URLs (conditions.md 10.3). Members not listed here are ignored.
 */
import { type Static, Type } from 'typebox'
import { ASKED_URL_LENGTH_MAX } from '#model/limits.ts'
import { AttributeMap, optional } from '#model/wire/common-fields.ts'
import { UNDESCRIBED } from '#model/wire/paging.ts'
import { DecisionDebug } from './decision-debug.ts'
import { AllowedResult, QuestionTold, UserInQuery } from './decision.ts'

export const NO_MATCHING_RULE = 'no_matching_mapping_rule'

const Method = Type.String({
  minLength: 1,
  description: 'Method of the request, in upper or lower case. Required.',
})

export const AllowedUrlQuery = Type.Object(
  {
    user: UserInQuery,
    http_method: Type.Optional(Method),
    httpMethod: Type.Optional(Type.Union([Method, Type.Null()], { [UNDESCRIBED]: true })),
    url: Type.String({
      minLength: 1,
      maxLength: ASKED_URL_LENGTH_MAX,
      description: 'Complete URL of the request, including scheme and host.',
    }),
    tenant: Type.String({ minLength: 1 }),
    context: optional(AttributeMap),
    sdk: optional(Type.String()),
  },
  {
    examples: [
      {
        user: { key: 'carol' },
        http_method: 'GET',
        url: 'https://api.example.org/documents/roadmap',
        tenant: 'default',
      },
    ],
  },
)
export type AllowedUrlQuery = Static<typeof AllowedUrlQuery>

export const AllowedUrlResult = Type.Object({
  allow: AllowedResult.properties.allow,
  result: AllowedResult.properties.result,
  /** Present only with `DEBUG_DECISIONS`. */
  debug: Type.Optional(
    Type.Union([
      DecisionDebug,
      Type.Object(
        { reason: Type.Literal(NO_MATCHING_RULE) },
        { description: 'No mapping rule matches the request, or the match is ambiguous.' },
      ),
    ]),
  ),
  /** Present only with `DEBUG_DECISIONS`: the check to which the request was mapped. */
  query: Type.Optional(QuestionTold),
})
