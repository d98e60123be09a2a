/**
 * Records of an environment, as they are stored. Records refer to each other by id. An id is a lower-case
 * UUID that identifies one generation of an entity. A re-created entity therefore has no connection to the
 * dependents of the deleted entity. The changes for the engine are in `model/change.ts`.
 */
import type { Attributes, RuleSide } from '#model/change.ts'
import type { SessionCaller } from '#model/principal.ts'
import type { Claim } from '#model/wire/organization/actor.ts'
import type { MappingMethod } from '#model/mapping-urls.ts'
import type { ACTION } from './action.ts'
import type { ATTRIBUTE } from './attribute.ts'
import type { RecordFields } from './entity.ts'
import type { Dated, Instant } from './instant.ts'
import type {
  ApiKeyRecord,
  EnvironmentRecord,
  MemberGroupRecord,
  MemberRecord,
  OrganizationRecord,
  ProjectRecord,
  RemovedEnvironmentRecord,
  SessionRecord,
} from './organization-records.ts'
import type { AuthMechanism } from './proxy-config.ts'
import type { RELATION } from './relation.ts'
import type { INSTANCE } from './resource-instance.ts'
import type { RESOURCE } from './resource.ts'
import type { ROLE } from './role.ts'
import type { TENANT } from './tenant.ts'
import type { USER } from './user.ts'

export interface ActionRecord extends Dated, RecordFields<typeof ACTION> {
  readonly id: string
  readonly key: string
}

/** A name for several actions of a resource type. Decisions do not use action groups. */
export interface ActionGroupRecord extends Dated, RecordFields<typeof ACTION> {
  readonly id: string
  readonly key: string
  /** Keys of actions of the type. If an action is removed, it is also removed here. */
  readonly actions: readonly string[]
}

export interface AttributeRecord extends Dated, RecordFields<typeof ATTRIBUTE> {
  readonly id: string
  readonly key: string
}

/**
 * A resource type. The record contains the type's actions, action groups and attributes, because there are
 * only a few of them.
 */
export interface TypeRecord extends Dated, RecordFields<typeof RESOURCE> {
  readonly kind: 'type'
  readonly id: string
  readonly key: string
  readonly actions: readonly ActionRecord[]
  readonly attributes: readonly AttributeRecord[]
  readonly actionGroups: readonly ActionGroupRecord[]
}

/**
 * An entry of a derivation. It contains keys. If a role, relation or type is removed, the same commit also
 * removes its entries.
 */
export interface DerivationRecord {
  readonly role: string
  readonly onType: string
  readonly relation: string
  readonly guarded: boolean
}

export interface GrantedToRecord {
  readonly id: string
  /** Guard of the whole block. It applies to each entry, in addition to the guard of the entry. */
  readonly guarded: boolean
  readonly entries: readonly DerivationRecord[]
}

/** A role. Permissions are `type:action` for a tenant role, and only the action for a resource role. */
export interface RoleRecord extends Dated, RecordFields<typeof ROLE> {
  readonly kind: 'role'
  readonly id: string
  /** Id of the resource type to which the role belongs; `null` for a tenant role. */
  readonly typeId: string | null
  readonly key: string
  readonly grantedTo: GrantedToRecord
}

/**
 * Purpose of a relation that the groups API created. `grant`: each tuple gives the members of the subject
 * group the role `role` on the object (native.md C.4). `nesting`: each tuple puts the subject group into the
 * object group.
 */
export type GroupUse = { readonly use: 'grant'; readonly role: string } | { readonly use: 'nesting' }

export interface RelationRecord extends Dated, RecordFields<typeof RELATION> {
  readonly kind: 'relation'
  readonly id: string
  /** Id of the object type, which defines the relation. */
  readonly typeId: string
  readonly key: string
  readonly subjectTypeId: string
  readonly groupUse: GroupUse | null
  /**
   * True between the removal of the relation's last tuple and the removal of the relation. A command that
   * uses the relation again sets it to false.
   */
  readonly retiring: boolean
}

export interface TenantRecord extends Dated, RecordFields<typeof TENANT> {
  readonly kind: 'tenant'
  readonly id: string
  readonly key: string
}

export interface UserRecord extends Dated, RecordFields<typeof USER> {
  readonly kind: 'user'
  readonly id: string
  readonly key: string
}

export interface InstanceRecord extends Dated, RecordFields<typeof INSTANCE> {
  readonly kind: 'instance'
  readonly id: string
  readonly typeId: string
  readonly key: string
  readonly tenantId: string
  /** Whether the instance was created through the groups API (native.md D-7). */
  readonly isGroup: boolean
}

export interface AssignmentRecord {
  readonly kind: 'assignment'
  readonly id: string
  readonly userId: string
  readonly roleId: string
  readonly tenantId: string
  /** Id of the instance; `null` if the role is a tenant role. */
  readonly instanceId: string | null
  readonly createdAt: Instant
  /** Time at which the assignment expires; null if it does not expire. */
  readonly expiresAt: Instant | null
}

export interface TupleRecord {
  readonly kind: 'tuple'
  readonly id: string
  readonly subjectId: string
  readonly relationId: string
  readonly objectId: string
  readonly tenantId: string
  readonly createdAt: Instant
  /** Time at which the tuple expires; null if it does not expire. */
  readonly expiresAt: Instant | null
}

/**
 * A condition set: a named condition on users or on resources (conditions.md 1.2). Computed sets have no
 * records.
 */
