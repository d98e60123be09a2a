/**
 * Determines the lists (secondary indexes) of facts, that is, of assignments and tuples, by one table
 * (`TABLE`): the names of the lists, the entries of a record, and the entries of a row directly from its
 * bytes. There are millions of such rows, and a build of the lists would spend most of its time on converting
 * ids to text and back. A row that is not in the usual form of the codec is read as a record.
 */
import { assert } from '#model/assert.ts'
import type { RecordOf } from '#entities/records.ts'
import type { ListEntry, ListName } from '#store/view.ts'
import { type FactKind, hasExpiry, hasInstance, idInKey, KIND_BYTES, tenantIn } from './record-codec.ts'
import { joinIds, UUID_BYTES } from './uuid-bytes.ts'

/**
 * First bytes of the names of two other lists. Facts are not in these lists, but entries of facts refer to
 * them. The values are stored, so they must not change.
 */
export const BY_ID_LIST = 2
export const OF_KIND_LIST = 1
export const USERS_WITHOUT_ROLES_LIST = 24

interface FactList {
  /** Kind of the facts in the list. */
  readonly of: FactKind
  /** First byte of the name of the list. The value is stored: never reuse it for another list. */
  readonly head: number
  /** Ids in the name of the list. A list by `instanceId` contains only facts on an instance. */
  readonly ids: readonly IdField[]
  /** If absent, the list is counted. */
  readonly counted?: false
  /** Excludes assignments on instances, or excludes facts that do not expire. */
  readonly only?: 'tenant roles' | 'expiring grants'
  /** See `ListEntry` for the meaning. The ids of the other list are a subset of the ids of this list. */
  readonly representedIn?: FactListName
  readonly within?: FactListName
  /** While the list has rows, the entity with this id is not in the list of users without roles. */
  readonly displaces?: IdField
}

type IdField = 'userId' | 'roleId' | 'tenantId' | 'instanceId' | 'subjectId' | 'relationId' | 'objectId'

/**
 * The entries of a row have the order of this table. The list that `within` names must precede the list that
 * contains this `within`.
 */
const TABLE = {
  assignmentsOfRole: { of: 'assignment', head: 18, ids: ['roleId'] },
  assignmentsOfTenant: { of: 'assignment', head: 19, ids: ['tenantId'] },
  /** Tenant roles of a user. */
  tenantRolesOf: { of: 'assignment', head: 16, ids: ['userId'], only: 'tenant roles' },
  assignmentsOnInstance: { of: 'assignment', head: 9, ids: ['instanceId'] },
  /** Assignments of one role on one instance, for example the members of a group. */
  holders: { of: 'assignment', head: 10, ids: ['instanceId', 'roleId'] },
  assignmentsOfUser: { of: 'assignment', head: 17, ids: ['userId'], displaces: 'userId' },
  /** Assignments of one user in one tenant, including roles on its instances. Not counted. */
  heldInTenant: {
    of: 'assignment',
    head: 20,
    ids: ['tenantId', 'userId'],
    counted: false,
    representedIn: 'usersOfTenant',
    within: 'assignmentsOfUser',
  },
  /** Assignments of one role to one user in one tenant. Not counted. */
  heldRoleInTenant: {
    of: 'assignment',
    head: 30,
    ids: ['tenantId', 'roleId', 'userId'],
    counted: false,
    representedIn: 'usersOfRoleInTenant',
    within: 'assignmentsOfUser',
  },
  /** Assignments of one role to one user. Not counted. */
  heldRole: {
    of: 'assignment',
    head: 21,
    ids: ['roleId', 'userId'],
    counted: false,
    representedIn: 'usersOfRole',
    within: 'assignmentsOfUser',
  },
  /** The oldest assignment of each user that has an assignment in the tenant. */
  usersOfTenant: { of: 'assignment', head: 22, ids: ['tenantId'] },
  /** The oldest assignment of each user that has the role in the tenant. */
  usersOfRoleInTenant: { of: 'assignment', head: 31, ids: ['tenantId', 'roleId'] },
  /** The oldest assignment of each user that has the role anywhere. */
  usersOfRole: { of: 'assignment', head: 23, ids: ['roleId'] },
  expiringAssignments: { of: 'assignment', head: 39, ids: [], only: 'expiring grants' },

  tuplesOfTenant: { of: 'tuple', head: 27, ids: ['tenantId'] },
  tuplesFrom: { of: 'tuple', head: 11, ids: ['subjectId'] },
  tuplesTo: { of: 'tuple', head: 12, ids: ['objectId'] },
  tuplesOver: { of: 'tuple', head: 13, ids: ['relationId'] },
  tuplesFromOver: { of: 'tuple', head: 14, ids: ['subjectId', 'relationId'] },
  tuplesToOver: { of: 'tuple', head: 15, ids: ['objectId', 'relationId'] },
  expiringTuples: { of: 'tuple', head: 40, ids: [], only: 'expiring grants' },
} as const

