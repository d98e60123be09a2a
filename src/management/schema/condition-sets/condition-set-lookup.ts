/**
 * Finds stored condition sets, by key first and then by id. Every lookup through a draft becomes a
 * requirement of its commit.
 */
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { AuthzError } from '#model/errors.ts'
import type { ConditionSetRecord } from '#entities/records.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'

export interface SetParams {
  readonly condition_set_id: string
}

export function findConditionSet(records: RecordReader, reference: string): ConditionSetRecord | null {
  return (
    records.get('condition-set', rowKeys.conditionSet(reference)) ??
    records.byReference('condition-set', reference)
  )
}

export function unknownConditionSet(reference: string): AuthzError {
  return new AuthzError('NOT_FOUND', `there is no condition set ${JSON.stringify(reference)}`)
}
