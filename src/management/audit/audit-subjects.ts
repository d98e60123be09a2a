/**
 * Finds the entities that an audit log entry is about: those that its call named, in the path or in the body.
 * A call names an entity by key or id; an entry keeps both for each entity (`audited-things.ts`). Entries of
 * older releases do not contain both. In such entries, an entity is found by its current key and id.
 */
import type { Attributes } from '#model/change.ts'
import { idFrom, parseInstanceReference } from '#model/instance-reference.ts'
import type { AuditRecord, InstanceRecord, RecordKind, RecordOf } from '#entities/records.ts'
import type { AuditedKind, AuditedThing, AuditSubjectKind } from '#model/wire/organization/audit.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { findStoredType, findTenant, findUser } from '#management/drafts/lookups.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'

/** Kinds of entities. Groups count as resource instances. */
type Kind = AuditedKind
export type Members = Readonly<Record<string, unknown>>

/**
 * Members of paths and bodies that name entities, with the possible kinds. A rule has a role or a user set on
 * one side, and a resource type or a resource set on the other.
 */
const NAMING: Readonly<Partial<Record<string, readonly Kind[]>>> = {
  user_id: ['user'],
  user: ['user'],
  tenant_id: ['tenant'],
  tenant: ['tenant'],
  group_tenant: ['tenant'],
  resource_id: ['resource'],
  on_resource: ['resource'],
  subject_resource: ['resource'],
  instance_id: ['resource_instance'],
  resource_instance: ['resource_instance'],
  group_instance_key: ['resource_instance'],
  subject: ['resource_instance'],
  object: ['resource_instance'],
  role_id: ['role'],
  parent_role_id: ['role'],
  role: ['role'],
  extends: ['role'],
  condition_set_id: ['condition_set'],
  parent_id: ['condition_set'],
  user_set: ['condition_set', 'role'],
  resource_set: ['condition_set', 'resource'],
  relation_id: ['relation'],
  relation: ['relation'],
  linked_by_relation: ['relation'],
  action_id: ['action'],
  action_group_id: ['action_group'],
  attribute_id: ['attribute'],
  proxy_config_id: ['proxy_config'],
  proj_id: ['project'],
  project_id: ['project'],
  env_id: ['environment'],
  environment_id: ['environment'],
  api_key_id: ['api_key'],
  member_id: ['member'],
  member_group_id: ['member_group'],
}

/** Kind that the `key` in the body, or a list of strings there, refers to, by operation. */
const KEYED: Readonly<Partial<Record<string, Kind>>> = {
  createUser: 'user',
  createTenantUser: 'user',
  createUsers: 'user',
  replaceUsers: 'user',
  deleteUsers: 'user',
  createTenant: 'tenant',
  createTenants: 'tenant',
  deleteTenants: 'tenant',
  createResource: 'resource',
  createResourceInstance: 'resource_instance',
  replaceResourceInstances: 'resource_instance',
  deleteResourceInstances: 'resource_instance',
  createTenantRole: 'role',
  createResourceRole: 'role',
  putRolesInBulk: 'role',
  createConditionSet: 'condition_set',
  createRelation: 'relation',
  createAction: 'action',
  createActionGroup: 'action_group',
  createAttribute: 'attribute',
  createUserAttribute: 'attribute',
  createProxyConfig: 'proxy_config',
}

/** Members whose content is searched for names. Other nested members, such as attributes, contain none. */
const PARTS: ReadonlySet<string> = new Set([
  'body',
  'query',
  'operations',
  'idents',
  'role_assignments',
  'grants',
])

/** Members with permissions, written as `type:action`. */
const PERMISSIONS: ReadonlySet<string> = new Set(['permission', 'permissions'])

/** A bare key that names a group refers to an instance of this type. */
const GROUP_TYPE = 'group'

/** An entity with all its names. `beside`: the siblings of the member that may name it. */
export interface AuditSubject {
  readonly kind: Kind
  /** All strings that can name it, with ids in canonical form. */
  readonly spellings: readonly string[]
  isNamed(text: string, name: string, beside: Members): boolean
}

/** Returns a filter for entries about `about`, which is `kind:key` or `kind:id`. */
export function aboutFilter(records: RecordReader, about: string): (entry: AuditRecord) => boolean {
  const colon = about.indexOf(':')
  const subject = subjectOf(records, about.slice(0, colon) as AuditSubjectKind, about.slice(colon + 1))
  const isIt = ({ kind, key, id }: AuditedThing): boolean =>
    kind === subject.kind && [id, ...(key === null ? [] : [key])].some(name => subject.isNamed(name, '', {}))
  return entry => thingsOf(entry).some(isIt) || namesSubject(entry.input, subject, entry.operation)
}

/** The entities recorded in an entry; empty for entries of older releases. */
export function thingsOf({ aboutNames, aboutIds }: AuditRecord): AuditedThing[] {
  return (aboutIds ?? []).map((id, index) => {
    const name = aboutNames![index]!
    const colon = name.indexOf(':')
    const key = name.slice(colon + 1)
    return { kind: name.slice(0, colon) as Kind, key: key === '' ? null : key, id }
  })
}

function subjectOf(records: RecordReader, kind: AuditSubjectKind, reference: string): AuditSubject {
  switch (kind) {
    case 'user':
      return namedThing(kind, reference, [findUser(records, reference)])
    case 'tenant':
      return namedThing(kind, reference, [findTenant(records, reference)])
    case 'resource':
      return namedThing(kind, reference, [findStoredType(records, reference)])
    case 'condition_set':
      return namedThing(kind, reference, [
        recordOf(records, 'condition-set', rowKeys.conditionSet(reference), reference),
      ])
    case 'role':
      return namedThing(kind, reference, rolesOf(records, reference))
    case 'group':
      return instanceOf(records, reference, GROUP_TYPE)
    case 'resource_instance':
      return instanceOf(records, reference, null)
  }
}

