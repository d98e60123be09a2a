/**
 * The content of an environment as lines of JSON, as exports return it and imports accept it. Each line is
 * one entity or fact. Lines refer only to earlier lines. They use keys instead of ids, so that they are
 * independent of the environment.
 *
 *     environment, user_attributes?, tenant_attributes?, (resource, resource_part…)…, role…, condition_set…,
 *     rule…, proxy_config…, tenant…, (user | instance)…, (assignment | tuple)…, end
 *
 * The last line contains the number of preceding lines, so that a truncated file is detected.
 */
import { type Static, Type } from 'typebox'
import { DERIVATIONS_MAX, MAPPING_RULES_PER_CONFIG_MAX, PARTS_PER_BODY_MAX } from '#model/limits.ts'
import { type BuiltInTypeKey, TENANT_TYPE_KEY, USER_TYPE_KEY } from '#model/built-in-types.ts'
import { environmentPath, LongKey, Reference, ShortKey } from '#model/wire/references.ts'
import { expiryMoment, Name, optional, Text, Timestamp } from '#model/wire/common-fields.ts'
import { ACTION } from './action.ts'
import { ConditionSetCreate, ConditionSetKey, ConditionSetType, Conditions } from './condition-set.ts'
import { AuthMechanism, MappingRuleStored } from './proxy-config.ts'
import { AttributeBlock, ResourceReplace } from './resource.ts'
import { schemasOf } from './entity.ts'
import { RELATION } from './relation.ts'
import { INSTANCE } from './resource-instance.ts'
import { DerivationBlock, DerivationCreate, RoleBlock } from './role.ts'
import { TENANT } from './tenant.ts'
import { USER } from './user.ts'

/**
 * Version of the format. It is incremented when this release cannot read the lines of earlier releases
 * unchanged any more.
 */
export const CONTENT_FORMAT = 1
export const CONTENT_TYPE = 'application/x-ndjson'

const times = { created_at: Type.Optional(Timestamp), updated_at: Type.Optional(Timestamp) }
/** Expiration time of an exported grant. It can be in the past. */
const contentExpiry = {
  expires_at: optional(expiryMoment('Expiration time. Absent or null: it does not expire.')),
}
const attributeBlocks = Type.Record(ShortKey, AttributeBlock, { additionalProperties: false })

/**
 * Purpose for which the groups API created a relation. Such a relation is removed together with its last
 * tuple.
 */
export const GroupRelationUse = Type.Union([
  Type.Object({ use: Type.Literal('grant'), role: ShortKey }),
  Type.Object({ use: Type.Literal('nesting') }),
])

export const ContentHeader = Type.Object({
  kind: Type.Literal('environment'),
  format: Type.Literal(CONTENT_FORMAT),
})

export const ContentAttributesOfUsers = Type.Object({
  kind: Type.Literal('user_attributes'),
  attributes: attributeBlocks,
})

export const ContentAttributesOfTenants = Type.Object({
  kind: Type.Literal('tenant_attributes'),
  attributes: attributeBlocks,
})

/** For each kind of line that contains attributes, the built-in type to which they belong. */
export const CARRIER_OF = {
  user_attributes: USER_TYPE_KEY,
  tenant_attributes: TENANT_TYPE_KEY,
} as const satisfies Readonly<Record<string, BuiltInTypeKey>>
export type CarrierKind = keyof typeof CARRIER_OF
export const CARRIER_KINDS = Object.keys(CARRIER_OF) as CarrierKind[]

/**
 * A role. It can have as many derivations as an environment. A request body can contain fewer, but clients
 * can add derivations one by one.
 */
const ContentRoleBlock = Type.Object({
  ...RoleBlock.properties,
  granted_to: optional(
    Type.Object({
      ...DerivationBlock.properties,
      users_with_role: Type.Optional(
        Type.Array(DerivationCreate, { default: [], maxItems: DERIVATIONS_MAX }),
      ),
    }),
  ),
})

/** Maps of a resource type. If they do not fit into one line, they continue in further lines. */
const resourceParts = {
  actions: ResourceReplace.properties.actions,
  attributes: ResourceReplace.properties.attributes,
  roles: optional(
    Type.Record(ShortKey, ContentRoleBlock, {
      additionalProperties: false,
      maxProperties: PARTS_PER_BODY_MAX,
    }),
  ),
  relations: ResourceReplace.properties.relations,
  /** Properties of relations that `relations` does not contain. */
  relation_details: Type.Optional(
    Type.Record(
      ShortKey,
      Type.Object({ ...schemasOf(RELATION, 'line'), group_use: optional(GroupRelationUse) }),
      { additionalProperties: false },
    ),
  ),
  action_groups: Type.Optional(
    Type.Record(ShortKey, Type.Object({ ...schemasOf(ACTION, 'line'), actions: Type.Array(ShortKey) }), {
      additionalProperties: false,
    }),
  ),
}
export const RESOURCE_PARTS = Object.keys(resourceParts) as (keyof typeof resourceParts)[]

export const ContentResource = Type.Object({
  kind: Type.Literal('resource'),
  key: ShortKey,
  ...ResourceReplace.properties,
  ...resourceParts,
})
export type ContentResource = Static<typeof ContentResource>

