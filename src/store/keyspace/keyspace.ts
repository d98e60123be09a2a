/**
 * Defines the key space: the key of each record, and the lists (secondary indexes) that contain the record.
 * All functions are pure. `record-codec.ts` defines the content of values.
 *
 * A key consists of one byte for the kind, ids of fixed length and, at the end, at most one key of the
 * caller. It needs no delimiters to be unambiguous. The name of a list consists of one byte for the list, and
 * ids of fixed length.
 *
 * A key of each kind, by its first byte. "key" is the key that the caller chose:
 *
 *      1  type                 key
 *      2  role                 type id or zeros │ key
 *      3  relation             type id │ key
 *      4  tenant               key
 *      5  user                 key
 *      6  instance             type id │ key
 *      7  assignment           user id │ scope id │ role id    (scope: instance or tenant)
 *      8  tuple                object id │ relation id │ subject id
 *      9  purge                id
 *     10  audit                id
 *     11  schema
 *     12  schema-size
 *     13  condition-set        key
 *     14  rule                 user side id │ resource side id │ action id
 *     15  proxy-config         key
 *     16  organization
 *     17  project              key
 *     18  environment          project id │ key
 *     19  api-key              id
 *     20  removed-environment  id
 *     21  member               id
 *     22  member-group         id
 *     23  session              id
 */
import { hash } from 'node:crypto'
import { isBuiltInTypeKey } from '#model/built-in-types.ts'
import type { RuleSide } from '#model/change.ts'
import type { AccessGrant } from '#model/principal.ts'
import type { RecordKind, StoredRecord } from '#entities/records.ts'
import type { ListEntry, ListName, ListRule } from '#store/view.ts'
import {
  BY_ID_LIST,
  entriesOfFact,
  factEntries,
  factLists,
  OF_KIND_LIST,
  USERS_WITHOUT_ROLES_LIST,
} from './fact-list-membership.ts'
import { decodeRecord, ID_START, KIND_BYTES } from './record-codec.ts'
import { joinIds, readUuid, uuidToBytes } from './uuid-bytes.ts'

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

const READ_IN_ORDER: ReadonlySet<number> = new Set([
  KIND_BYTES.user,
  KIND_BYTES.instance,
  KIND_BYTES.assignment,
  KIND_BYTES.tuple,
  KIND_BYTES.audit,
])

/**
 * Whether a load of an index reads the rows of this kind only in creation order. The entries in the table of
 * keys can then be built later, which matters because there are millions of these rows.
 */
export function isKeyedLater(key: Uint8Array): boolean {
  return READ_IN_ORDER.has(key[0]!)
}

/** Functions that return the key of a record of each kind from its identifying fields. */
export const rowKeys = {
  type: (key: string) => joinIds(KIND_BYTES.type, [], key),
  role: (typeId: string | null, key: string) => joinIds(KIND_BYTES.role, [typeId], key),
  relation: (typeId: string, key: string) => joinIds(KIND_BYTES.relation, [typeId], key),
  tenant: (key: string) => joinIds(KIND_BYTES.tenant, [], key),
  user: (key: string) => joinIds(KIND_BYTES.user, [], key),
  instance: (typeId: string, key: string) => joinIds(KIND_BYTES.instance, [typeId], key),
  assignment: (userId: string, scopeId: string, roleId: string) =>
    joinIds(KIND_BYTES.assignment, [userId, scopeId, roleId]),
  tuple: (objectId: string, relationId: string, subjectId: string) =>
    joinIds(KIND_BYTES.tuple, [objectId, relationId, subjectId]),
  purge: (id: string) => joinIds(KIND_BYTES.purge, [id]),
  audit: (id: string) => joinIds(KIND_BYTES.audit, [id]),
  conditionSet: (key: string) => joinIds(KIND_BYTES['condition-set'], [], key),
  rule: (userSideId: string, resourceSideId: string, actionId: string) =>
    joinIds(KIND_BYTES.rule, [userSideId, resourceSideId, actionId]),
  proxyConfig: (key: string) => joinIds(KIND_BYTES['proxy-config'], [], key),
  schema: () => joinIds(KIND_BYTES.schema, []),
  schemaSize: () => joinIds(KIND_BYTES['schema-size'], []),
  organization: () => joinIds(KIND_BYTES.organization, []),
  project: (key: string) => joinIds(KIND_BYTES.project, [], key),
  environment: (projectId: string, key: string) => joinIds(KIND_BYTES.environment, [projectId], key),
  apiKey: (id: string) => joinIds(KIND_BYTES['api-key'], [id]),
  removedEnvironment: (id: string) => joinIds(KIND_BYTES['removed-environment'], [id]),
  member: (id: string) => joinIds(KIND_BYTES.member, [id]),
  memberGroup: (id: string) => joinIds(KIND_BYTES['member-group'], [id]),
  session: (id: string) => joinIds(KIND_BYTES.session, [id]),
}

