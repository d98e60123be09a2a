/** Where groups stand among each other, for trees of them: what is above one, what is below it, and how many are its members. */
import { findRole } from '#management/commands/lookups.ts'
import type { Page } from '#management/commands/paging.ts'
import type { RecordReader } from '#management/commands/record-reader.ts'
import { type Resumable, YIELD_ROWS } from '#management/commands/resumable.ts'
import type { Filter } from '#management/commands/selection.ts'
import { AuthzError } from '#model/errors.ts'
import { NESTINGS_LOOKED_AT_MAX } from '#model/limits.ts'
import type { InstanceRecord, RelationRecord, RoleRecord, TypeRecord } from '#model/records.ts'
import type { GroupRecord } from '#model/wire/group.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import type { ListName } from '#store/view.ts'
import { MEMBER_ROLE, typeOfInstance } from './group-lookup.ts'
import { findNestingRelation } from './group-relations.ts'

/** What makes groups of a type members of each other, as far as it is there. */
interface Ties {
  readonly nesting: RelationRecord | null
  readonly member: RoleRecord | null
}

/** What is shown of a group beside what it is. */
export type Place = Pick<GroupRecord, 'users_count' | 'has_children'>

export class GroupTree {
  readonly #records: RecordReader
  /** By type, as of `#sequence`: a list has many groups of few types. */
  readonly #ties = new Map<string, Ties>()
  #sequence = -1

  constructor(records: RecordReader) {
    this.#records = records
  }

  /** A group that was removed since it was found has nothing any more. */
  *placeOf(groupId: string): Resumable<Place> {
    const group = this.#records.byId('instance', groupId)
    if (group === null) return { users_count: 0, has_children: false }
    const { nesting, member } = this.#tiesOf(group)
    const users = member
      ? yield* this.#records.liveCount('assignment', lists.holders(group.id, member.id))
      : 0
    const below = nesting && lists.tuplesToOver(group.id, nesting.id)
    return { users_count: users, has_children: below !== null && (yield* this.#hasGroup(below)) }
  }

  /** Callers may link instances that are no groups by the same relation, so that a count says too little. */
  *#hasGroup(list: ListName): Resumable<boolean> {
    if (this.#records.count(list) === 0) return false
    let rows = 0
    for (const { record, isDead } of this.#records.foundIn('tuple', [list])) {
      if (!isDead && this.#records.byId('instance', record.subjectId)?.isGroup === true) return true
      if (++rows % YIELD_ROWS === 0) yield
    }
    return false
  }

  #tiesOf(group: InstanceRecord): Ties {
    const records = this.#records
    if (records.sequence !== this.#sequence) {
      this.#ties.clear()
      this.#sequence = records.sequence
    }
    let ties = this.#ties.get(group.typeId)
    if (ties === undefined) {
      const type = typeOfInstance(records, group)
      ties = { nesting: findNestingRelation(records, type), member: findRole(records, type, MEMBER_ROLE) }
      this.#ties.set(group.typeId, ties)
    }
    return ties
  }
}

/** The page with the place of each of its groups. */
export function* withPlaces<Item extends { readonly id: string }>(
  records: RecordReader,
  page: Page<Item>,
): Resumable<Page<Item & Place>> {
  const tree = new GroupTree(records)
  const data: (Item & Place)[] = []
  for (const item of page.data) {
    data.push({ ...item, ...(yield* tree.placeOf(item.id)) })
    yield
  }
  return { ...page, data }
}

/**
 * Lets through groups that are in no other. No list is kept for that: all nestings are looked at once, rather than those of each group.
 * Throws `LIMIT_EXCEEDED` beyond `rowsMax` of them.
 */
export function* topFilter(
  records: RecordReader,
  rowsMax = NESTINGS_LOOKED_AT_MAX,
): Resumable<Filter<InstanceRecord>> {
  const nested = new Set<string>()
  let rows = 0
  for (const type of yield* typesOfGroups(records)) {
    const relation = findNestingRelation(records, type)
    if (relation === null) continue
    const isGroup = groupsAmong(records, type)
    for (const { record, isDead } of records.foundIn('tuple', [lists.tuplesOver(relation.id)])) {
      if (rows === rowsMax) throw tooManyNestings(rowsMax)
      if (!isDead && isGroup(record.objectId)) nested.add(record.subjectId)
      if (++rows % YIELD_ROWS === 0) yield
    }
  }
  return { lists: null, matches: ({ id }) => !nested.has(id) }
}

/** Whether an instance of the type is a group. Callers may link others by the same relation. */
function groupsAmong(records: RecordReader, { id }: TypeRecord): (instanceId: string) => boolean {
  // Where all are groups, none has to be read.
  if (records.count(lists.instancesOfType(id)) === records.count(lists.groupsOfType(id))) return () => true
  const known = new Map<string, boolean>()
  return instanceId => {
    let isGroup = known.get(instanceId)
    if (isGroup === undefined) {
      isGroup = records.byId('instance', instanceId)?.isGroup === true
      known.set(instanceId, isGroup)
    }
    return isGroup
  }
}

function tooManyNestings(rowsMax: number): AuthzError {
  const message = `top_level looks at ${rowsMax} nestings of groups at most, and there are more`
  return new AuthzError('LIMIT_EXCEEDED', message, { limit: 'list' })
}

/** The types that have groups. O(types). */
export function* typesOfGroups(records: RecordReader): Resumable<TypeRecord[]> {
  const types: TypeRecord[] = []
  let rows = 0
  for (const { record: type, isDead } of records.foundIn('type', [lists.all('type')])) {
    if (!isDead && records.count(lists.groupsOfType(type.id)) > 0) types.push(type)
    if (++rows % YIELD_ROWS === 0) yield
  }
  return types
}
