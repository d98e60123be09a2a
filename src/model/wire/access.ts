/**
 * The AuthZEN interface on the wire. Members not named here are ignored at every level; null counts as absent. What a
 * batch item may leave out, and what a search ignores, is said here too: one schema for each way to ask.
 */
import { Type, type Static, type TSchema } from 'typebox'
import { AttributeMap, optional } from './building-blocks.ts'

const Name = Type.String({ minLength: 1 })
const properties = optional(AttributeMap)

/** A subject or a resource that is meant itself. */
const Entity = Type.Object({ type: Name, id: Name, properties })
/** One that is searched for: whatever `id` it brings is ignored. */
const EntityType = Type.Object({ type: Name, properties })
/** A resource whose absent id asks about the type as a whole (contract section 0, row 15). */
const EntityOrType = Type.Object({ type: Name, id: optional(Name), properties })
const Action = Type.Object({ name: Name, properties })
const Context = optional(AttributeMap)

export const EvaluationRequest = Type.Object({
  subject: Entity,
  action: Action,
  resource: EntityOrType,
  context: Context,
})
export type EvaluationRequest = Static<typeof EvaluationRequest>

/** As the final specification has it: an evaluation is about an instance (`AUTHZEN_STRICT`). */
export const StrictEvaluationRequest = Type.Object({ ...EvaluationRequest.properties, resource: Entity })

export const EVALUATION_SEMANTICS = ['execute_all', 'deny_on_first_deny', 'permit_on_first_permit'] as const
export type EvaluationSemantic = (typeof EVALUATION_SEMANTICS)[number]

/**
 * A batch. Items are looked at one by one, so that a bad one is answered at its place; the defaults when an item
 * inherits them.
 */
export const EvaluationsRequest = Type.Object({
  evaluations: optional(Type.Array(Type.Unknown())),
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

/** Page sizes: a maximum is a maximum, so large ones are cut to the ceiling and not refused. */
const PageSize = optional(Type.Integer({ minimum: 0 }))

/** Both dialects: `token` and `limit` of the final specification, `next_token` and `size` of earlier drafts. */
const Page = optional(
  Type.Object({
    token: optional(Type.String()),
    next_token: optional(Type.String()),
    limit: PageSize,
    size: PageSize,
    properties,
  }),
)
export type PageInSearch = Static<typeof Page>

export const SubjectSearchRequest = Type.Object({
  subject: EntityType,
  action: Action,
  resource: Entity,
  context: Context,
  page: Page,
})
export type SubjectSearchRequest = Static<typeof SubjectSearchRequest>

export const ResourceSearchRequest = Type.Object({
  subject: Entity,
  action: Action,
  resource: EntityType,
  context: Context,
  page: Page,
})
export type ResourceSearchRequest = Static<typeof ResourceSearchRequest>

export const ActionSearchRequest = Type.Object({
  subject: Entity,
  resource: Entity,
  context: Context,
  page: Page,
})
export type ActionSearchRequest = Static<typeof ActionSearchRequest>

const searchResponse = <Result extends TSchema>(result: Result) =>
  Type.Object({
    page: Type.Object({
      next_token: Type.String(),
      count: Type.Integer({ minimum: 0 }),
      total: Type.Integer({ minimum: 0 }),
    }),
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
