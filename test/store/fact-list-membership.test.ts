/** Names of the secondary indexes of facts. To change a name, all stores must rebuild their indexes. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { AssignmentRecord, TupleRecord } from '#entities/records.ts'
import { factEntries, visitFactLists } from '#store/keyspace/fact-list-membership.ts'
import { lists, recordEntries, rowKeyOf } from '#store/keyspace/keyspace.ts'
import { decodeRecord, encodeRecord, expiresAtOf, factFields } from '#store/keyspace/record-codec.ts'
import type { ListEntry } from '#store/view.ts'

const TIMES = [Date.now(), 0, 1, 200, 60_000, 5_000_000, 2 ** 33, 1.5]

function rowOf(record: AssignmentRecord | TupleRecord) {
  return { key: rowKeyOf(record), value: encodeRecord(record) }
}

function hex(name: Uint8Array): string {
  return Buffer.from(name).toString('hex')
}

/** Formats list entries as sorted texts, for comparison. */
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
  const told = expected.map(({ list, counted, representedIn }) =>
    JSON.stringify([hex(list), counted, representedIn !== undefined]),
  )
  expect(visited(row)).toEqual(told.toSorted())
}

const KNOWN = { userId: idOf('a'), roleId: idOf('b'), tenantId: idOf('c') }
const NAMES: Readonly<Record<string, string>> = {
  a: 'user',
  b: 'role',
  c: 'tenant',
  d: 'instance',
  e: 'subject',
  f: 'relation',
  0: 'object',
}

function idOf(digit: string): string {
  return '88888888-4444-4444-4444-cccccccccccc'.replaceAll(/\w/g, digit)
}

/** Formats the name of an index: its first byte, and names for the ids that follow. */
function words(name: Uint8Array): string {
  const ids = hex(name.subarray(1)).matchAll(/(.)\1{31}/g)
  return [String(name[0]), ...Array.from(ids, ([, digit]) => NAMES[digit!])].join(' ')
}

function inWords(record: AssignmentRecord | TupleRecord): string[] {
  const [ofKind, ...others] = recordEntries(rowOf(record))
  expect(ofKind).toEqual({ list: lists.all(record.kind), counted: true })
  return others.map(({ list, counted, representedIn, within, displaces }) =>
    [
      words(list) + (counted ? '' : ' (not counted)'),
      ...(representedIn ? [`its first in ${words(representedIn)}`] : []),
      ...(within ? [`within ${words(within)}`] : []),
      ...(displaces ? [`keeps ${words(displaces.owner)} out of ${words(displaces.from)}`] : []),
    ].join(', '),
  )
}

const OF_ANY_ASSIGNMENT = [
  '17 user, keeps 2 user out of 24',
  '20 tenant user (not counted), its first in 22 tenant, within 17 user',
  '30 tenant role user (not counted), its first in 31 tenant role, within 17 user',
  '21 role user (not counted), its first in 23 role, within 17 user',
]

const LASTING = { createdAt: 1, expiresAt: null }
const ENDS = [null, 0, 1_700_000_000_000]

test.each([
  ['tenant role assignment', null, ['16 user']],
  ['role assignment on an instance', idOf('d'), ['9 instance', '10 instance role']],
])('a %s is in the lists of all ids that it contains', (_, instanceId, own) => {
  const record = { kind: 'assignment', id: randomUUID(), ...KNOWN, instanceId, ...LASTING } as const
  expect(inWords(record)).toEqual(['18 role', '19 tenant', ...own, ...OF_ANY_ASSIGNMENT])
})

test('a tuple is in the lists of all ids that it contains', () => {
  const [subjectId, relationId, objectId, tenantId] = [idOf('e'), idOf('f'), idOf('0'), idOf('c')]
  const named = { id: randomUUID(), subjectId, relationId, objectId, tenantId }
  expect(inWords({ kind: 'tuple', ...named, ...LASTING })).toEqual([
    '27 tenant',
    '11 subject',
    '12 object',
    '13 relation',
    '14 subject relation',
    '15 object relation',
  ])
})

test('an expiring fact is also in the list of expiring facts', () => {
  const held = { id: randomUUID(), ...KNOWN, ...LASTING, expiresAt: 1_900_000_000_000 }
  const inTenant = inWords({ kind: 'assignment', ...held, instanceId: null })
  expect(inTenant).toEqual(['18 role', '19 tenant', '16 user', ...OF_ANY_ASSIGNMENT, '39'])
  expect(inWords({ kind: 'assignment', ...held, instanceId: idOf('d') }).at(-1)).toBe('39')
  const [subjectId, relationId, objectId] = [idOf('e'), idOf('f'), idOf('0')]
  expect(inWords({ kind: 'tuple', ...held, subjectId, relationId, objectId }).at(-1)).toBe('40')
})

test('no two lists of an environment share their first byte', () => {
  const { all, ...others } = lists
  const three = [idOf('a'), idOf('b'), idOf('c')]
  const named = Object.values(others).map(name => (name as (...of: string[]) => Uint8Array)(...three))
  const heads = [all('tuple'), ...named].map(([head]) => head!)
  expect(heads.filter((head, place) => heads.indexOf(head) !== place)).toEqual([])
})

const ids = () => ({ id: randomUUID(), tenantId: randomUUID() })
const assignment = (instanceId: string | null) => ({
  kind: 'assignment' as const,
  ...ids(),
  userId: randomUUID(),
  roleId: randomUUID(),
  instanceId,
})
const tuple = () => ({
  kind: 'tuple' as const,
  ...ids(),
  subjectId: randomUUID(),
  relationId: randomUUID(),
  objectId: randomUUID(),
})
const FACTS = {
  'a tenant role': assignment(null),
  'a role on an instance': assignment(randomUUID()),
  'a tuple': tuple(),
}

test.each(Object.entries(FACTS))('%s is in the same lists by its row and by its record', (_, fact) => {
  for (const createdAt of TIMES) {
    for (const expiresAt of ENDS) expectAlike({ ...fact, createdAt, expiresAt })
  }
})

test.each(Object.entries(FACTS))('%s is decoded with its expiration time', (_, fact) => {
  for (const expiresAt of [null, 0, 1, 1_900_000_000_123]) {
    const record = { ...fact, createdAt: 1_700_000_000_000, expiresAt }
    const row = rowOf(record)
    const read = [decodeRecord(row), expiresAtOf(row), factFields(row)?.expiresAt]
    expect(read).toEqual([record, expiresAt, expiresAt])
    if (expiresAt === null) expect(row.value[0]).toBe(fact.kind === 'assignment' ? 0x94 : 0x93)
  }
})

test('lists are not derived from the bytes of a row in an unknown format, which the codec must decode', () => {
  const { key, value } = rowOf({ ...tuple(), ...LASTING })
  const odd = { key, value: Uint8Array.of(0x93, 0xc0, 0xc0, 0xc0) }
  expect([factEntries(odd), visitFactLists(odd, () => expect.unreachable())]).toEqual([null, false])
  expect(factEntries({ key: Uint8Array.of(5, 65), value })).toBe(null)
})
