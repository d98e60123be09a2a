/** API schemas of environments, their statistics and their copies (native.md B.13). */
import { type Static, Type } from 'typebox'
import { COPY_PATTERNS_MAX } from '#model/limits.ts'
import {
  AttributeMap,
  Name,
  nullable,
  optional,
  Text,
  timeFields,
  Timestamp,
  Uuid,
} from '#model/wire/common-fields.ts'
import { environmentPath, Reference, ShortKey } from '#model/wire/references.ts'
import { pagingQuery, SearchText } from '#model/wire/paging.ts'

/** Fields that are stored for clients and have no effect. */
const describingFields = {
  description: optional(Text),
  custom_branch_name: optional(Text),
  jwks: optional(AttributeMap),
  settings: optional(AttributeMap),
}

export const EnvironmentCreate = Type.Object({ key: ShortKey, name: Name, ...describingFields })
export type EnvironmentCreate = Static<typeof EnvironmentCreate>

export const EnvironmentUpdate = Type.Object({ name: Type.Optional(Name), ...describingFields })
export type EnvironmentUpdate = Static<typeof EnvironmentUpdate>

/** Reason why this node makes no decisions for an environment, and the time since then. */
export const EnvironmentClosure = Type.Object({ reason: Type.String(), since: Timestamp })

const environmentFields = {
  id: Uuid,
  key: ShortKey,
  organization_id: Uuid,
  project_id: Uuid,
  ...timeFields,
  name: Name,
  description: nullable(Text),
  custom_branch_name: nullable(Text),
  jwks: nullable(AttributeMap),
  settings: nullable(AttributeMap),
  /** Present only while the environment is closed. */
  closed: Type.Optional(EnvironmentClosure),
}

export const Environment = Type.Object(environmentFields)
export type Environment = Static<typeof Environment>

/**
 * Response of the operations that read environments. The published models of the other operations do not have
 * the member for e-mail.
 */
export const EnvironmentWithEmail = Type.Object({
  ...environmentFields,
  email_configuration: nullable(AttributeMap, 'Always null: the service sends no e-mail.'),
})
export type EnvironmentWithEmail = Static<typeof EnvironmentWithEmail>

/** List of environments. It is always an array without an envelope (native.md B.1). */
export const EnvironmentList = Type.Array(EnvironmentWithEmail)

const Count = Type.Integer({ minimum: 0 })

/**
 * Statistics of an environment. Some members of the published model have no counterpart in this service;
 * their values are constant.
 */
export const EnvironmentStats = Type.Object({
  ...environmentFields,
  pdp_configs: Type.Array(Type.Unknown(), { maxItems: 0 }),
  stats: Type.Object({
    roles: Count,
    users: Count,
    /** Number of permissions that roles have. */
    policies: Count,
    resources: Count,
    tenants: Count,
    condition_sets: Count,
    /** Number of rules on condition sets. */
    set_rules: Count,
    proxy_configs: Count,
    /** Always 0, because the service does not record the users in decisions. */
    mau: Count,
    has_decision_logs: Type.Literal(false),
    members: Type.Array(Type.Unknown(), { maxItems: 0 }),
  }),
})
export type EnvironmentStats = Static<typeof EnvironmentStats>

const KeyPatterns = Type.Array(Text, { maxItems: COPY_PATTERNS_MAX })

/**
 * Selects objects by key. In a pattern, `*` stands for any sequence of characters. Without `include`, all
 * objects are selected.
 */
export const CopyFilter = Type.Object({ include: optional(KeyPatterns), exclude: optional(KeyPatterns) })
export type CopyFilter = Static<typeof CopyFilter>

export const EnvironmentCopy = Type.Object({
  target_env: Type.Object(
    { existing: optional(Reference), new: optional(EnvironmentCreate) },
    { description: 'Either an existing environment, by key or id, or a new one.' },
  ),
  /** What to do if the target already has an object with the same key. */
  conflict_strategy: Type.Optional(
    Type.Union([Type.Literal('fail'), Type.Literal('overwrite')], { default: 'fail' }),
  ),
  scope: optional(
    Type.Object({
      resources: optional(CopyFilter),
      roles: optional(CopyFilter),
      user_sets: optional(CopyFilter),
      resource_sets: optional(CopyFilter),
    }),
  ),
})
export type EnvironmentCopy = Static<typeof EnvironmentCopy>

/** A copy that was requested as a task. It is already complete when the response is sent. */
export const CopyTask = Type.Object({
  task_id: Type.String({ description: 'Id of the target environment.' }),
  status: Type.Literal('success'),
  result: Environment,
  error: Type.Null(),
})

/**
 * `wait` is the number of seconds for which a client would wait for the result. It has no effect, because the
 * result is always available.
 */
export const CopyTaskQuery = Type.Object({
  wait: Type.Optional(
    Type.Number({ minimum: 0, description: 'Accepted, but without effect: the copy is already complete.' }),
  ),
})

export const CopyTaskPath = Type.Object({ ...environmentPath, task_id: Reference })

export const EnvironmentsQuery = Type.Object({ ...pagingQuery, search: Type.Optional(SearchText) })
export type EnvironmentsQuery = Static<typeof EnvironmentsQuery>

export const EnvironmentPath = Type.Object(environmentPath)
export type EnvironmentPath = Static<typeof EnvironmentPath>
