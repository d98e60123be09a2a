/**
 * The records an environment is made of, as the store keeps them. They refer to each other by id (the generation of
 * the thing, a lower-case UUID), so that a deleted and re-created thing never meets what belonged to the old one.
 * What goes over the wire is described in `model/wire/`; what the engine hears in `change.ts`.
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

/** A name for several actions of a resource type; decisions do not know it. */
export interface ActionGroupRecord extends Dated {
  readonly id: string
  readonly key: string
  readonly name: string
  readonly description: string | null
  readonly attributes: Attributes | null
  /** Keys of the type's actions; a removed action takes its mention along. */
  readonly actions: readonly string[]
}

export interface AttributeRecord extends Dated {
  readonly id: string
  readonly key: string
  readonly type: AttributeType
  readonly description: string | null
}

/** A resource type; its actions, action groups and attributes are few and change with it, so they live inside. */
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

/** One derivation entry, in keys: a removed role, relation or type takes its entries along in the same commit. */
export interface DerivationRecord {
  readonly role: string
  readonly onType: string
  readonly relation: string
  readonly guarded: boolean
}

export interface GrantedToRecord {
  readonly id: string
  /** The block's own guard; it holds for every entry, beside the entry's own. */
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
 * What a relation made by the groups API is for. `grant`: each tuple gives the members of the subject group `role`
 * on the object (native.md C.4). `nesting`: each tuple puts the subject group into the object group.
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
  /** Set while its last tuple is gone and it is about to be removed; whoever uses it again clears it. */
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
  /** From then on nobody is allowed anything by it; null: it lasts. */
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
  /** As that of an assignment. */
  readonly expiresAt: Instant | null
}

/** A named predicate on users, or on resources (conditions.md 1.2). Computed ones have no records. */
export interface ConditionSetRecord extends Dated {
  readonly kind: 'condition-set'
  readonly id: string
  readonly key: string
  readonly name: string
  readonly description: string | null
  readonly side: RuleSide
  /** The resource type that a resource set is limited to; its parent's, if that has one. */
  readonly typeId: string | null
  /** The set whose conditions must hold, too. */
  readonly parentId: string | null
  /** As they were sent. */
  readonly conditions: Attributes
}

/** Allows an action where both sides match (conditions.md 1.4). */
export interface RuleRecord {
  readonly kind: 'rule'
  readonly id: string
  readonly createdAt: Instant
  /** A user set, or a tenant role. */
  readonly userSideId: string
  /** A resource set, or the resource type itself. */
  readonly resourceSideId: string
  /** The type whose action it is. */
  readonly typeId: string
  readonly actionId: string
}

/** Mapping rules, and a secret that nobody is told (conditions.md 10.4). */
export interface ProxyConfigRecord extends Dated {
  readonly kind: 'proxy-config'
  readonly id: string
  readonly key: string
  readonly name: string
  readonly authMechanism: AuthMechanism
  /** As JSON, sealed under the organization's key for this config alone; null: there was none, or it was not copied along. */
  readonly sealedSecret: Uint8Array | null
  readonly mappingRules: readonly MappingRuleRecord[]
}

/** Names resource and action by key: it stays as it is when they are gone. */
export interface MappingRuleRecord {
  readonly url: string
  readonly method: MappingMethod
  readonly type: string
  /** Null: the method. */
  readonly action: string | null
  /** Null: 0. */
  readonly priority: number | null
  readonly headers: Readonly<Record<string, string>>
  /** Only where it is true. */
  readonly caseSensitive?: boolean
  /** Only where the rule declares it. */
  readonly encodedSlashes?: 'literal'
}

/**
 * What a removal leaves to be done: rows of dependants that are still there. They mean nothing any more; each is known
 * by an id of its own that is among `deadIds`, and readers leave it out.
 */
export interface PurgeRecord {
  readonly kind: 'purge'
  readonly id: string
  /** The ids of what was removed: the thing itself and, for a type, its roles and relations. Ids are never used again. */
  readonly deadIds: readonly string[]
  /** Names of the lists in which the dependants stand, as the key space spells them. */
  readonly lists: readonly Uint8Array[]
}