type FactListName = keyof typeof TABLE
const FACT_LISTS: Readonly<Record<FactListName, FactList>> = TABLE

/**
 * Functions that return the name of a list from its ids. The order of the ids is that of `ids` in the table.
 * Further arguments are ignored, so that the functions can be passed to `map`.
 */
export const factLists = Object.fromEntries(
  Object.entries(FACT_LISTS).map(([name, { head, ids }]) => [
    name,
    (...given: readonly string[]) => joinIds(head, given.slice(0, ids.length)),
  ]),
) as unknown as {
  readonly [Name in FactListName]: (...ids: TextOfEach<(typeof TABLE)[Name]['ids']>) => ListName
}
type TextOfEach<Ids extends readonly IdField[]> = { readonly [At in keyof Ids]: string }

/** Whether the list contains facts of this kind, selected by ids or by expiration time. */
export function isFactList(kind: FactKind, list: ListName): boolean {
  return Object.values(FACT_LISTS).some(({ of, head }) => of === kind && head === list[0])
}

/** Position of an id of a fact: its offset in the key, or 0 for the tenant in the value. */
type IdPlace = number
const TENANT = 0

/** A list, and the positions of its ids in a row. */
interface PlacedList {
  readonly head: number
  readonly ids: readonly IdField[]
  readonly places: readonly IdPlace[]
}

/** An entry of the table together with the entries that it references. */
interface OwnList extends PlacedList {
  readonly counted: boolean
  readonly representedIn: PlacedList | null
  readonly within: PlacedList | null
  readonly owner: PlacedList | null
}

function placeOf(kind: FactKind, id: IdField): IdPlace {
  if (id === 'tenantId') return TENANT
  return id === 'instanceId' ? idInKey('assignment', 'scopeId') : idInKey(kind, id)
}

function placed(kind: FactKind, head: number, ids: readonly IdField[]): PlacedList {
  return { head, ids, places: ids.map(id => placeOf(kind, id)) }
}

function named(name: FactListName | undefined): PlacedList | null {
  if (name === undefined) return null
  const { of, head, ids } = FACT_LISTS[name]
  return placed(of, head, ids)
}

/**
 * Returns the lists that contain every fact of this kind. Omits lists in which one fact represents several
 * facts.
 */
function ownLists(kind: FactKind, isOnInstance: boolean, ends: boolean): OwnList[] {
  const representing = new Set(Object.values(FACT_LISTS).map(({ representedIn }) => representedIn))
  return Object.entries(FACT_LISTS).flatMap(([name, list]): OwnList[] => {
    const { of, head, ids, only, displaces } = list
    const isOwn = of === kind && !representing.has(name as FactListName)
    const isOfOther = isOnInstance ? only === 'tenant roles' : ids.includes('instanceId')
    if (!isOwn || isOfOther || (only === 'expiring grants' && !ends)) return []
    return [
      {
        ...placed(kind, head, ids),
        counted: list.counted ?? true,
        representedIn: named(list.representedIn),
        within: named(list.within),
        owner: displaces ? placed(kind, BY_ID_LIST, [displaces]) : null,
      },
    ]
  })
}

interface ListsOfKind {
  readonly ofKind: ListName
  readonly lasting: ByScope
  readonly expiring: ByScope
}

interface ByScope {
  readonly inTenant: readonly OwnList[]
  readonly onInstance: readonly OwnList[]
}

function listsOfKind(kind: FactKind): ListsOfKind {
  const byScope = (ends: boolean): ByScope => ({
    inTenant: ownLists(kind, false, ends),
    onInstance: ownLists(kind, true, ends),
  })
  return {
    ofKind: Uint8Array.of(OF_KIND_LIST, KIND_BYTES[kind]),
    lasting: byScope(false),
    expiring: byScope(true),
  }
}

function listsFor(ofKind: ListsOfKind, isOnInstance: boolean, ends: boolean): readonly OwnList[] {
  const byScope = ends ? ofKind.expiring : ofKind.lasting
  return isOnInstance ? byScope.onInstance : byScope.inTenant
}

