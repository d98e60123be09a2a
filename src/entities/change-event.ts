/** API schemas of the change stream: its events and its parameters. */
import { type Static, type TSchema, Type } from 'typebox'
import { environmentPath, ShortKey } from '#model/wire/references.ts'
import { moment, nullable, Uuid } from '#model/wire/common-fields.ts'
import { EventActor } from '#model/wire/organization/actor.ts'
import { ConditionSet } from './condition-set.ts'
import { ProxyConfig } from './proxy-config.ts'
import { Relation } from './relation.ts'
import { RelationshipTuple } from './relationship-tuple.ts'
import { Resource } from './resource.ts'
import { ResourceInstance } from './resource-instance.ts'
import { TenantRole } from './role.ts'
import { RoleAssignment } from './role-assignment.ts'
import { SetRule } from './set-rule.ts'
import { Tenant } from './tenant.ts'
import { User } from './user.ts'

export const EVENTS_TYPE = 'text/event-stream'

/** Kinds of entities in an environment, as the management API names them. */
export const CHANGE_NOUNS = [
  'user',
  'tenant',
  'resource_instance',
  'role_assignment',
  'relationship_tuple',
  'resource',
  'role',
  'relation',
  'condition_set',
  'set_rule',
  'proxy_config',
] as const
export type ChangeNoun = (typeof CHANGE_NOUNS)[number]

export const CHANGE_VERBS = ['created', 'updated', 'deleted'] as const
export type ChangeVerb = (typeof CHANGE_VERBS)[number]

export type ChangeKind = `${ChangeNoun}.${ChangeVerb}`

const CHANGE_KINDS = CHANGE_NOUNS.flatMap(noun => CHANGE_VERBS.map(verb => `${noun}.${verb}` as const))

/** Maximum number of values of one parameter. */
const FILTER_VALUES_MAX = 100

const RevisionText = Type.String({ description: 'State of the environment: `<epoch>.<sequence>`.' })

/** Entities without the parts that have their own events. */
export const ToldUser = Type.Omit(User, ['associated_tenants', 'roles'])
export const ToldInstance = Type.Omit(ResourceInstance, ['relationships'])
export const ToldTuple = Type.Omit(RelationshipTuple, [
  'subject_details',
  'relation_details',
  'object_details',
  'tenant_details',
])
export const ToldResource = Type.Omit(Resource, ['roles', 'relations'])
export const ToldRole = Type.Object({
  ...TenantRole.properties,
  resource: nullable(ShortKey),
  resource_id: nullable(Uuid),
})
export const ToldConditionSet = Type.Omit(ConditionSet, ['resource'])

/** Members that identify a deleted entity. */
export const DELETED_ITEMS = {
  user: Type.Pick(User, ['id', 'key']),
  tenant: Type.Pick(Tenant, ['id', 'key']),
  resource_instance: Type.Pick(ResourceInstance, ['id', 'key', 'resource', 'tenant']),
  role_assignment: Type.Pick(RoleAssignment, ['id', 'user', 'role', 'tenant', 'resource_instance']),
  relationship_tuple: Type.Pick(RelationshipTuple, ['id', 'subject', 'relation', 'object', 'tenant']),
  resource: Type.Pick(Resource, ['id', 'key']),
  role: Type.Pick(ToldRole, ['id', 'key', 'resource']),
  relation: Type.Pick(Relation, ['id', 'key', 'object_resource']),
  condition_set: Type.Pick(ConditionSet, ['id', 'key']),
  set_rule: Type.Pick(SetRule, ['id', 'user_set', 'permission', 'resource_set']),
  proxy_config: Type.Pick(ProxyConfig, ['id', 'key']),
} as const
export type DeletedItem<Noun extends ChangeNoun> = Static<(typeof DELETED_ITEMS)[Noun]>

/** Existing entities, in the same form as in a management response. */
const WHOLE_ITEMS = [
  ToldUser,
  Tenant,
  ToldInstance,
  RoleAssignment,
  ToldTuple,
  ToldResource,
  ToldRole,
  Relation,
  ToldConditionSet,
  SetRule,
  ProxyConfig,
]
export type WholeItem = Static<(typeof WHOLE_ITEMS)[number]>

/** Removes duplicate schemas. */
function unlike<Schema extends TSchema>(schemas: readonly Schema[]): Schema[] {
  return [...new Map(schemas.map(schema => [JSON.stringify(schema), schema])).values()]
}

export const ChangeCause = Type.Enum(['request', 'expired', 'service'], {
  description:
    '`request`: a management request; `expired`: a grant expired; `service`: a change by the service itself, ' +
    'such as the creation of the first tenant or cleanup after a group.',
})
export type ChangeCause = Static<typeof ChangeCause>

const Count = Type.Optional(Type.Integer({ minimum: 0 }))
/** Numbers of dependents that were deleted with an entity. */
export const RemovedWith = Type.Object({
  resource_instances: Count,
  role_assignments: Count,
  relationship_tuples: Count,
  set_rules: Count,
})
export type RemovedWith = Static<typeof RemovedWith>

