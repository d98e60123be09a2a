/**
 * The records of an environment, as the store keeps them. They refer to each other by id, a lower-case UUID
 * that identifies the generation of an entity. Therefore, a re-created entity has no connection to the
 * dependents of the deleted one. The API schemas are in `model/wire/`; the changes for the engine in
 * `change.ts`.
 */
import type { ApiKeyOwnerType } from '#model/wire/api-key.ts'
import type { AttributeType } from '#model/wire/attribute.ts'
import type { AuthMechanism } from '#model/wire/proxy-config.ts'
import type { Attributes, RuleSide } from './change.ts'
import type { MappingMethod } from './mapping-urls.ts'

/** Milliseconds since 1970. */
export type Instant = number

interface Dated {
  readonly createdAt: Instant
  readonly updatedAt: Instant
}

export interface ActionRecord extends Dated {
  readonly id: string
  readonly key: string
  readonly name: string
  readonly description: string | null
  readonly attributes: Attributes | null
}

/** A name for several actions of a resource type; decisions do not use it. */
export interface ActionGroupRecord extends Dated {
  readonly id: string
  readonly key: string
  readonly name: string
  readonly description: string | null
  readonly attributes: Attributes | null
  /** Keys of the type's actions; removing an action also removes it here. */
  readonly actions: readonly string[]
}

export interface AttributeRecord extends Dated {
  readonly id: string
  readonly key: string
  readonly type: AttributeType
  readonly description: string | null
}

/**
 * A resource type. Its actions, action groups and attributes are few and change with it, so the record
 * contains them.
 */
export interface TypeRecord extends Dated {
  readonly kind: 'type'
  readonly id: string
  readonly key: string
  readonly name: string
  readonly urn: string | null
  readonly description: string | null
  readonly actions: readonly ActionRecord[]
  readonly attributes: readonly AttributeRecord[]
  readonly typeAttributes: Attributes | null
  readonly actionGroups: readonly ActionGroupRecord[]
}

/**
 * One derivation entry, with keys: a removed role, relation or type also removes its entries in the same
 * commit.
 */
export interface DerivationRecord {
  readonly role: string
  readonly onType: string
  readonly relation: string
  readonly guarded: boolean
}

export interface GrantedToRecord {
  readonly id: string
  /** The guard of the whole block; it applies to every entry, in addition to the entry's own guard. */
  readonly guarded: boolean
  readonly entries: readonly DerivationRecord[]
}

export interface RoleRecord extends Dated {
  readonly kind: 'role'
  readonly id: string
  /** The resource type the role belongs to; `null` for a tenant role. */
  readonly typeId: string | null
  readonly key: string
  readonly name: string
  readonly description: string | null
  /** `type:action` for a tenant role, the bare action for a resource role. */
  readonly permissions: readonly string[]
  readonly extends: readonly string[]
  readonly attributes: Attributes | null
  readonly grantedTo: GrantedToRecord
}

/**
 * Purpose of a relation that the groups API created. `grant`: each tuple gives the members of the subject
 * group `role` on the object (native.md C.4). `nesting`: each tuple puts the subject group into the object
 * group.
 */
export type GroupUse = { readonly use: 'grant'; readonly role: string } | { readonly use: 'nesting' }

export interface RelationRecord extends Dated {
  readonly kind: 'relation'
  readonly id: string
  /** The object type, on which the relation is defined. */
  readonly typeId: string
  readonly key: string
  readonly name: string
  readonly description: string | null
  readonly subjectTypeId: string
  readonly groupUse: GroupUse | null
  /**
   * Set after its last tuple was removed, before the relation is removed; a command that uses it again clears
   * it.
   */
  readonly retiring: boolean
}

export interface TenantRecord extends Dated {
  readonly kind: 'tenant'
  readonly id: string
  readonly key: string
  readonly name: string
  readonly description: string | null
  readonly attributes: Attributes | null
}

export interface UserRecord extends Dated {
  readonly kind: 'user'
  readonly id: string
  readonly key: string
  readonly email: string | null
  readonly firstName: string | null
  readonly lastName: string | null
  readonly attributes: Attributes
}

