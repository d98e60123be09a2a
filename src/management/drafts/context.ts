/** Context of an operation in addition to the data: its environment, the time, new ids. */
import type { Draft } from './draft.ts'
import type { RecordReader } from './record-reader.ts'

/** Tags, one of which must match. `any` requires only that the entity exists. */
export type ExpectedTags = readonly string[] | 'any'

/** Precondition for creating, changing or removing a grant. */
export interface GrantCondition {
  /** Tags, one of which the current grant must have; null if there is no requirement. */
  readonly tags: ExpectedTags | null
  /** Whether the grant must not exist yet. */
  readonly isNew: boolean
}

export interface EnvironmentScope {
  readonly organizationId: string
  readonly projectId: string
  readonly environmentId: string
  /** Creation time of the environment, in milliseconds since 1970. */
  readonly createdAt: number
}

export interface OperationContext {
  readonly scope: EnvironmentScope
  /** Milliseconds since 1970, the same throughout one operation. */
  readonly now: number
  /** A new UUID. */
  newId(): string
}

/** The part of a context from which entities are presented. */
export type Scoped = Pick<OperationContext, 'scope'>

export interface ReadContext extends OperationContext {
  readonly records: RecordReader
}

export interface WriteContext extends OperationContext {
  readonly records: Draft
  /** Precondition on the one grant that is created, changed or removed; absent: none. */
  readonly grantCondition?: GrantCondition
}

export interface SealingContext extends WriteContext {
  /** Encrypts a secret for the entity with that id; null if the organization has no encryption key. */
  seal(ownerId: string, secret: string): Uint8Array | null
}

/** Id, key and times of a new record. */
export function newIdentity(context: OperationContext, key: string) {
  return { id: context.newId(), key, createdAt: context.now, updatedAt: context.now }
}

/** The scope in the form of management responses. */
export function presentScope(scope: EnvironmentScope) {
  return {
    organization_id: scope.organizationId,
    project_id: scope.projectId,
    environment_id: scope.environmentId,
  }
}

/** Members of every response about an entity and of every change event: ids, key and times. */
export function presentIdentity(
  scope: EnvironmentScope,
  record: {
    readonly id: string
    readonly key: string
    readonly createdAt: number
    readonly updatedAt: number
  },
) {
  return { id: record.id, key: record.key, ...presentScope(scope), ...presentTimes(record) }
}

export function presentTimes(record: { readonly createdAt: number; readonly updatedAt: number }) {
  return { created_at: presentInstant(record.createdAt), updated_at: presentInstant(record.updatedAt) }
}

export function presentInstant(instant: number): string {
  return new Date(instant).toISOString()
}
