/**
 * API schemas of the AuthZEN interface. Members that are not listed here are ignored at every level, and null
 * counts as absent. There is one schema for each kind of request, because the items of a batch can omit
 * members and searches ignore some.
 */
import { Type, type Static, type TSchema } from 'typebox'
import { AttributeMap, optional } from '#model/wire/common-fields.ts'

const Name = Type.String({ minLength: 1 })
const properties = optional(AttributeMap)

/** The subject or resource of an evaluation. */
export const AccessEntity = Type.Object({ type: Name, id: Name, properties })
/**
 * Type of the entities to search for. An `id` is ignored, and so are all properties except the tenant of a
 * resource.
 */
export const AccessEntityType = Type.Object({
  type: Name,
  properties: optional(
    AttributeMap,
    'Ignored, except `tenant` of a resource: only stored attributes of candidates are used.',
  ),
})
/** A resource. Without an id, it stands for the type as a whole (native.md 0.15). */
export const AccessEntityOrType = Type.Object({ type: Name, id: optional(Name), properties })
export const AccessAction = Type.Object({ name: Name, properties })
const Context = optional(AttributeMap)

export const EvaluationRequest = Type.Object(
  { subject: AccessEntity, action: AccessAction, resource: AccessEntityOrType, context: Context },
  {
    examples: [
      {
        subject: { type: 'user', id: 'carol' },
        action: { name: 'write' },
        resource: { type: 'document', id: 'roadmap' },
      },
    ],
  },
)
export type EvaluationRequest = Static<typeof EvaluationRequest>

/** An evaluation as in the final specification, where the resource must be an instance (`AUTHZEN_STRICT`). */
export const StrictEvaluationRequest = Type.Object({
  ...EvaluationRequest.properties,
  resource: AccessEntity,
})

export const EVALUATION_SEMANTICS = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const
export type EvaluationSemantic = (typeof EVALUATION_SEMANTICS)[number]

/**
 * A batch. Its items are validated one by one, so that an invalid item gets an error at its position. A
 * default is validated when an item inherits it.
 */
export const EvaluationsRequest = Type.Object({
  evaluations: optional(
    Type.Array(Type.Unknown(), {
      description:
        'Items with the members of an evaluation. If an item lacks a member, the member of this object is its default.',
    }),
  ),
  subject: Type.Optional(Type.Unknown()),
  action: Type.Optional(Type.Unknown()),
  resource: Type.Optional(Type.Unknown()),
  context: Type.Optional(Type.Unknown()),
  options: optional(Type.Object({ evaluations_semantic: optional(Type.Enum(EVALUATION_SEMANTICS)) })),
})
export type EvaluationsRequest = Static<typeof EvaluationsRequest>

export const Decision = Type.Object({
  decision: Type.Boolean(),
  context: Type.Optional(
    Type.Object({ error: Type.Object({ status: Type.Integer(), message: Type.String() }) }),
  ),
})
export type Decision = Static<typeof Decision>

export const EvaluationsResponse = Type.Union([Decision, Type.Object({ evaluations: Type.Array(Decision) })])

/** Page size. If it is larger than the limit, it is reduced to the limit and not rejected. */
const PageSize = Type.Integer({ minimum: 0 })

/**
 * Page of a search, with the names of both versions: `token` and `limit` of the final specification, and
 * `next_token` and `size` of earlier drafts.
 */
export const PageInSearch = Type.Object({
  token: optional(Type.String(), 'The `next_token` of the previous response. Absent: the first page.'),
  next_token: optional(Type.String(), 'The same as `token`, with its name in drafts of the specification.'),
  limit: optional(PageSize, 'Maximum number of results in the response.'),
  size: optional(PageSize, 'The same as `limit`, with its name in drafts of the specification.'),
  properties,
})
const Page = optional(PageInSearch)
export type PageInSearch = Static<typeof Page>

/**
 * Example of a page. It is the first page: an example of a later page would need a token, and tokens that the
 * service did not issue are rejected.
 */
const FIRST_PAGE = { limit: 10 }
const CAROL = { type: 'user', id: 'carol' }
const ROADMAP = { type: 'document', id: 'roadmap' }

export const SubjectSearchRequest = Type.Object(
  {
    subject: AccessEntityType,
    action: AccessAction,
    resource: AccessEntity,
    context: Context,
    page: Page,
  },
  {
    examples: [{ subject: { type: 'user' }, action: { name: 'write' }, resource: ROADMAP, page: FIRST_PAGE }],
  },
)
export type SubjectSearchRequest = Static<typeof SubjectSearchRequest>

export const ResourceSearchRequest = Type.Object(
  {
    subject: AccessEntity,
    action: AccessAction,
    resource: AccessEntityType,
    context: Context,
    page: Page,
  },
  {
    examples: [
      { subject: CAROL, action: { name: 'write' }, resource: { type: 'document' }, page: FIRST_PAGE },
    ],
  },
)
export type ResourceSearchRequest = Static<typeof ResourceSearchRequest>

export const ActionSearchRequest = Type.Object(
  {
    subject: AccessEntity,
    resource: AccessEntity,
    context: Context,
    page: Page,
  },
  { examples: [{ subject: CAROL, resource: ROADMAP, page: FIRST_PAGE }] },
)
export type ActionSearchRequest = Static<typeof ActionSearchRequest>

export const PageFound = Type.Object({
  next_token: Type.String({
    description: 'Empty on the last page. Other pages can also have fewer results than requested, or none.',
  }),
  count: Type.Integer({ minimum: 0 }),
  total: Type.Optional(
    Type.Integer({
      minimum: 0,
      description:
        'Total number of results. Absent if conditions are evaluated, because the total is then not computed.',
    }),
  ),
})

const searchResponse = <Result extends TSchema>(result: Result) =>
  Type.Object({
    page: PageFound,
    results: Type.Array(result),
  })

export const EntitySearchResponse = searchResponse(Type.Object({ type: Type.String(), id: Type.String() }))
export const ActionSearchResponse = searchResponse(Type.Object({ name: Type.String() }))

export const Metadata = Type.Object({
  policy_decision_point: Type.String(),
  access_evaluation_endpoint: Type.String(),
  access_evaluations_endpoint: Type.String(),
  search_subject_endpoint: Type.String(),
  search_resource_endpoint: Type.String(),
  search_action_endpoint: Type.String(),
})