const OF_KIND: Readonly<Record<FactKind, ListsOfKind>> = {
  assignment: listsOfKind('assignment'),
  tuple: listsOfKind('tuple'),
}
const OF_KIND_BYTE: ReadonlyMap<number, ListsOfKind> = new Map(
  Object.entries(OF_KIND).map(([kind, lists]) => [KIND_BYTES[kind as FactKind], lists]),
)

/** Returns the entries according to the table. The caller provides the names of the lists from the ids. */
function entriesWith(
  { ofKind }: ListsOfKind,
  lists: readonly OwnList[],
  nameOf: (list: PlacedList) => ListName,
): ListEntry[] {
  const entries: ListEntry[] = [{ list: ofKind, counted: true }]
  for (const list of lists) {
    const { counted, representedIn, within, owner } = list
    entries.push({
      list: nameOf(list),
      counted,
      ...(representedIn && { representedIn: nameOf(representedIn) }),
      ...(within && { within: nameOf(within) }),
      ...(owner && {
        displaces: { owner: nameOf(owner), from: Uint8Array.of(USERS_WITHOUT_ROLES_LIST) },
      }),
    })
  }
  return entries
}

/** Returns the lists of a fact. */
export function entriesOfFact(record: RecordOf<FactKind>): ListEntry[] {
  const ofKind = OF_KIND[record.kind]
  const isOnInstance = record.kind === 'assignment' && record.instanceId !== null
  const ids = record as unknown as Readonly<Record<IdField, string | undefined>>
  return entriesWith(ofKind, listsFor(ofKind, isOnInstance, record.expiresAt !== null), list =>
    joinIds(
      list.head,
      list.ids.map(id => {
        const value = ids[id]
        assert(value, () => `a ${record.kind} has no ${id}`)
        return value
      }),
    ),
  )
}

interface FactRow {
  readonly key: Uint8Array
  readonly value: Uint8Array
}

/**
 * Like `entriesOfFact`, from the bytes of a row. Null if it is not a fact, or if the value is not in the
 * usual form.
 */
export function factEntries(row: FactRow): ListEntry[] | null {
  const found = listsOf(row)
  if (!found) return null
  const { ofKind, lists, tenantAt } = found
  return entriesWith(ofKind, lists, list => {
    const name = new Uint8Array(1 + list.places.length * UUID_BYTES)
    writeName(name, list, row, tenantAt)
    return name
  })
}

/** Views of one buffer, by the number of ids in a name, so that names do not allocate memory. */
const SCRATCH = new Uint8Array(1 + 3 * UUID_BYTES)
const SCRATCH_NAMES = [0, 1, 2, 3].map(ids => SCRATCH.subarray(0, 1 + ids * UUID_BYTES))

/**
 * Calls `visit` for each list of a fact, with its name and kind. The name is valid until the next call.
 * Returns false without a call if `factEntries` would return null.
 */
export function visitFactLists(
  row: FactRow,
  visit: (name: Uint8Array, isCounted: boolean, isRepresented: boolean) => void,
): boolean {
  const found = listsOf(row)
  if (!found) return false
  const { ofKind, lists, tenantAt } = found
  visit(ofKind.ofKind, true, false)
  for (const list of lists) {
    const scratch = SCRATCH_NAMES[list.places.length]!
    writeName(scratch, list, row, tenantAt)
    visit(scratch, list.counted, list.representedIn !== null)
  }
  return true
}

function listsOf({ key, value }: FactRow) {
  const ofKind = OF_KIND_BYTE.get(key[0]!)
  if (!ofKind) return null
  const tenantAt = tenantIn(value)
  if (tenantAt === null) return null
  const isOnInstance = key[0] === KIND_BYTES.assignment ? hasInstance(value, tenantAt) : false
  if (isOnInstance === null) return null
  return { ofKind, lists: listsFor(ofKind, isOnInstance, hasExpiry(key, value)), tenantAt }
}

/** Writes the name of a list: its first byte, and its ids copied from the key and the value. */
function writeName(
  name: Uint8Array,
  { head, places }: PlacedList,
  { key, value }: FactRow,
  tenantAt: number,
): void {
  name[0] = head
  let to = 1
  for (const place of places) {
    const from = place === TENANT ? value : key
    const at = place === TENANT ? tenantAt : place
    for (let index = 0; index < UUID_BYTES; index += 1) name[to++] = from[at + index]!
  }
}