export interface InstanceRecord extends Dated {
  readonly kind: 'instance'
  readonly id: string
  readonly typeId: string
  readonly key: string
  readonly tenantId: string
  readonly attributes: Attributes
  /** Created through the groups API (native.md D-7). */
  readonly isGroup: boolean
}

export interface AssignmentRecord {
  readonly kind: 'assignment'
  readonly id: string
  readonly userId: string
  readonly roleId: string
  readonly tenantId: string
  /** `null` for a tenant role. */
  readonly instanceId: string | null
  readonly createdAt: Instant
  /** Time from which it grants nothing; null if it does not expire. */
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
  /** As for an assignment. */
  readonly expiresAt: Instant | null
}

/**
 * A condition set: a named condition on users, or on resources (conditions.md 1.2). Computed sets have no
 * records.
 */
export interface ConditionSetRecord extends Dated {
  readonly kind: 'condition-set'
  readonly id: string
  readonly key: string
  readonly name: string
  readonly description: string | null
  readonly side: RuleSide
  /** The resource type to which a resource set is limited; that of its parent, if the parent is limited. */
  readonly typeId: string | null
  /** The parent set, whose conditions must also be true. */
  readonly parentId: string | null
  /** As the client sent them. */
  readonly conditions: Attributes
}

/** A rule: allows an action if both sides match (conditions.md 1.4). */
export interface RuleRecord {
  readonly kind: 'rule'
  readonly id: string
  readonly createdAt: Instant
  /** A user set, or a tenant role. */
  readonly userSideId: string
  /** A resource set, or the resource type itself. */
  readonly resourceSideId: string
  /** The type of the action. */
  readonly typeId: string
  readonly actionId: string
}

/** Mapping rules, and a secret that is never returned (conditions.md 10.4). */
export interface ProxyConfigRecord extends Dated {
  readonly kind: 'proxy-config'
  readonly id: string
  readonly key: string
  readonly name: string
  readonly authMechanism: AuthMechanism
  /**
   * As JSON, encrypted with the organization's key for this config only; null if none was stored or the
   * config was copied.
   */
  readonly sealedSecret: Uint8Array | null
  readonly mappingRules: readonly MappingRuleRecord[]
}

/** Names resource type and action by key: the rule does not change if they are removed. */
export interface MappingRuleRecord {
  readonly url: string
  readonly method: MappingMethod
  readonly type: string
  /** Null: the method is the action. */
  readonly action: string | null
  /** Null means 0. */
  readonly priority: number | null
  readonly headers: Readonly<Record<string, string>>
  /** Present only if true. */
  readonly caseSensitive?: boolean
  /** Present only if the rule declares it. */
  readonly encodedSlashes?: 'literal'
}

/**
 * Pending work of a removal: rows of dependents that still exist. They have no effect. Each contains an id
 * that is among `deadIds`, and readers omit it.
 */
export interface PurgeRecord {
  readonly kind: 'purge'
  readonly id: string
  /**
   * The ids of the removed entities: the entity itself and, for a type, its roles and relations. Ids are
   * never reused.
   */
  readonly deadIds: readonly string[]
  /** Names of the lists that contain the dependents, in the form of the key space. */
  readonly lists: readonly Uint8Array[]
}

/**
 * Written by every commit that adds a resource type, a role, a relation, a condition set or a rule, or
 * changes the parent of a set. If two such commits are concurrent, the later one conflicts and its command
 * runs again. The record has no content.
 */
export interface SchemaRecord {
  readonly kind: 'schema'
  readonly id: string
}

/** Size of the schema: sums over all types, roles, condition sets and proxy configs (`schema-size.ts`). */
export interface SchemaSizeRecord {
  readonly kind: 'schema-size'
  readonly id: string
  readonly actions: number
  /** Permissions of roles, without those of extended roles. */
  readonly permissions: number
  /** Entries of `grantedTo`. */
  readonly derivations: number
  /** Bytes of JSON in the conditions of all sets; rows of older releases lack this field. */
  readonly conditionBytes: number | null
  /**
   * Mapping rules of all proxy configs, and their bytes of JSON; rows of older releases lack these fields.
   */
  readonly mappingRules: number | null
  readonly mappingBytes: number | null
}

