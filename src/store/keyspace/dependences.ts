/**
 * Table of dependencies between kinds of records. For each kind, it contains the fields in which a record
 * refers to another entity by id. For each field, it contains the list of all records that depend on such an
 * entity. The table determines which records are dead (`dead-ids.ts`) and which rows a removal also deletes
 * (`removal.ts`, native.md C.7).
 */
import type { RecordKind, RecordOf } from '#entities/records.ts'
import { lists } from './keyspace.ts'
import type { ListName } from '#store/view.ts'

/** Kinds of rows that depend on an entity and are purged after the commit that removes the entity. */
export type DependentKind = 'assignment' | 'tuple' | 'instance' | 'rule'

/** Kinds of entities that others depend on. An action is a part of its type's record. */
export type Depended = RecordKind | 'action'

interface Dependence {
  readonly on: Depended | readonly Depended[]
  /** Returns the list of all records that depend in this way on the entity with this id. */
  readonly list: (id: string) => ListName
}

/** The compiler checks that every id of another entity in such a record is listed. */
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
  // The facts on the instances of a type are found through the roles and relations of the type, which are
  // deleted with the type.
  instance: {
    typeId: { on: 'type', list: lists.instancesOfType },
    tenantId: { on: 'tenant', list: lists.instancesOfTenant },
  },
  rule: {
    userSideId: { on: ['condition-set', 'role'], list: lists.rulesOfUserSide },
    // A rule can have a type as its resource side. Such a rule is in the list of the type, because its action
    // belongs to the type.
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

/** Returns the fields that contain the ids of the entities on which records of this kind depend. */
export function idFieldsOf(kind: RecordKind): readonly string[] {
  return ID_FIELDS[kind] ?? []
}

/** Returns the lists of all dependents of an entity. */
export function listsOfDependants(kind: Depended, id: string): ListName[] {
  return ALL.flatMap(({ on, list }) => ([on].flat().includes(kind) ? [list(id)] : []))
}

/** For the first byte of the name of each list of dependents, the kind of the records in the list. */
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
