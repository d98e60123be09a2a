/**
 * The lists that facts are in, straight from the bytes of their rows: of them there are millions, and a list build
 * would spend most of its time on turning ids into text and back. The same as the key space says of the record; a row
 * in another form than the codec's usual one is left to that.
 */
import type { ListEntry } from '#store/view.ts'
import { ID_START, KIND_BYTES } from './record-codec.ts'
import { UUID_BYTES } from './uuid-bytes.ts'

/** The first byte of the names of lists that facts are in. Stored. */
export const FACT_LISTS = {
  ofKind: 1,
  assignmentsOnInstance: 9,
  holders: 10,
  tuplesFrom: 11,
  tuplesTo: 12,
  tuplesOver: 13,
  tuplesFromOver: 14,
  tuplesToOver: 15,
  tenantRolesOf: 16,
  assignmentsOfUser: 17,
  assignmentsOfRole: 18,
  assignmentsOfTenant: 19,
  heldInTenant: 20,
  heldRole: 21,
  usersOfTenant: 22,
  usersOfRole: 23,
  usersWithoutRoles: 24,
  tuplesOfTenant: 27,
  heldRoleInTenant: 30,
  usersOfRoleInTenant: 31,
} as const
/** Names a thing by its id; no list of facts, but one that theirs refer to. */
export const BY_ID_LIST = 2

/** Where an id of a fact stands: at that place of its key, or, 0, as the tenant in its value. */
type IdPlace = 0 | 1 | 17 | 33
const TENANT = 0
const [FIRST, SECOND, THIRD] = [1, 17, 33] as const

interface FactList {
  readonly head: number
  readonly ids: readonly IdPlace[]
  readonly counted: boolean
  /** The list in which the first row of this one stands for all, and its ids. */
  readonly representedIn?: readonly [head: number, ids: readonly IdPlace[]]
  /** The counted list that has all of its rows, and its ids. */
  readonly within?: readonly [head: number, ids: readonly IdPlace[]]
  /** While it has rows, the thing of this id is not in the list of those without. */
  readonly displaces?: IdPlace
}

const [USER, SCOPE, ROLE] = [FIRST, SECOND, THIRD]
const IN_TENANT: readonly FactList[] = [{ head: FACT_LISTS.tenantRolesOf, ids: [USER], counted: true }]
const ON_INSTANCE: readonly FactList[] = [
  { head: FACT_LISTS.assignmentsOnInstance, ids: [SCOPE], counted: true },
  { head: FACT_LISTS.holders, ids: [SCOPE, ROLE], counted: true },
]
const HELD_BY_USER = [FACT_LISTS.assignmentsOfUser, [USER]] as const
const OF_ASSIGNMENTS: readonly FactList[] = [
  { head: FACT_LISTS.assignmentsOfRole, ids: [ROLE], counted: true },
  { head: FACT_LISTS.assignmentsOfTenant, ids: [TENANT], counted: true },
  { head: FACT_LISTS.assignmentsOfUser, ids: [USER], counted: true, displaces: USER },
  {
    head: FACT_LISTS.heldInTenant,
    ids: [TENANT, USER],
    counted: false,
    representedIn: [FACT_LISTS.usersOfTenant, [TENANT]],
    within: HELD_BY_USER,
  },
  {
    head: FACT_LISTS.heldRoleInTenant,
    ids: [TENANT, ROLE, USER],
    counted: false,
    representedIn: [FACT_LISTS.usersOfRoleInTenant, [TENANT, ROLE]],
    within: HELD_BY_USER,
  },
  {
    head: FACT_LISTS.heldRole,
    ids: [ROLE, USER],
    counted: false,
    representedIn: [FACT_LISTS.usersOfRole, [ROLE]],
    within: HELD_BY_USER,
  },
]
const [OBJECT, RELATION, SUBJECT] = [FIRST, SECOND, THIRD]
const OF_TUPLES: readonly FactList[] = [
  { head: FACT_LISTS.tuplesOfTenant, ids: [TENANT], counted: true },
  { head: FACT_LISTS.tuplesFrom, ids: [SUBJECT], counted: true },
  { head: FACT_LISTS.tuplesTo, ids: [OBJECT], counted: true },
  { head: FACT_LISTS.tuplesOver, ids: [RELATION], counted: true },
  { head: FACT_LISTS.tuplesFromOver, ids: [SUBJECT, RELATION], counted: true },
  { head: FACT_LISTS.tuplesToOver, ids: [OBJECT, RELATION], counted: true },
]
const LISTS_OF_KIND = new Map<
  number,
  {
    readonly name: Uint8Array
    readonly inTenant: readonly FactList[]
    readonly onInstance: readonly FactList[]
  }
