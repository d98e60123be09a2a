/** API schemas of the audit log, which records every management call that changed something. */
import { type Static, Type } from 'typebox'
import { Actor } from './actor.ts'
import { LONG_KEY_BYTES_MAX } from '#model/limits.ts'
import { AttributeMap, nullable, moment, Timestamp, Uuid } from '#model/wire/common-fields.ts'
import { envelope, pagingQuery } from '#model/wire/paging.ts'
import { environmentPath } from '#model/wire/references.ts'

/** Kinds of the entities that an entry names. For a group, the kind is `resource_instance`. */
const AuditedKind = Type.Union([
  Type.Literal('user'),
  Type.Literal('tenant'),
  Type.Literal('resource'),
  Type.Literal('resource_instance'),
  Type.Literal('role'),
  Type.Literal('relation'),
  Type.Literal('action'),
  Type.Literal('action_group'),
  Type.Literal('attribute'),
  Type.Literal('condition_set'),
  Type.Literal('proxy_config'),
  Type.Literal('project'),
  Type.Literal('environment'),
  Type.Literal('api_key'),
  Type.Literal('member'),
  Type.Literal('member_group'),
])
export type AuditedKind = Static<typeof AuditedKind>

export const AuditedThing = Type.Object({
  kind: AuditedKind,
  key: nullable(
    Type.String(),
    'Key of the entity. For an instance, it has the form `type:key`. For an API key or a member, it is the name, or null without a name. For a member group, it is the name of the group.',
  ),
  id: Uuid,
})
export type AuditedThing = Static<typeof AuditedThing>

export const AuditEntry = Type.Object({
  id: Uuid,
  created_at: Timestamp,
  operation: Type.String({ description: 'The `operationId` of the call in this description.' }),
  api_key_id: nullable(Uuid),
  actor: nullable(
    Actor,
    'Actor that the client of the call claimed, or the member in whose session the call was made. Null: no actor, or an entry of an older release.',
  ),
  request_id: Type.String({ description: 'The `X-Request-ID` of the call.' }),
  sequence: Type.Integer({
    minimum: 1,
    description:
      'The commit that made the change: the number after the dot in `X-Revision`. Entries from before an import refer to the epoch that it replaced.',
  }),
  input: AttributeMap,
  is_input_cut: Type.Boolean({
    description: 'Whether the body was too long to be stored. Entities in the path are stored.',
  }),
  about: Type.Array(AuditedThing, {
    description:
      'Entities that the call names by key or ID, including deleted entities. Each is listed with its key and its ID. Empty in entries that an older release wrote.',
  }),
  is_about_cut: Type.Boolean({
    description:
      'Whether `about` contains only the first 100 entities, because the page would be too long. With `per_page=1`, it contains all entities.',
  }),
})
export type AuditEntry = Static<typeof AuditEntry>

export const AuditEntryEnvelope = envelope(AuditEntry)

/** Kinds of entities by which entries can be filtered. */
const AUDIT_SUBJECT_KINDS = [
  'user',
  'group',
  'resource',
  'resource_instance',
  'tenant',
  'role',
  'condition_set',
] as const
export type AuditSubjectKind = (typeof AUDIT_SUBJECT_KINDS)[number]

/** Kinds of actors by which entries can be filtered. */
const ACTOR_KINDS = ['claimed', 'member', 'none'] as const
export type ActorKind = (typeof ACTOR_KINDS)[number]

export const OrganizationAuditQuery = Type.Object({
  ...pagingQuery,
  operation: Type.Optional(Type.String({ minLength: 1, description: 'Only this operation.' })),
  api_key_id: Type.Optional(
    Type.String({ minLength: 1, description: 'Only calls with this API key; `admin` for `ADMIN_API_KEY`.' }),
  ),
  actor: Type.Optional(
    Type.String({
      minLength: 1,
      description: 'Only calls that named exactly this actor, in `X-Actor` or `X-Actor-For`.',
    }),
  ),
  actor_kind: Type.Optional(
    Type.Enum(ACTOR_KINDS, {
      description:
        '`claimed`: only calls with `X-Actor`; `member`: only calls of signed-in members; `none`: only entries without an actor.',
    }),
  ),
  member_id: Type.Optional(
    Type.String({ minLength: 1, description: 'Only calls in sessions of this member.' }),
  ),
  request_id: Type.Optional(
    Type.String({ minLength: 1, description: 'Only the call with this `X-Request-ID`.' }),
  ),
  since: Type.Optional(moment('Only calls at or after this time.')),
  until: Type.Optional(moment('Only calls before this time.')),
  order: Type.Optional(
    Type.Union([Type.Literal('newest'), Type.Literal('oldest')], {
      default: 'newest',
      description: 'Order of the entries.',
    }),
  ),
})
export type OrganizationAuditQuery = Static<typeof OrganizationAuditQuery>

export const AuditQuery = Type.Object({
  ...OrganizationAuditQuery.properties,
  about: Type.Optional(
    Type.String({
      pattern: `^(${AUDIT_SUBJECT_KINDS.join('|')}):.+$`,
      maxLength: 3 * LONG_KEY_BYTES_MAX,
      description:
        'Only calls that name this entity: its kind, a colon, and its key or id, such as `user:alice`, `group:support`, ' +
        '`resource:document`, `resource_instance:document:readme`.',
    }),
  ),
})
export type AuditQuery = Static<typeof AuditQuery>

export const AuditPath = Type.Object(environmentPath)