/** Returns the first byte of the keys of a kind. */
export function recordsBegin(kind: RecordKind): number {
  return KIND_BYTES[kind]
}

/** Returns the caller's key of a user, from the key of the row. */
export function userKeyOf(key: Uint8Array): string {
  return decoder.decode(key.subarray(1))
}

/** Returns the id and caller's key of a type, without decoding the rest of its row. */
export function typeNamedIn(row: { readonly key: Uint8Array; readonly value: Uint8Array }) {
  return { id: readUuid(row.value, ID_START), key: decoder.decode(row.key.subarray(1)) }
}

/** An id in the form that keys contain. */
export function idBytes(id: string): Uint8Array {
  return uuidToBytes(id)
}

/** Returns the key of a record of any kind. */
export function rowKeyOf(record: StoredRecord): Uint8Array {
  switch (record.kind) {
    case 'type':
      return rowKeys.type(record.key)
    case 'role':
      return rowKeys.role(record.typeId, record.key)
    case 'relation':
      return rowKeys.relation(record.typeId, record.key)
    case 'tenant':
      return rowKeys.tenant(record.key)
    case 'user':
      return rowKeys.user(record.key)
    case 'instance':
      return rowKeys.instance(record.typeId, record.key)
    case 'assignment':
      return rowKeys.assignment(record.userId, record.instanceId ?? record.tenantId, record.roleId)
    case 'tuple':
      return rowKeys.tuple(record.objectId, record.relationId, record.subjectId)
    case 'condition-set':
      return rowKeys.conditionSet(record.key)
    case 'rule':
      return rowKeys.rule(record.userSideId, record.resourceSideId, record.actionId)
    case 'proxy-config':
      return rowKeys.proxyConfig(record.key)
    case 'purge':
      return rowKeys.purge(record.id)
    case 'audit':
      return rowKeys.audit(record.id)
    case 'schema':
      return rowKeys.schema()
    case 'schema-size':
      return rowKeys.schemaSize()
    case 'organization':
      return rowKeys.organization()
    case 'project':
      return rowKeys.project(record.key)
    case 'environment':
      return rowKeys.environment(record.projectId, record.key)
    case 'api-key':
      return rowKeys.apiKey(record.id)
    case 'removed-environment':
      return rowKeys.removedEnvironment(record.id)
    case 'member':
      return rowKeys.member(record.id)
    case 'member-group':
      return rowKeys.memberGroup(record.id)
    case 'session':
      return rowKeys.session(record.id)
  }
}

