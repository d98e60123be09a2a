/**
 * API schemas of API keys: the scope of the caller's own key (native.md B.2), and their management (native.md
 * B.13, D-35).
 */
import { type Static, Type } from 'typebox'
import { KEY_OVERLAP_SECONDS_MAX } from '#model/limits.ts'
import { envelope, pagingQuery, SearchText } from '#model/wire/paging.ts'
import { AccessLevel, moment, Name, nullable, optional, Timestamp, Uuid } from '#model/wire/common-fields.ts'
import { Reference } from '#model/wire/references.ts'
import { limitFields, shownLimits } from './delegation.ts'

const keyScopeFields = {
  organization_id: Uuid,
  project_id: nullable(Uuid),
  environment_id: nullable(Uuid),
}

export const ApiKeyScope = Type.Object({ ...keyScopeFields, access_level: AccessLevel, ...shownLimits })

export const ApiKeyObjectType = Type.Union(
  [Type.Literal('org'), Type.Literal('project'), Type.Literal('env')],
  { description: 'Scope of a key: everything, one project, or one environment.' },
)
export type ApiKeyObjectType = Static<typeof ApiKeyObjectType>

/** Stored for clients; it has no effect. */
export const ApiKeyOwnerType = Type.Union([
  Type.Literal('pdp_config'),
  Type.Literal('member'),
  Type.Literal('elements'),
])

export const ApiKeyCreate = Type.Object({
  /** The caller's own organization. Other values are rejected. */
  organization_id: optional(Reference),
  /** Project and environment, each by key or id. */
  project_id: optional(Reference),
  environment_id: optional(Reference),
  /** If absent, it is the narrowest type that fits the given ids. */
  object_type: optional(ApiKeyObjectType),
  /** Null or absent: `admin`. `decide` is only for keys of environments. */
  access_level: optional(AccessLevel),
  owner_type: optional(ApiKeyOwnerType),
  name: optional(Name),
  /** Only for keys of environments. */
  ...limitFields,
})
export type ApiKeyCreate = Static<typeof ApiKeyCreate>

/** Changes of a key. Null clears the name, and changes no limit. */
export const ApiKeyUpdate = Type.Object({
  name: optional(Name),
  access_level: Type.Optional(AccessLevel),
  ...limitFields,
})
export type ApiKeyUpdate = Static<typeof ApiKeyUpdate>

/** Rotation of a key: time for which the replaced secret stays valid. If absent, `KEY_OVERLAP_SECONDS`. */
export const ApiKeyRotation = Type.Object({
  overlap_seconds: optional(Type.Integer({ minimum: 0, maximum: KEY_OVERLAP_SECONDS_MAX })),
})
export type ApiKeyRotation = Static<typeof ApiKeyRotation>

/** The key or the member that created a key. */
export const ApiKeyMaker = Type.Object({
  api_key_id: { ...nullable(Uuid), description: 'Null: the key in `ADMIN_API_KEY`, or a member.' },
  name: { ...nullable(Name), description: 'Name of that key at that time.' },
  member: Type.Optional(
    Type.Object(
      { id: Uuid, name: nullable(Type.String()) },
      { description: 'The member, with its name at that time. Absent: an API key created this key.' },
    ),
  ),
})

export const ApiKey = Type.Object({
  id: Uuid,
  ...keyScopeFields,
  object_type: ApiKeyObjectType,
  access_level: AccessLevel,
  ...shownLimits,
  owner_type: ApiKeyOwnerType,
  name: nullable(Name),
  /**
   * Present in the response when the key is created or rotated, and when the key of an environment is read.
   * Otherwise null.
   */
  secret: nullable(Type.String()),
  former_secret_valid_until: Type.Optional(
    moment('Time until which the secret before the last rotation is valid. Absent: it is not valid.'),
  ),
  created_at: Timestamp,
  /**
   * Absent if the service created the key at startup, or if a release created it that did not record the
   * creator.
   */
  created_by: Type.Optional(ApiKeyMaker),
  /**
   * Time of the last use, with a precision of ten minutes. It is the start of the ten-minute interval, or the
   * creation time of the key if that is later. Null if no use has been recorded.
   */
  last_used_at: nullable(Timestamp),
})
export type ApiKey = Static<typeof ApiKey>

export const ApiKeyEnvelope = envelope(ApiKey)

export const ApiKeysQuery = Type.Object({
  ...pagingQuery,
  object_type: Type.Optional(ApiKeyObjectType),
  proj_id: Type.Optional(Reference),
  created_by_member: Type.Optional(
    Type.String({ minLength: 1, description: 'Only keys that the member with this id created.' }),
  ),
  search: Type.Optional(SearchText),
})
export type ApiKeysQuery = Static<typeof ApiKeysQuery>

export const ApiKeyPath = Type.Object({ api_key_id: Reference })
export type ApiKeyPath = Static<typeof ApiKeyPath>