/**
 * Written by every commit that adds a resource, a role, a relation, a condition set or a rule, or puts a set below another: of two that
 * do so at the same moment the later one runs again, on what the earlier one has left. Says nothing itself.
 */
export interface SchemaRecord {
  readonly kind: 'schema'
  readonly id: string
}

/** How much all types and roles say together (`schema-size.ts`). */
export interface SchemaSizeRecord {
  readonly kind: 'schema-size'
  readonly id: string
  readonly actions: number
  /** Own ones. */
  readonly permissions: number
  /** Entries of `grantedTo`. */
  readonly derivations: number
  /** Bytes of JSON in the conditions of all sets; rows of older releases have no such field. */
  readonly conditionBytes: number | null
  /** Mapping rules of all proxy configs, and their bytes of JSON; rows of older releases have no such fields. */
  readonly mappingRules: number | null
  readonly mappingBytes: number | null
}

/** One management call that changed something; written with the change, in the same commit. */
export interface AuditRecord {
  readonly kind: 'audit'
  readonly id: string
  readonly createdAt: Instant
  /** The API key that made the call; null: the one in `ADMIN_API_KEY`. */
  readonly keyId: string | null
  readonly requestId: string
  readonly operation: string
  /** What was asked for, as its route checked it. */
  readonly input: Attributes
  /** Whether the body was too long to be kept. */
  readonly isInputCut: boolean
  /** Of an entry that was taken over from a replaced environment: the commit that made the change there. Null: the row's own. */
  readonly sequence: number | null
  /** The things that the call named: of each `kind:key`, and its id at the same place. Rows of older releases have no such fields. */
  readonly aboutNames: readonly string[] | null
  readonly aboutIds: readonly string[] | null
}

/** Organization-wide records; they live in an environment of their own. */
export interface OrganizationRecord {
  readonly kind: 'organization'
  readonly id: string
  /** Signs page tokens, so that they outlive restarts and hold on every node. 32 bytes in lower-case hex. */
  readonly tokenSecret: string
  /** Whether the first start is over: what it makes is not made again when somebody has removed it. */
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
  /** A copy that is not whole yet: it has its key and its data, and nobody but the copying knows it. */
  readonly isBeingCopied: boolean
  /** A copy whose store is still being filled and not to be opened; rows of older releases have no such field. */
  readonly isBeingLoaded: boolean | null
  /** Something was committed in it, so that a store that has nothing of it has lost it; rows of older releases have no such field. */
  readonly isBegun: boolean | null
}

/** An environment that is gone and whose data awaits removal. Its id, which is the environment's, is never used again. */
export interface RemovedEnvironmentRecord {
  readonly kind: 'removed-environment'
  readonly id: string
}

/** The secret a key had before it was rotated, and until when it is still good. */
export interface FormerSecret {
  readonly hash: string
  readonly validUntil: Instant
}

/** Who made a key: with which other key, and what that was called then. */
export interface KeyMaker {
  /** Null: the key in `ADMIN_API_KEY`. */
  readonly keyId: string | null
  readonly name: string | null
}

export interface ApiKeyRecord {
  readonly kind: 'api-key'
  readonly id: string
  /** The environment it is for; null for a key of a project or of the organization. */
  readonly environmentId: string | null
  /** The project it is for, null otherwise: an environment's key finds its project through the environment. */
  readonly projectId: string | null
  /** SHA-256 of the secret, lower-case hex (native.md D-35). */
  readonly secretHash: string
  /** The secret under the organization's key, of environment keys alone; null when there was none to seal it under. */
  readonly sealedSecret: Uint8Array | null
  readonly former: FormerSecret | null
  /** Given by the operator in `API_KEY`, made at the first start, or made by a caller. */
  readonly source: 'configured' | 'generated' | 'created'
  readonly name: string | null
  readonly ownerType: ApiKeyOwnerType | null
  readonly createdAt: Instant
  /** Null: the service made it by itself; rows of older releases have no such field. */
  readonly createdBy: KeyMaker | null
  /** To `KEY_USE_GRAIN_MS`; null: it was not used since that is noted. */
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