/** Author and time of a change. */
export const ChangeOrigin = Type.Object({
  revision: RevisionText,
  time: nullable(moment('Time of the change. Null: a change by the service whose time is unknown.')),
  cause: ChangeCause,
  operation: nullable(Type.String({ description: 'The `operationId` of the call in this description.' })),
  api_key_id: nullable(Uuid),
  actor: nullable(EventActor, 'Actor of the call, or null.'),
  request_id: nullable(Type.String({ description: '`X-Request-ID` of the call.' })),
})
export type ChangeOrigin = Static<typeof ChangeOrigin>

export const ChangeEvent = Type.Object(
  {
    kind: Type.Enum(CHANGE_KINDS, { description: 'The same as `event:`: the kind of entity and of change.' }),
    ...ChangeOrigin.properties,
    item: Type.Union([...WHOLE_ITEMS, ...unlike(Object.values(DELETED_ITEMS))], {
      description:
        'Current content of the entity. If the entity was deleted, only the fields that identify it.',
    }),
    removed_with: Type.Optional(RemovedWith),
  },
  { description: 'One change. Only the last event of a commit has an `id:`.' },
)

/** A scope whose permissions clients must list again. */
export const AccessScope = Type.Object(
  {
    user: Type.Optional(
      Type.String({ description: 'All permissions of this user, from `POST /access/v1/search/resource`.' }),
    ),
    resource: Type.Optional(
      Type.String({
        description: 'All users with access to this instance, from `POST /access/v1/search/subject`.',
      }),
    ),
    tenant: Type.Optional(
      Type.String({
        description: 'All access in this tenant. If `user` is present, only the access of this user.',
      }),
    ),
  },
  {
    description: 'Scope of access that changed. Without members, the scope is all access by the permission.',
  },
)

const AccessPair = Type.Object({
  user: Type.String(),
  resource: Type.String({ description: 'The key of an instance.' }),
})

export const AccessChanged = Type.Object(
  {
    kind: Type.Literal('access.changed'),
    ...ChangeOrigin.properties,
    item: Type.Object({
      type: ShortKey,
      action: ShortKey,
      gained: Type.Array(AccessPair),
      lost: Type.Array(AccessPair),
      many: Type.Optional(
        Type.Array(AccessScope, {
          description:
            'Scopes in which too many pairs changed, or in which changes were made before the stream began. List the access in these scopes again at this revision or a later one.',
        }),
      ),
    }),
  },
  {
    description:
      'Users who gained or lost a permission because of a commit. Sent only with `effective`. Contains at most 1,000 pairs and scopes.',
  },
)

export const RESET_REASONS = ['too_old', 'history_replaced', 'older_release'] as const
export type ResetReason = (typeof RESET_REASONS)[number]

export const StreamPosition = Type.Object(
  { revision: RevisionText },
  {
    description:
      'Content of `event: snapshot` and `event: position`. `snapshot` is the first event and contains the state from which the stream continues. `position` means that all ' +
      'requested events up to this state have been sent.',
  },
)

export const StreamReset = Type.Object(
  {
    revision: RevisionText,
    reason: Type.Enum(RESET_REASONS, {
      description:
        '`too_old`: the log no longer contains this revision. `history_replaced`: the environment was restored, imported or reinitialized. ' +
        '`older_release`: an older release made the change and stored too little about it.',
    }),
  },
  {
    description:
      'Content of `event: reset`. The client must load everything again, at this state or a later one. The stream continues from this state.',
  },
)

export const STREAM_ENDS = ['closing', 'slow'] as const
export type StreamEnd = (typeof STREAM_ENDS)[number]

export const StreamClosing = Type.Object(
  { reason: Type.String() },
  {
    description:
      'Content of `event: closing`, and of `event: slow`, which is sent to a slow client. The stream ends after it. Reconnect with the last ID.',
  },
)

export const StreamEvent = Type.Union(
  [ChangeEvent, AccessChanged, StreamPosition, StreamReset, StreamClosing],
  {
    description: 'The `data:` of one event.',
  },
)

export const ChangesPath = Type.Object(environmentPath)

function listed(description: string) {
  const values = Type.Array(Type.String({ minLength: 1, maxLength: 4_096 }), {
    maxItems: FILTER_VALUES_MAX,
    description: `Can be repeated, and can contain several values separated by commas. ${description}`,
  })
  return Type.Optional(values)
}

export const ChangesQuery = Type.Object({
  since: Type.Optional(
    Type.String({
      description:
        'The `id:` of an event or a revision. The stream starts after it. This parameter is an alternative to `Last-Event-ID`.',
    }),
  ),
  kinds: listed('Only these kinds: `role_assignment`, or `role_assignment.deleted`.'),
  types: listed('Only changes of entities of these resources, by key.'),
  tenants: listed('Only changes of entities in these tenants, by key.'),
  effective: listed(
    'Report effective access changes of these permissions instead of changes, such as `document:read`; at most 8. Cannot be combined with filters.',
  ),
})
export type ChangesQuery = Static<typeof ChangesQuery>