function recordOf<Named extends RecordKind>(
  records: RecordReader,
  kind: Named,
  key: Uint8Array,
  reference: string,
): RecordOf<Named> | null {
  return records.get(kind, key) ?? records.byReference(kind, reference)
}

/** All roles with that key, because roles of several types can have the same key. O(types). */
function rolesOf(records: RecordReader, reference: string) {
  const types = [null, ...Array.from(records.list('type', lists.all('type')), ({ id }) => id)]
  const named = types.map(typeId => records.get('role', rowKeys.role(typeId, reference)))
  const byId = records.byReference('role', reference)
  return [...named, byId]
}

function namedThing(
  kind: Kind,
  reference: string,
  found: readonly ({ readonly id: string; readonly key: string } | null)[],
): AuditSubject {
  return subjectOfNames(kind, [
    reference,
    ...idsIn(reference),
    ...found.flatMap(thing => (thing ? [thing.key, thing.id] : [])),
  ])
}

/**
 * Returns an entity by its names. `bare` is the key of an instance, which names it only next to one of the
 * types.
 */
export function subjectOfNames(
  kind: Kind,
  spelled: readonly string[],
  bare: { readonly key: string; readonly types: ReadonlySet<string> } | null = null,
): AuditSubject {
  const known = new Set(spelled)
  return {
    kind,
    spellings: bare === null ? spelled : [...spelled, bare.key],
    isNamed: (text, name, beside) =>
      has(known, text) || (text === bare?.key && has(bare.types, typeBeside(name, beside))),
  }
}

/** `usualType`: the type that a bare key refers to; null if a bare key is not accepted. */
function instanceOf(records: RecordReader, reference: string, usualType: string | null): AuditSubject {
  const usual = usualType === null ? null : { type: usualType, key: reference }
  const named = parseInstanceReference(reference) ?? usual
  const namedType = named && findStoredType(records, named.type)
  const byKey = named && namedType ? records.get('instance', rowKeys.instance(namedType.id, named.key)) : null
  const byId = records.byReference('instance', reference)
  const found: InstanceRecord | null = byKey ?? byId
  const type = found ? records.byId('type', found.typeId) : namedType
  const key = found?.key ?? named?.key ?? null
  const types = new Set([...(named && !byId ? [named.type] : []), ...(type ? [type.key, type.id] : [])])
  const known = [...idsIn(reference), ...(found ? [found.id] : [])]
  if (key === null) return subjectOfNames('resource_instance', known)
  const spelled = Array.from(types, of => `${of}:${key}`)
  return subjectOfNames('resource_instance', [...known, ...spelled], { key, types })
}

/** The type of an instance that is named by its bare key. */
function typeBeside(name: string, beside: Members): string {
  const type = name === 'group_instance_key' ? beside['group_resource_type_key'] : beside['resource']
  if (typeof type === 'string') return type
  return name === 'group_instance_key' ? GROUP_TYPE : ''
}

/** The canonical id that a reference can be, as a list with at most one element. */
function idsIn(reference: string): readonly string[] {
  return [idFrom(reference) ?? []].flat()
}

/** Whether the text is in the set. Ids are compared in canonical form. */
export function has(known: ReadonlySet<string>, text: string): boolean {
  return known.has(text) || idsIn(text).some(id => known.has(id))
}

/** Whether the input of a call names the entity. */
export function namesSubject(input: unknown, subject: AuditSubject, operation: string): boolean {
  for (const naming of namingsIn(input, operation)) if (isNamedBy(naming, subject)) return true
  return false
}

/** A string in the input of a call, and the kinds of entities that it can name there. */
export interface Naming {
  readonly kinds: readonly Kind[]
  readonly text: string
  /** Name of the member that contains the string. */
  readonly name: string
  readonly beside: Members
}

export function isNamedBy({ kinds, text, name, beside }: Naming, subject: AuditSubject): boolean {
  return kinds.includes(subject.kind) && subject.isNamed(text, name, beside)
}

/** All strings in the input of a call that can name an entity. */
export function namingsIn(input: unknown, operation: string): Iterable<Naming> {
  return namings(input, KEYED[operation])
}

function* namings(input: unknown, keyed: Kind | undefined): Iterable<Naming> {
  if (Array.isArray(input)) {
    for (const each of input) yield* namingsBy(each, 'key', input, keyed)
    return
  }
  if (typeof input !== 'object' || input === null) return
  const members = input as Attributes
  for (const [name, value] of Object.entries(members)) {
    if (PARTS.has(name)) yield* namings(value, keyed)
    else if (Array.isArray(value)) for (const each of value) yield* namingsBy(each, name, members, keyed)
    else yield* namingsBy(value, name, members, keyed)
  }
}

function* namingsBy(
  value: unknown,
  name: string,
  beside: unknown,
  keyed: Kind | undefined,
): Iterable<Naming> {
  if (typeof value !== 'string') {
    if (name === 'key') yield* namings(value, keyed)
  } else if (PERMISSIONS.has(name)) {
    yield { kinds: ['resource'], text: value.slice(0, Math.max(0, value.indexOf(':'))), name, beside: {} }
  } else {
    const kinds = kindsOf(name, keyed)
    if (kinds.length > 0) yield { kinds, text: value, name, beside: beside as Members }
  }
}

function kindsOf(name: string, keyed: Kind | undefined): readonly Kind[] {
  if (name === 'key') return keyed === undefined ? [] : [keyed]
  if (name === 'resource' && keyed === 'role') return ['resource']
  return NAMING[name] ?? []
}
