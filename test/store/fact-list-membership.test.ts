/** The lists of facts from the bytes of their rows are those that the records are in. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { AssignmentRecord, TupleRecord } from '#model/records.ts'
import { factEntries, visitFactLists } from '#store/keyspace/fact-list-membership.ts'
import { recordEntries, rowKeyOf } from '#store/keyspace/keyspace.ts'
import { encodeRecord } from '#store/keyspace/record-codec.ts'
import type { ListEntry } from '#store/view.ts'

const TIMES = [Date.now(), 0, 1, 200, 60_000, 5_000_000, 2 ** 33, 1.5]

function rowOf(record: AssignmentRecord | TupleRecord) {
  return { key: rowKeyOf(record), value: encodeRecord(record) }
}

function hex(name: Uint8Array): string {
  return Buffer.from(name).toString('hex')
}

/** In words that compare, whatever their order. */
function toldOf(entries: readonly ListEntry[]): string[] {
  const told = entries.map(({ list, counted, representedIn, within, displaces, unless }) => [
    hex(list),
    counted,
    representedIn && hex(representedIn),
    within && hex(within),
    displaces && [hex(displaces.owner), hex(displaces.from)],
    unless && hex(unless),
  ])
  return told.map(entry => JSON.stringify(entry)).toSorted()
}

function visited(row: ReturnType<typeof rowOf>): string[] {
  const names: string[] = []
  expect(
    visitFactLists(row, (name, isCounted, isRepresented) =>
      names.push(JSON.stringify([hex(name), isCounted, isRepresented])),
    ),
  ).toBe(true)
  return names.toSorted()
}

function expectAlike(record: AssignmentRecord | TupleRecord): void {
  const row = rowOf(record)
  const expected = recordEntries(row)
  const entries = factEntries(row)!
  expect(toldOf(entries)).toEqual(toldOf(expected))
  for (const told of [entries, expected]) {
    const names = told.map(({ list }) => hex(list))
    for (const [place, { within }] of told.entries()) {
      if (within) expect(names.slice(0, place)).toContain(hex(within))
    }
  }
  const lists = expected.map(({ list, counted, representedIn }) =>
    JSON.stringify([hex(list), counted, representedIn !== undefined]),
  )
  expect(visited(row)).toEqual(lists.toSorted())
}

test.each(TIMES)(
  'an assignment made at %d is in the lists of its user, role, tenant and instance',
  createdAt => {
    for (const instanceId of [null, randomUUID()]) {
      const ids = { id: randomUUID(), userId: randomUUID(), roleId: randomUUID(), tenantId: randomUUID() }
      expectAlike({ kind: 'assignment', ...ids, instanceId, createdAt })
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
    expectAlike({ kind: 'tuple', id: randomUUID(), subjectId, relationId, objectId, tenantId, createdAt })
  },
)

test('a row in another form is left to the codec', () => {
  const ids = {
    subjectId: randomUUID(),
    relationId: randomUUID(),
    objectId: randomUUID(),
    tenantId: randomUUID(),
  }
  const { key, value } = rowOf({ kind: 'tuple', id: randomUUID(), ...ids, createdAt: 1 })
  const odd = { key, value: Uint8Array.of(0x93, 0xc0, 0xc0, 0xc0) }
  expect([factEntries(odd), visitFactLists(odd, () => expect.unreachable())]).toEqual([null, false])
  expect(factEntries({ key: Uint8Array.of(5, 65), value })).toBe(null)
})
