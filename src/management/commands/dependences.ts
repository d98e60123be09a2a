/**
 * What depends on what: the ids by which a record belongs to other things, and for each the list of all that belong to one. From this
 * table follow who is dead when a thing is (`dead-ids.ts`) and what a removal takes along (`removal.ts`,
 * native.md C.7).
 */
import type { RecordKind, RecordOf } from '#model/records.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import type { ListName } from '#store/view.ts'

/** Rows that go behind the commit that removes what they depend on. */
export type DependentKind = 'assignment' | 'tuple' | 'instance' | 'rule'

/** What others depend on. An action is a part of its type's record. */
export type Depended = RecordKind | 'action'

interface Dependence {
  readonly on: Depended | readonly Depended[]
  /** All that depend on the thing of that id in this way. */
  readonly list: (id: string) => ListName
}

/** Every id of another thing in such a record must be here: the compiler sees to it. */
type DependencesOf<Kind extends DependentKind> = {
  readonly [Field in Extract<keyof RecordOf<Kind>, `${string}Id`>]: Dependence
}

const DEPENDENCES: { readonly [Kind in DependentKind]: DependencesOf<Kind> } = {
  assignment: {
    userId: { on: 'user', list: lists.assignmentsOfUser },
    roleId: { on: 'role', list: lists.assignmentsOfRole },
    tenantId: { on: 'tenant', list: lists.assignmentsOfTenant },
    instanceId: { on: 'instance', list: lists.assignmentsOnInstance },
  },
  tuple: {
    relationId: { on: 'relation', list: lists.tuplesOver },
    tenantId: { on: 'tenant', list: lists.tuplesOfTenant },
    subjectId: { on: 'instance', list: lists.tuplesFrom },
    objectId: { on: 'instance', list: lists.tuplesTo },
  },
  // The facts on the instances of a type are known by its roles and relations, which go with it.
  instance: {
    typeId: { on: 'type', list: lists.instancesOfType },
    tenantId: { on: 'tenant', list: lists.instancesOfTenant },
  },
  rule: {
    userSideId: { on: ['condition-set', 'role'], list: lists.rulesOfUserSide },
    // A rule on a type as such is on an action of that type, and so in the type's list.
    resourceSideId: { on: 'condition-set', list: lists.rulesOfResourceSide },
    typeId: { on: 'type', list: lists.rulesOfType },
    actionId: { on: 'action', list: lists.rulesOfAction },
  },
}

const NO_ID = '00000000-0000-0000-0000-000000000000'

const ALL: readonly Dependence[] = Object.values(DEPENDENCES).flatMap(ofKind => Object.values(ofKind))

const ID_FIELDS: Readonly<Partial<Record<RecordKind, readonly string[]>>> = Object.fromEntries(
  Object.entries(DEPENDENCES).map(([kind, ofKind]) => [kind, Object.keys(ofKind)]),
)

/** The fields in which records of the kind have the ids of what they depend on. */
export function idFieldsOf(kind: RecordKind): readonly string[] {
  return ID_FIELDS[kind] ?? []
}

/** The lists of all that depend on a thing. */
export function listsOfDependants(kind: Depended, id: string): ListName[] {
  return ALL.flatMap(({ on, list }) => ([on].flat().includes(kind) ? [list(id)] : []))
}

/** The kind of what is in a list of dependants: what it begins with is that of no other list. */
const KIND_OF_LIST = new Map<number, DependentKind>(
  Object.entries(DEPENDENCES).flatMap(([kind, ofKind]) =>
    Object.values(ofKind as Readonly<Record<string, Dependence>>).map(({ list }): [number, DependentKind] => [
      list(NO_ID)[0]!,
      kind as DependentKind,
    ]),
  ),
)

export function kindInList(list: ListName): DependentKind | undefined {
  return KIND_OF_LIST.get(list[0]!)
}
