/** The end of a fact in its row: there is none in the row of a fact that lasts, which is as it always was. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { AssignmentRecord, TupleRecord } from '#model/records.ts'
import { rowKeyOf } from '#store/keyspace/keyspace.ts'
import { decodeRecord, encodeRecord, endOf, factFields } from '#store/keyspace/record-codec.ts'

const id = (): string => randomUUID()
const facts: Readonly<Record<string, AssignmentRecord | TupleRecord>> = {
  'a tenant role': {
    kind: 'assignment',
    id: id(),
    userId: id(),
    roleId: id(),
    tenantId: id(),
    instanceId: null,
    createdAt: 1_700_000_000_000,
    expiresAt: null,
  },
  'a role on an instance': {
    kind: 'assignment',
    id: id(),
    userId: id(),
    roleId: id(),
    tenantId: id(),
    instanceId: id(),
    createdAt: 1_700_000_000_000,
    expiresAt: null,
  },
  'a tuple': {
    kind: 'tuple',
    id: id(),
    subjectId: id(),
    relationId: id(),
    objectId: id(),
    tenantId: id(),
    createdAt: 1_700_000_000_000,
    expiresAt: null,
  },
}
const rowOf = (record: AssignmentRecord | TupleRecord) => ({
  key: rowKeyOf(record),
  value: encodeRecord(record),
})

test.each(Object.entries(facts))('%s that ends is read back with its end', (_, lasting) => {
  for (const expiresAt of [0, 1, 1_900_000_000_123]) {
    const record = { ...lasting, expiresAt }
    const row = rowOf(record)
    expect([decodeRecord(row), endOf(row), factFields(row)?.expiresAt]).toEqual([
      record,
      expiresAt,
      expiresAt,
    ])
  }
})

test.each(Object.entries(facts))('%s that lasts has the row that it always had', (_, record) => {
  const row = rowOf(record)
  expect(row.value[0]).toBe(record.kind === 'assignment' ? 0x94 : 0x93)
  expect([decodeRecord(row), endOf(row), factFields(row)?.expiresAt]).toEqual([record, null, null])
})