/** Names of the lists of rows, each in creation order; those of facts come from their table. */
export const lists = {
  ...factLists,
  all: (kind: RecordKind): ListName => Uint8Array.of(OF_KIND_LIST, KIND_BYTES[kind]),
  /**
   * List with at most one row: the entity with this id. The list is not counted. Entities of kinds that are
   * never looked up by id have no such list.
   */
  byId: (id: string): ListName => joinIds(BY_ID_LIST, [id]),
  /** Built-in types, which no caller created. They are in no other list of types. */
  builtInTypes: (): ListName => joinIds(29, []),
  rolesOfType: (typeId: string | null): ListName => joinIds(3, [typeId]),
  relationsOfType: (typeId: string): ListName => joinIds(4, [typeId]),
  relationsFromType: (subjectTypeId: string): ListName => joinIds(5, [subjectTypeId]),
  groups: (): ListName => joinIds(6, []),
  groupsOfType: (typeId: string): ListName => joinIds(7, [typeId]),
  groupsOfTenant: (tenantId: string): ListName => joinIds(8, [tenantId]),
  /** Relations that the groups API created. */
  groupRelations: (): ListName => joinIds(28, []),
  instancesOfType: (typeId: string): ListName => joinIds(26, [typeId]),
  instancesOfTenant: (tenantId: string): ListName => joinIds(25, [tenantId]),
  setsOfType: (typeId: string): ListName => joinIds(32, [typeId]),
  /** Condition sets directly below a condition set. */
  setsBelow: (parentId: string): ListName => joinIds(33, [parentId]),
  setsOfSide: (side: RuleSide): ListName => Uint8Array.of(38, side === 'user' ? 1 : 2),
  /** Rules on a user set or a tenant role. */
  rulesOfUserSide: (id: string): ListName => joinIds(34, [id]),
  /** Rules on a resource set, or on all resources of a type. */
  rulesOfResourceSide: (id: string): ListName => joinIds(35, [id]),
  /** Rules on the actions of a type. */
  rulesOfType: (typeId: string): ListName => joinIds(36, [typeId]),
  rulesOfAction: (actionId: string): ListName => joinIds(37, [actionId]),
  /** The member with this issuer and subject. */
  membersOfIdentity: (issuer: string, subject: string): ListName =>
    joinIds(41, [idOfText(`${issuer}\n${subject}`)]),
  sessionsOfMember: (memberId: string): ListName => joinIds(42, [memberId]),
  /** Members with this e-mail address, in upper or lower case. */
  membersOfEmail: (email: string): ListName => joinIds(43, [idOfText(email.toLowerCase())]),
  /** Members with an invitation that they have not accepted. */
  invitedMembers: (): ListName => joinIds(44, []),
  /** The member whose invitation has a code with this hash. */
  membersOfInvitation: (codeHash: string): ListName => joinIds(45, [idOfText(codeHash)]),
  /** Members and member groups with a grant on this project or environment, or on a part of it. */
  membersGrantedOn: (placeId: string): ListName => joinIds(48, [placeId]),
  memberGroupsGrantedOn: (placeId: string): ListName => joinIds(49, [placeId]),
  /** The group of members with this name at the issuer. */
  memberGroupsNamed: (group: string): ListName => joinIds(47, [idOfText(group)]),
  /** Sessions that began in a session of the issuer with this `sid`. */
  sessionsOfIssuerSession: (issuerSessionId: string): ListName => joinIds(46, [idOfText(issuerSessionId)]),
  usersWithoutRoles: (): ListName => Uint8Array.of(USERS_WITHOUT_ROLES_LIST),
}

/** Returns the list that contains every record of its kind. Built-in types have a separate list. */
function kindListOf(record: StoredRecord): ListName {
  const isBuiltIn = record.kind === 'type' && isBuiltInTypeKey(record.key)
  return isBuiltIn ? lists.builtInTypes() : lists.all(record.kind)
}

/** Returns the lists of a record, except `byId`. */
function entriesOf(record: StoredRecord): ListEntry[] {
  if (record.kind === 'assignment' || record.kind === 'tuple') return entriesOfFact(record)
  return [counted(kindListOf(record)), ...partsOf(record)]
}

