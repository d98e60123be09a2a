/** The lists of facts from the bytes of their rows are those that the records are in. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { AssignmentRecord, TupleRecord } from '#model/records.ts'
import { factEntries } from '#store/fact-lists.ts'
import { isListed, lists, rowKeyOf } from '#store/keyspace.ts'
import { encodeRecord } from '#store/record-codec.ts'

const TIMES = [Date.now(), 0, 1, 200, 60_000, 5_000_000, 2 ** 33, 1.5]

function entriesOf(record: AssignmentRecord | TupleRecord) {
  return factEntries({ key: rowKeyOf(record), value: encodeRecord(record) })
}

function textsOf(names: readonly Uint8Array[]): string[] {
  return names.map(name => Buffer.from(name).toString('hex')).toSorted()
}

test.each(TIMES)(
  'an assignment made at %d is in the lists of its user, role, tenant and instance',
  createdAt => {
    for (const instanceId of [null, randomUUID()]) {
      const ids = { id: randomUUID(), userId: randomUUID(), roleId: randomUUID(), tenantId: randomUUID() }
      const record: AssignmentRecord = { kind: 'assignment', ...ids, instanceId, createdAt }
      const { userId, roleId, tenantId } = ids
      const entries = entriesOf(record)!
      const where =
        instanceId === null
          ? [lists.tenantRolesOf(userId)]
          : [lists.assignmentsOnInstance(instanceId), lists.holders(instanceId, roleId)]
      const counted = [
        lists.all('assignment'),
        lists.assignmentsOfRole(roleId),
        lists.assignmentsOfTenant(tenantId),
        lists.assignmentsOfUser(userId),
      ]
      const uncounted = [lists.heldInTenant(tenantId, userId), lists.heldRole(roleId, userId)]
      const listsOf = (isCounted: boolean) =>
        entries.filter(entry => entry.counted === isCounted).map(({ list }) => list)
      expect(textsOf(listsOf(true))).toEqual(textsOf([...counted, ...where]))
      expect(textsOf(listsOf(false))).toEqual(textsOf(uncounted))
      for (const { list } of entries) expect(isListed(record, list)).toBe(true)
      const represented = entries.flatMap(({ representedIn }) => (representedIn ? [representedIn] : []))
      expect(textsOf(represented)).toEqual(
        textsOf([lists.usersOfTenant(tenantId), lists.usersOfRole(roleId)]),
      )
      const [displaced] = entries.flatMap(({ displaces }) => (displaces ? [displaces] : []))
      expect(textsOf([displaced!.owner])).toEqual(textsOf([lists.byId(userId)]))
      expect(textsOf([displaced!.from])).toEqual(textsOf([lists.usersWithoutRoles()]))
    }
  },
)

test.each(TIMES)(
  'a tuple made at %d is in the lists of its sides, its relation and its tenant',
  createdAt => {
    const [subjectId, relationId, objectId, tenantId] = [
      randomUUID(),
      randomUUID(),
      randomUUID(),
      randomUUID(),
    ]
    const record: TupleRecord = {
      kind: 'tuple',
      id: randomUUID(),
      subjectId,
      relationId,
      objectId,
      tenantId,
      createdAt,
    }
    const expected = [
      lists.all('tuple'),
      lists.tuplesOfTenant(tenantId),
      lists.tuplesFrom(subjectId),
      lists.tuplesTo(objectId),
      lists.tuplesOver(relationId),
      lists.tuplesFromOver(subjectId, relationId),
      lists.tuplesToOver(objectId, relationId),
    ]
    const entries = entriesOf(record)!
    expect(textsOf(entries.map(({ list }) => list))).toEqual(textsOf(expected))
    expect(entries.every(entry => entry.counted && !entry.representedIn && !entry.displaces)).toBe(true)
  },
)

test('a row in another form is left to the codec', () => {
  const record: TupleRecord = {
    kind: 'tuple',
    id: randomUUID(),
    subjectId: randomUUID(),
    relationId: randomUUID(),
    objectId: randomUUID(),
    tenantId: randomUUID(),
    createdAt: 1,
  }
  const key = rowKeyOf(record)
  expect(factEntries({ key, value: Uint8Array.of(0x93, 0xc0, 0xc0, 0xc0) })).toBe(null)
  expect(factEntries({ key: Uint8Array.of(5, 65), value: encodeRecord(record) })).toBe(null)
})
