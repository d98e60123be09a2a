/** What an operation needs to know besides the data: whose environment it is in, the time, fresh ids. */
import type { Draft } from './draft.ts'
import type { RecordReader } from './record-reader.ts'
import type { GrantCondition } from './wanted-tags.ts'

export interface EnvironmentScope {
  readonly organizationId: string
  readonly projectId: string
  readonly environmentId: string
  /** When the environment was made, in milliseconds since 1970. */
  readonly createdAt: number
}

export interface OperationContext {
  readonly scope: EnvironmentScope
  /** Milliseconds since 1970, the same throughout one operation. */
  readonly now: number
  /** A fresh UUID. */
  newId(): string
}

export interface ReadContext extends OperationContext {
  readonly records: RecordReader
}

export interface WriteContext extends OperationContext {
  readonly records: Draft
  /** What must be so for the one grant that is made, changed or removed; absent: nothing. */
  readonly grantCondition?: GrantCondition
}

export interface SealingContext extends WriteContext {
  /** A secret, sealed for the thing of that id alone; null where the organization has no key to seal it under. */
  seal(ownerId: string, secret: string): Uint8Array | null
}

/** The scope as every management answer carries it. */
export function presentScope(scope: EnvironmentScope) {
  return {
    organization_id: scope.organizationId,
    project_id: scope.projectId,
    environment_id: scope.environmentId,
  }
}

export function presentTimes(record: { readonly createdAt: number; readonly updatedAt: number }) {
  return { created_at: presentInstant(record.createdAt), updated_at: presentInstant(record.updatedAt) }
}

export function presentInstant(instant: number): string {
  return new Date(instant).toISOString()
}