>([
  [
    KIND_BYTES.assignment,
    {
      name: Uint8Array.of(FACT_LISTS.ofKind, KIND_BYTES.assignment),
      inTenant: [...IN_TENANT, ...OF_ASSIGNMENTS],
      onInstance: [...ON_INSTANCE, ...OF_ASSIGNMENTS],
    },
  ],
  [
    KIND_BYTES.tuple,
    { name: Uint8Array.of(FACT_LISTS.ofKind, KIND_BYTES.tuple), inTenant: OF_TUPLES, onInstance: OF_TUPLES },
  ],
])

/** The first bytes of msgpack for 16 bytes, and for nil. */
const [BYTES_8, UUID_LENGTH, NIL] = [0xc4, UUID_BYTES, 0xc0]
/** The bytes of a msgpack number after its first byte, by the first byte. */
const NUMBER_BYTES: Readonly<Record<number, number>> = {
  0xcb: 8,
  0xca: 4,
  0xcc: 1,
  0xcd: 2,
  0xce: 4,
  0xcf: 8,
}

interface FactRow {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/** The lists of an assignment or a tuple; null when it is neither, or not to be read like this. */
export function factEntries(row: FactRow): ListEntry[] | null {
  const found = listsOf(row)
  if (!found) return null
  const { name, lists, tenantAt } = found
  const nameOf = (head: number, ids: readonly IdPlace[]): Uint8Array => {
    const bytes = new Uint8Array(1 + ids.length * UUID_BYTES)
    writeName(bytes, head, ids, row, tenantAt)
    return bytes
  }
  const entries: ListEntry[] = [{ list: name, counted: true }]
  for (const { head, ids, counted, representedIn, within, displaces } of lists) {
    entries.push({
      list: nameOf(head, ids),
      counted,
      ...(representedIn && { representedIn: nameOf(...representedIn) }),
      ...(within && { within: nameOf(...within) }),
      ...(displaces && {
        displaces: {
          owner: nameOf(BY_ID_LIST, [displaces]),
          from: Uint8Array.of(FACT_LISTS.usersWithoutRoles),
        },
      }),
    })
  }
  return entries
}

/** Views of one buffer, by the number of ids in a name, so that no name makes garbage. */
const SCRATCH = new Uint8Array(1 + 3 * UUID_BYTES)
const SCRATCH_NAMES = [0, 1, 2, 3].map(ids => SCRATCH.subarray(0, 1 + ids * UUID_BYTES))

/**
 * Calls `visit` for each list of a fact, with its name and kind. The name is valid until the next call. Returns false,
 * without a call, where `factEntries` returns null.
 */
export function visitFactLists(
  row: FactRow,
  visit: (name: Uint8Array, isCounted: boolean, isRepresented: boolean) => void,
): boolean {
  const found = listsOf(row)
  if (!found) return false
  const { name, lists, tenantAt } = found
  visit(name, true, false)
  for (const { head, ids, counted, representedIn } of lists) {
    const scratch = SCRATCH_NAMES[ids.length]!
    writeName(scratch, head, ids, row, tenantAt)
    visit(scratch, counted, representedIn !== undefined)
  }
  return true
}

function listsOf({ key, value }: FactRow) {
  const ofKind = LISTS_OF_KIND.get(key[0]!)
  if (!ofKind) return null
  const tenantAt = tenantIn(value)
  if (tenantAt === null) return null
  const isOnInstance = key[0] === KIND_BYTES.assignment ? hasInstance(value, tenantAt) : false
  if (isOnInstance === null) return null
  return { name: ofKind.name, lists: isOnInstance ? ofKind.onInstance : ofKind.inTenant, tenantAt }
}

/** Where the tenant's id is in the value of a fact: after the fact's own id and its time. */
function tenantIn(value: Uint8Array): number | null {
  const numberAt = ID_START + UUID_BYTES
  const first = value[numberAt] ?? NIL
  const size = first < 0x80 ? 0 : NUMBER_BYTES[first]
  if (value[1] !== BYTES_8 || value[2] !== UUID_LENGTH || size === undefined) return null
  const head = numberAt + 1 + size
  return value[head] === BYTES_8 && value[head + 1] === UUID_LENGTH ? head + 2 : null
}

/** Whether an assignment is on an instance; null when the value cannot be read like this. */
function hasInstance(value: Uint8Array, tenantAt: number): boolean | null {
  const head = value[tenantAt + UUID_BYTES]
  if (head === NIL) return false
  return head === BYTES_8 ? true : null
}

/** Writes a list's name: its first byte and its ids, copied from key and value. */
function writeName(
  name: Uint8Array,
  head: number,
  ids: readonly IdPlace[],
  { key, value }: FactRow,
  tenantAt: number,
): void {
  name[0] = head
  let to = 1
  for (const place of ids) {
    const from = place === TENANT ? value : key
    const at = place === TENANT ? tenantAt : place
    for (let index = 0; index < UUID_BYTES; index += 1) name[to++] = from[at + index]!
  }
}
