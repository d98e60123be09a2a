/**
 * The lists that facts are in, straight from the bytes of their rows: of them there are millions, and a list build would spend most
 * of its time on turning ids into text and back. The same as the key space says of the record; a row in another form than the
 * codec's usual one is left to that.
 */
import { ID_START, KIND_BYTES } from './record-codec.ts'
import { UUID_BYTES } from './uuid-bytes.ts'
import type { ListEntry } from './view.ts'

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
} as const
/** Names a thing by its id; no list of facts, but one that theirs refer to. */
export const BY_ID_LIST = 2

/** How msgpack begins 16 bytes, and nothing. */
const [BYTES_8, UUID_LENGTH, NIL] = [0xc4, UUID_BYTES, 0xc0]
/** Bytes of a number after its first one, by that. */
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
export function factEntries({ key, value }: FactRow): ListEntry[] | null {
  if (key[0] !== KIND_BYTES.assignment && key[0] !== KIND_BYTES.tuple) return null
  const tenantAt = tenantIn(value)
  if (tenantAt === null) return null
  const [first, second, third] = [1, 1 + UUID_BYTES, 1 + 2 * UUID_BYTES]
  const one = (head: number, at: number) => named(head, key, at)
  const two = (head: number, at: number, next: number) => named(head, key, at, key, next)
  const counted = (list: Uint8Array): ListEntry => ({ list, counted: true })
  const ofTenant = (head: number) => named(head, value, tenantAt)
  if (key[0] === KIND_BYTES.tuple) {
    const [object, relation, subject] = [first, second, third]
    return [
      counted(Uint8Array.of(FACT_LISTS.ofKind, KIND_BYTES.tuple)),
      counted(ofTenant(FACT_LISTS.tuplesOfTenant)),
      counted(one(FACT_LISTS.tuplesFrom, subject)),
      counted(one(FACT_LISTS.tuplesTo, object)),
      counted(one(FACT_LISTS.tuplesOver, relation)),
      counted(two(FACT_LISTS.tuplesFromOver, subject, relation)),
      counted(two(FACT_LISTS.tuplesToOver, object, relation)),
    ]
  }
  const isOnInstance = hasInstance(value, tenantAt)
  if (isOnInstance === null) return null
  const [user, scope, role] = [first, second, third]
  const where = isOnInstance
    ? [one(FACT_LISTS.assignmentsOnInstance, scope), two(FACT_LISTS.holders, scope, role)]
    : [one(FACT_LISTS.tenantRolesOf, user)]
  return [
    counted(Uint8Array.of(FACT_LISTS.ofKind, KIND_BYTES.assignment)),
    counted(one(FACT_LISTS.assignmentsOfRole, role)),
    counted(ofTenant(FACT_LISTS.assignmentsOfTenant)),
    ...where.map(counted),
    {
      list: one(FACT_LISTS.assignmentsOfUser, user),
      counted: true,
      displaces: { owner: one(BY_ID_LIST, user), from: Uint8Array.of(FACT_LISTS.usersWithoutRoles) },
    },
    {
      list: named(FACT_LISTS.heldInTenant, value, tenantAt, key, user),
      counted: false,
      representedIn: ofTenant(FACT_LISTS.usersOfTenant),
    },
    {
      list: two(FACT_LISTS.heldRole, role, user),
      counted: false,
      representedIn: one(FACT_LISTS.usersOfRole, role),
    },
  ]
}

/** Where the tenant's id stands in the value of a fact: behind its own id and its time. */
function tenantIn(value: Uint8Array): number | null {
  const numberAt = ID_START + UUID_BYTES
  const first = value[numberAt] ?? NIL
  const size = first < 0x80 ? 0 : NUMBER_BYTES[first]
  if (value[1] !== BYTES_8 || value[2] !== UUID_LENGTH || size === undefined) return null
  const head = numberAt + 1 + size
  return value[head] === BYTES_8 && value[head + 1] === UUID_LENGTH ? head + 2 : null
}

/** Whether an assignment is on an instance; null when that cannot be read. */
function hasInstance(value: Uint8Array, tenantAt: number): boolean | null {
  const head = value[tenantAt + UUID_BYTES]
  if (head === NIL) return false
  return head === BYTES_8 ? true : null
}

/** A list's name: its first byte and one or two ids, copied from where they stand. */
function named(head: number, from: Uint8Array, at: number, next?: Uint8Array, nextAt = 0): Uint8Array {
  const name = new Uint8Array(1 + (next ? 2 : 1) * UUID_BYTES)
  name[0] = head
  for (let index = 0; index < UUID_BYTES; index += 1) name[1 + index] = from[at + index]!
  if (next)
    for (let index = 0; index < UUID_BYTES; index += 1) name[1 + UUID_BYTES + index] = next[nextAt + index]!
  return name
}
