/** Positions of groups in the tree of nested groups: parents, children and numbers of members. */
import { findRole } from '#management/drafts/lookups.ts'
import type { Page } from '#management/paging/paging.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import { type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import type {
  InstanceRecord,
  RelationRecord,
  RoleRecord,
  TupleRecord,
  TypeRecord,
} from '#entities/records.ts'
import type { GroupRecord } from '#entities/group.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import type { ListName } from '#store/view.ts'
import { MEMBER_ROLE, typeOfInstance } from './group-lookup.ts'
import { findNestingRelation } from './group-relations.ts'

/** The relation and role that connect the groups of a type, as far as they exist. */
interface Ties {
  readonly nesting: RelationRecord | null
  readonly member: RoleRecord | null
  /** Whether every instance of the type is a group, so that linked instances need not be read. */
  readonly isAllGroups: boolean
}

/** The fields about the position of a group. */
export type GroupTreeFields = Pick<GroupRecord, 'users_count' | 'has_children'>

export class GroupTree {
  readonly #records: RecordReader
  /**
   * The ties of each type, as of `#sequence`. They are cached, because a list has many groups of few types.
   */
  readonly #ties = new Map<string, Ties>()
  #sequence = -1

  constructor(records: RecordReader) {
    this.#records = records
  }

  /** The position of a group; zero and false if it was removed in the meantime. */
  *placeOf(groupId: string): Resumable<GroupTreeFields> {
    const group = this.#records.byId('instance', groupId)
    if (group === null) return { users_count: 0, has_children: false }
    const { nesting, member } = this.#tiesOf(group)
    const users = member
      ? yield* this.#records.liveCount('assignment', lists.holders(group.id, member.id))
      : 0
    const below = nesting && lists.tuplesToOver(group.id, nesting.id)
    return {
      users_count: users,
      has_children: below !== null && (yield* this.#hasGroup(group, below, ({ subjectId }) => subjectId)),
    }
  }

  /** Whether the group is in another one. O(1 + rows that wait for their purge). */
  *isNested(group: InstanceRecord): Resumable<boolean> {
    const { nesting } = this.#tiesOf(group)
    if (nesting === null) return false
    const above = lists.tuplesFromOver(group.id, nesting.id)
    return yield* this.#hasGroup(group, above, ({ objectId }) => objectId)
  }

  /**
   * Whether the list has a tuple that connects the group with another group. The count of the list is not
   * sufficient: callers can use the same relation to link instances that are not groups.
   */
  *#hasGroup(
    group: InstanceRecord,
    list: ListName,
    idOf: (tuple: TupleRecord) => string,
  ): Resumable<boolean> {
    if (this.#records.count(list) === 0) return false
    if (!this.#records.hasDead && this.#tiesOf(group).isAllGroups) return true
    let rows = 0
    for (const { record, isDead } of this.#records.foundIn('tuple', [list])) {
      if (!isDead && this.#records.byId('instance', idOf(record))?.isGroup === true) return true
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
      ties = {
        nesting: findNestingRelation(records, type),
        member: findRole(records, type, MEMBER_ROLE),
        isAllGroups:
          records.count(lists.instancesOfType(type.id)) === records.count(lists.groupsOfType(type.id)),
      }
      this.#ties.set(group.typeId, ties)
    }
    return ties
  }
}

/** The page with the position of each of its groups. */
export function* withPlaces<Item extends { readonly id: string }>(
  records: RecordReader,
  page: Page<Item>,
): Resumable<Page<Item & GroupTreeFields>> {
  const tree = new GroupTree(records)
  const data: (Item & GroupTreeFields)[] = []
  for (const item of page.data) {
    data.push({ ...item, ...(yield* tree.placeOf(item.id)) })
    yield
  }
  return { ...page, data }
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