/**
 * An audit log entry: one management call that changed something, written in the same commit as the change.
 */
export interface AuditRecord {
  readonly kind: 'audit'
  readonly id: string
  readonly createdAt: Instant
  /** The API key that made the call; null for the one in `ADMIN_API_KEY`. */
  readonly keyId: string | null
  readonly requestId: string
  readonly operation: string
  /** The input, as validated by the route. */
  readonly input: Attributes
  /** Whether the body was too long to be kept. */
  readonly isInputCut: boolean
  /**
   * For an entry transferred from a replaced environment: the sequence of the commit there. Null: that of the
   * row.
   */
  readonly sequence: number | null
  /**
   * The entities that the call named: `kind:key` of each, and its id at the same index. Rows of older
   * releases lack these fields.
   */
  readonly aboutNames: readonly string[] | null
  readonly aboutIds: readonly string[] | null
}

/** Organization-wide records; they are in a separate store. */
export interface OrganizationRecord {
  readonly kind: 'organization'
  readonly id: string
  /**
   * Signs page tokens, so that they are valid after restarts and on every node. 32 bytes in lower-case hex.
   */
  readonly tokenSecret: string
  /**
   * Whether the first start has been completed. Defaults that an operator has removed are then not created
   * again.
   */
  readonly isSetUp: boolean
}

export interface ProjectRecord extends Dated {
  readonly kind: 'project'
  readonly id: string
  readonly key: string
  readonly name: string
  readonly description: string | null
  readonly urnNamespace: string | null
  readonly settings: Attributes | null
  readonly activePolicyRepoId: string | null
}

export interface EnvironmentRecord extends Dated {
  readonly kind: 'environment'
  readonly id: string
  readonly projectId: string
  readonly key: string
  readonly name: string
  readonly description: string | null
  readonly customBranchName: string | null
  readonly jwks: Attributes | null
  readonly settings: Attributes | null
  /** A copy that is not complete yet: it has its key and its data, and only the copying code uses it. */
  readonly isBeingCopied: boolean
  /**
   * A copy whose store is still being filled and must not be opened; rows of older releases lack this field.
   */
  readonly isBeingLoaded: boolean | null
  /**
   * Whether it has commits. An empty store has then lost its data. Rows of older releases lack this field.
   */
  readonly isBegun: boolean | null
}

/**
 * A removed environment whose data must still be deleted. Its id is the environment's and is never reused.
 */
export interface RemovedEnvironmentRecord {
  readonly kind: 'removed-environment'
  readonly id: string
}

/** The secret of a key before its rotation, and its expiration time. */
export interface FormerSecret {
  readonly hash: string
  readonly validUntil: Instant
}

/** The creator of a key: the API key that was used, and its name at that time. */
export interface KeyMaker {
  /** Null for the key in `ADMIN_API_KEY`. */
  readonly keyId: string | null
  readonly name: string | null
}

export interface ApiKeyRecord {
  readonly kind: 'api-key'
  readonly id: string
  /** The environment of the key; null for a key of a project or of the organization. */
  readonly environmentId: string | null
  /**
   * The project of a project's key, null otherwise: the project of an environment's key is found through the
   * environment.
   */
  readonly projectId: string | null
  /** SHA-256 of the secret, lower-case hex (native.md D-35). */
  readonly secretHash: string
  /**
   * The secret of an environment's key, encrypted with the organization's key; null for other keys or without
   * an organization's key.
   */
  readonly sealedSecret: Uint8Array | null
  readonly former: FormerSecret | null
  /** Configured by the operator in `API_KEY`, generated at the first start, or created by a caller. */
  readonly source: 'configured' | 'generated' | 'created'
  readonly name: string | null
  readonly ownerType: ApiKeyOwnerType | null
  readonly createdAt: Instant
  /** Null if the service created it; rows of older releases lack this field. */
  readonly createdBy: KeyMaker | null
  /** With a precision of `KEY_USE_GRAIN_MS`; null if no use has been recorded. */
  readonly lastUsedAt: Instant | null
}

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

export type RecordKind = StoredRecord['kind']
export type RecordOf<Kind extends RecordKind> = Extract<StoredRecord, { kind: Kind }>