export interface ConditionSetRecord extends Dated {
  readonly kind: 'condition-set'
  readonly id: string
  readonly key: string
  readonly name: string
  readonly description: string | null
  readonly side: RuleSide
  /**
   * Id of the resource type to which a resource set is limited. If its parent is limited, this is the type of
   * the parent.
   */
  readonly typeId: string | null
  /** Id of the parent, whose conditions must also be true. */
  readonly parentId: string | null
  /** Conditions as the client sent them. */
  readonly conditions: Attributes
}

/** A rule. It allows an action if both of its sides are true (conditions.md 1.4). */
export interface RuleRecord {
  readonly kind: 'rule'
  readonly id: string
  readonly createdAt: Instant
  /** Id of a user set or of a tenant role. */
  readonly userSideId: string
  /** Id of a resource set or of the resource type itself. */
  readonly resourceSideId: string
  /** Id of the resource type to which the action belongs. */
  readonly typeId: string
  readonly actionId: string
}

/** A proxy config: mapping rules, and a secret that is never returned (conditions.md 10.4). */
export interface ProxyConfigRecord extends Dated {
  readonly kind: 'proxy-config'
  readonly id: string
  readonly key: string
  readonly name: string
  readonly authMechanism: AuthMechanism
  /**
   * The secret as JSON, encrypted with the organization's key, for this config only. Null if no secret was
   * stored or if the config is a copy.
   */
  readonly sealedSecret: Uint8Array | null
  readonly mappingRules: readonly MappingRuleRecord[]
}

/**
 * A mapping rule. It contains the keys of its resource type and action, so it stays the same if they are
 * removed.
 */
export interface MappingRuleRecord {
  readonly url: string
  readonly method: MappingMethod
  readonly type: string
  /** Action of the check; null means that the method is the action. */
  readonly action: string | null
  /** Priority of the rule; null means 0. */
  readonly priority: number | null
  readonly headers: Readonly<Record<string, string>>
  /** Present only if true. */
  readonly caseSensitive?: boolean
  /** Present only if the rule specifies it. */
  readonly encodedSlashes?: 'literal'
}

/**
 * Pending work of a removal: rows of dependents still exist and have to be deleted. These rows have no
 * effect. Each of them contains one of the `deadIds`, and readers skip it.
 */
export interface PurgeRecord {
  readonly kind: 'purge'
  readonly id: string
  /**
   * Ids of the removed entities: of the entity itself and, if it is a type, of its roles and relations. Ids
   * are never reused.
   */
  readonly deadIds: readonly string[]
  /** Names of the secondary indexes that contain the dependents, in the form of the key space. */
  readonly lists: readonly Uint8Array[]
}

/**
 * A record without content. Every commit writes it that adds a resource type, a role, a relation, a condition
 * set or a rule, or that changes the parent of a set. If two such commits run at the same time, the later one
 * therefore conflicts, and its command runs again.
 */
export interface SchemaRecord {
  readonly kind: 'schema'
  readonly id: string
}

/** Size of the schema: totals over all types, roles, condition sets and proxy configs (`schema-size.ts`). */
export interface SchemaSizeRecord {
  readonly kind: 'schema-size'
  readonly id: string
  readonly actions: number
  /** Number of permissions of all roles, without those of the roles that they extend. */
  readonly permissions: number
  /** Number of entries of `grantedTo` in all roles. */
  readonly derivations: number
  /** Size of the conditions of all sets, in bytes of JSON. Rows of older releases do not have this field. */
  readonly conditionBytes: number | null
  /**
   * Number of mapping rules of all proxy configs, and their size in bytes of JSON. Rows of older releases do
   * not have these fields.
   */
  readonly mappingRules: number | null
  readonly mappingBytes: number | null
}

/**
 * An audit log entry: one management call that changed something. It is written in the same commit as the
 * change.
 */
export interface AuditRecord {
  readonly kind: 'audit'
  readonly id: string
  readonly createdAt: Instant
  /** Id of the API key that made the call; null for the key in `ADMIN_API_KEY`. */
  readonly keyId: string | null
  readonly requestId: string
  readonly operation: string
  /** Input of the call, as the route has validated it. */
  readonly input: Attributes
  /** True if the body was too long, so that it is not part of `input`. */
  readonly isInputCut: boolean
  /**
   * Sequence of the commit. If the entry was transferred from an environment that has been replaced, this is
   * the sequence there. Null means that the sequence of the row applies.
   */
  readonly sequence: number | null
  /**
   * Entities that the call named: `kind:key` of each, and its id at the same index. Rows of older releases do
   * not have these fields.
   */
  readonly aboutNames: readonly string[] | null
  readonly aboutIds: readonly string[] | null
  /** Actor that the call named; null if it named none. Rows of older releases do not have this field. */
  readonly actor: StoredActor | null
}

/**
 * An actor as an audit entry stores it. The `keyId` of the entry is the key that claimed it, and null for a
 * member.
 */
export type StoredActor =
  | (Claim & { readonly kind: 'claimed' })
  | (SessionCaller & { readonly kind: 'member' })

export type StoredRecord =
  | TypeRecord
  | RoleRecord
  | RelationRecord
  | TenantRecord
  | UserRecord
  | InstanceRecord
  | AssignmentRecord
  | TupleRecord
  | ConditionSetRecord
  | RuleRecord
  | ProxyConfigRecord
  | PurgeRecord
  | AuditRecord
  | SchemaRecord
  | SchemaSizeRecord
  | OrganizationRecord
  | ProjectRecord
  | EnvironmentRecord
  | RemovedEnvironmentRecord
  | ApiKeyRecord
  | MemberRecord
  | MemberGroupRecord
  | SessionRecord

export type RecordKind = StoredRecord['kind']
export type RecordOf<Kind extends RecordKind> = Extract<StoredRecord, { kind: Kind }>