/** Returns the lists of the records that belong to the same entity. */
function partsOf(record: StoredRecord): ListEntry[] {
  switch (record.kind) {
    case 'role':
      return [counted(lists.rolesOfType(record.typeId))]
    case 'relation': {
      const entries = [lists.relationsOfType(record.typeId), lists.relationsFromType(record.subjectTypeId)]
      return [...entries, ...(record.groupUse ? [lists.groupRelations()] : [])].map(counted)
    }
    case 'user': {
      const unless = lists.assignmentsOfUser(record.id)
      return [{ list: lists.usersWithoutRoles(), counted: true, unless }]
    }
    case 'instance': {
      const entries = [lists.instancesOfType(record.typeId), lists.instancesOfTenant(record.tenantId)]
      const ofGroup = [
        lists.groups(),
        lists.groupsOfType(record.typeId),
        lists.groupsOfTenant(record.tenantId),
      ]
      return [...entries, ...(record.isGroup ? ofGroup : [])].map(counted)
    }
    case 'condition-set': {
      const { side, typeId, parentId } = record
      return [
        lists.setsOfSide(side),
        ...(typeId === null ? [] : [lists.setsOfType(typeId)]),
        ...(parentId === null ? [] : [lists.setsBelow(parentId)]),
      ].map(counted)
    }
    case 'rule':
      return [
        lists.rulesOfUserSide(record.userSideId),
        lists.rulesOfResourceSide(record.resourceSideId),
        lists.rulesOfType(record.typeId),
        lists.rulesOfAction(record.actionId),
      ].map(counted)
    case 'member': {
      const { issuer, subject, email, invitation } = record
      return [
        ...(issuer === null || subject === null ? [] : [lists.membersOfIdentity(issuer, subject)]),
        ...(email === null ? [] : [lists.membersOfEmail(email)]),
        ...(invitation ? [lists.invitedMembers(), lists.membersOfInvitation(invitation.codeHash)] : []),
        ...placesOf(record.grants).map(lists.membersGrantedOn),
      ].map(counted)
    }
    case 'member-group': {
      const places = placesOf(record.grants).map(lists.memberGroupsGrantedOn)
      return [lists.memberGroupsNamed(record.group), ...places].map(counted)
    }
    case 'session': {
      const { memberId, issuerSessionId } = record
      return [
        lists.sessionsOfMember(memberId),
        ...(issuerSessionId === null ? [] : [lists.sessionsOfIssuerSession(issuerSessionId)]),
      ].map(counted)
    }
    default:
      return []
  }
}

/** Ids of the projects and environments of grants, each once. */
function placesOf(grants: readonly AccessGrant[]): string[] {
  const ids = grants.flatMap(({ projectId, environmentId }) => [projectId, environmentId])
  return [...new Set(ids)].filter(id => id !== null)
}

/** An id that stands for a text in the name of a list: the first 128 bits of a hash. */
function idOfText(text: string): string {
  const digest = hash('sha256', text, 'hex')
  return digest.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

function counted(list: ListName): ListEntry {
  return { list, counted: true }
}

/**
 * Kinds with a `byId` list. Facts have no such list: they refer to entities by id, but no row refers to a
 * fact by id.
 */
const FOUND_BY_ID: ReadonlySet<RecordKind> = new Set<RecordKind>([
  'type',
  'role',
  'relation',
  'tenant',
  'user',
  'instance',
  'condition-set',
  'proxy-config',
  'project',
  'environment',
])

export const listRule: ListRule = row => factEntries(row) ?? recordEntries(row)

/** Returns the lists of a row, derived from the decoded record. `factEntries` must return the same. */
export function recordEntries(row: Parameters<ListRule>[0]): ListEntry[] {
  const record = decodeRecord(row)
  const entries = entriesOf(record)
  if (FOUND_BY_ID.has(record.kind)) entries.push({ list: lists.byId(record.id), counted: false })
  return entries
}

/**
 * Whether a record is in a list because of its content. Lists that depend on other records are not supported.
 */
export function isListed(record: StoredRecord, list: ListName): boolean {
  if (Buffer.compare(list, kindListOf(record)) === 0) return true
  return entriesOf(record).some(entry => Buffer.compare(entry.list, list) === 0)
}