/**
 * Further parts of a resource type that do not fit into its line. The previous line belongs to the same type.
 */
export const ContentResourcePart = Type.Object({
  kind: Type.Literal('resource_part'),
  resource: ShortKey,
  ...resourceParts,
  actions: Type.Optional(ResourceReplace.properties.actions),
})

export const ContentRole = Type.Object({
  kind: Type.Literal('role'),
  key: ShortKey,
  ...RoleBlock.properties,
})
export type ContentRole = Static<typeof ContentRole>

export const ContentConditionSet = Type.Object({
  kind: Type.Literal('condition_set'),
  key: ConditionSetKey,
  name: ConditionSetCreate.properties.name,
  type: ConditionSetType,
  description: optional(Text),
  conditions: Conditions,
  /** Resource type to which a resource set is limited. */
  resource: optional(ShortKey),
  /** Parent set, which is defined in an earlier line. */
  parent: optional(ConditionSetKey),
})
export type ContentConditionSet = Static<typeof ContentConditionSet>

export const ContentRule = Type.Object({
  kind: Type.Literal('rule'),
  /** Key of a set, or `__autogen_` followed by the key of a role or a resource type. */
  user_set: Type.String(),
  /** Permission in the form `resource:action`. */
  permission: Type.String(),
  resource_set: Type.String(),
})
export type ContentRule = Static<typeof ContentRule>

/** A proxy config without its secret, which is never returned. */
export const ContentProxyConfig = Type.Object({
  kind: Type.Literal('proxy_config'),
  key: ShortKey,
  name: Name,
  auth_mechanism: Type.Optional(AuthMechanism),
  /** Mapping rules with the keys of resource types and actions. These entities need not exist. */
  mapping_rules: Type.Optional(Type.Array(MappingRuleStored, { maxItems: MAPPING_RULES_PER_CONFIG_MAX })),
  ...times,
})
export type ContentProxyConfig = Static<typeof ContentProxyConfig>

export const ContentTenant = Type.Object({
  kind: Type.Literal('tenant'),
  key: ShortKey,
  ...schemasOf(TENANT, 'line'),
  ...times,
})
export type ContentTenant = Static<typeof ContentTenant>

export const ContentUser = Type.Object({
  kind: Type.Literal('user'),
  key: LongKey,
  ...schemasOf(USER, 'line'),
  ...times,
})
export type ContentUser = Static<typeof ContentUser>

export const ContentInstance = Type.Object({
  kind: Type.Literal('instance'),
  resource: ShortKey,
  key: LongKey,
  tenant: ShortKey,
  ...schemasOf(INSTANCE, 'line'),
  /** Whether the instance was created through the groups API. */
  is_group: Type.Optional(Type.Boolean()),
  ...times,
})
export type ContentInstance = Static<typeof ContentInstance>

export const ContentAssignment = Type.Object({
  kind: Type.Literal('assignment'),
  user: LongKey,
  role: ShortKey,
  tenant: Type.Optional(ShortKey),
  /** Instance as `type:key`. If it is absent, the role is held in a tenant, and the tenant is required. */
  resource_instance: Type.Optional(Type.String()),
  created_at: Type.Optional(Timestamp),
  ...contentExpiry,
})
export type ContentAssignment = Static<typeof ContentAssignment>

export const ContentTuple = Type.Object({
  kind: Type.Literal('tuple'),
  subject: Type.String(),
  relation: ShortKey,
  object: Type.String(),
  created_at: Type.Optional(Timestamp),
  ...contentExpiry,
})
export type ContentTuple = Static<typeof ContentTuple>

export const ContentEnd = Type.Object({
  kind: Type.Literal('end'),
  lines: Type.Integer({ minimum: 0, description: 'Number of lines before this one.' }),
})

/** The schema of each kind of line. */
export const CONTENT_LINES = {
  environment: ContentHeader,
  user_attributes: ContentAttributesOfUsers,
  tenant_attributes: ContentAttributesOfTenants,
  resource: ContentResource,
  resource_part: ContentResourcePart,
  role: ContentRole,
  condition_set: ContentConditionSet,
  rule: ContentRule,
  proxy_config: ContentProxyConfig,
  tenant: ContentTenant,
  user: ContentUser,
  instance: ContentInstance,
  assignment: ContentAssignment,
  tuple: ContentTuple,
  end: ContentEnd,
} as const
export type ContentKind = keyof typeof CONTENT_LINES

export const ContentLine = Type.Union(Object.values(CONTENT_LINES))
export type ContentLine = { [Kind in ContentKind]: Static<(typeof CONTENT_LINES)[Kind]> }[ContentKind]

export const ImportQuery = Type.Object({
  replace: Type.Optional(
    Type.Boolean({
      description: 'Replace all existing content. If false, the environment must be empty.',
    }),
  ),
})
export type ImportQuery = Static<typeof ImportQuery>

/** Result of an import: the number of imported entities of each kind. */
export const ImportResult = Type.Object({
  environment_id: Reference,
  counts: Type.Record(Type.String(), Type.Integer({ minimum: 0 })),
})
export type ImportResult = Static<typeof ImportResult>

export const ContentPath = Type.Object(environmentPath)
