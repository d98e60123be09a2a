/**
 * Encodes records as bytes. A value is a msgpack array with the fields of the kind in the order given here,
 * where declared fields follow their order in `entities`, and ids as 16 bytes. The first byte of the key is
 * the kind, and the value of a fact omits the fields that are in its key. New fields are appended: in an
 * older row they read as `null`. The value of a fact that does not expire has no expiration time, and the
 * value of an audit entry without an actor has no actor. This saves a byte per row.
 *
 * Facts are the most frequent rows, up to millions: see `docs/storage.md` for their sizes.
 */
import { Packr } from 'msgpackr'
import { type DeclaredField, recordNames } from '#entities/entity.ts'
import { assert } from '#model/assert.ts'
import { parsedJson } from '#model/text/json-numbers.ts'
import type { RecordKind, RecordOf, StoredRecord } from '#entities/records.ts'
import { INSTANCE } from '#entities/resource-instance.ts'
import { RESOURCE } from '#entities/resource.ts'
import { ROLE } from '#entities/role.ts'
import { TENANT } from '#entities/tenant.ts'
import { USER } from '#entities/user.ts'
import { hideLesserKey, showLesserKey } from './lesser-keys.ts'
import { ORGANIZATION_FIELDS } from './organization-fields.ts'
import { readUuid, UUID_BYTES, uuidToBytes } from './uuid-bytes.ts'

/**
 * Offset of the 16 bytes of the id in every value. The id is the first field. Before it are the msgpack heads
 * of the array and of the byte string.
 */
export const ID_START = 3

/** First byte of the key of a row. The value is stored: never reuse it for another kind. */
export const KIND_BYTES = {
  type: 1,
  role: 2,
  relation: 3,
  tenant: 4,
  user: 5,
  instance: 6,
  assignment: 7,
  tuple: 8,
  purge: 9,
  audit: 10,
  schema: 11,
  'schema-size': 12,
  'condition-set': 13,
  rule: 14,
  'proxy-config': 15,
  organization: 16,
  project: 17,
  environment: 18,
  'api-key': 19,
  'removed-environment': 20,
  member: 21,
  'member-group': 22,
  session: 23,
} as const satisfies Record<RecordKind, number>

type FieldsOf<Kind extends RecordKind> = readonly Exclude<keyof RecordOf<Kind>, 'kind'>[]

/** Fields in the value of each kind, in stored order. */
const FIELDS = {
  type: [
    'id',
    'createdAt',
    'updatedAt',
    'key',
    'name',
    'urn',
    'description',
    'actions',
    'attributes',
    'typeAttributes',
    'actionGroups',
  ],
  role: [
    'id',
    'createdAt',
    'updatedAt',
    'typeId',
    'key',
    'name',
    'description',
    'permissions',
    'extends',
    'attributes',
    'grantedTo',
  ],
  relation: [
    'id',
    'createdAt',
    'updatedAt',
    'typeId',
    'key',
    'name',
    'description',
    'subjectTypeId',
    'groupUse',
    'retiring',
  ],
  tenant: ['id', 'createdAt', 'updatedAt', 'key', ...recordNames(TENANT)],
  user: ['id', 'createdAt', 'updatedAt', 'key', ...recordNames(USER)],
  instance: ['id', 'createdAt', 'updatedAt', 'typeId', 'key', 'tenantId', 'attributes', 'isGroup'],
  assignment: ['id', 'createdAt', 'tenantId', 'instanceId', 'expiresAt'],
  tuple: ['id', 'createdAt', 'tenantId', 'expiresAt'],
  purge: ['id', 'deadIds', 'lists'],
  audit: [
    'id',
    'createdAt',
    'keyId',
    'requestId',
    'operation',
    'input',
    'isInputCut',
    'sequence',
    'aboutNames',
    'aboutIds',
    'actor',
  ],
  schema: ['id'],
  'schema-size': [
    'id',
    'actions',
    'permissions',
    'derivations',
    'conditionBytes',
    'mappingRules',
    'mappingBytes',
  ],
  'condition-set': [
    'id',
    'createdAt',
    'updatedAt',
    'key',
    'name',
    'description',
    'side',
    'typeId',
    'parentId',
    'conditions',
  ],
  rule: ['id', 'createdAt', 'typeId'],
  'proxy-config': [
    'id',
    'createdAt',
    'updatedAt',
    'key',
    'name',
    'authMechanism',
    'sealedSecret',
    'mappingRules',
  ],
  ...ORGANIZATION_FIELDS,
} as const satisfies { readonly [Kind in RecordKind]: FieldsOf<Kind> }

const ID_FIELDS: ReadonlySet<string> = new Set([
  'id',
  'typeId',
  'subjectTypeId',
  'tenantId',
  'instanceId',
  'projectId',
  'environmentId',
  'keyId',
  'parentId',
  'memberId',
])

const ID_LIST_FIELDS: ReadonlySet<string> = new Set(['deadIds', 'aboutIds'])

/**
 * Fields whose member names are chosen by callers. They are stored as JSON text, because msgpackr would
 * rename a member `__proto__`.
 */
const JSON_FIELDS: ReadonlySet<string> = new Set([
  ...[USER, TENANT, INSTANCE, ROLE, RESOURCE]
    .flatMap((fields): DeclaredField[] => Object.values(fields))
    .flatMap(({ record, isJson }) => (isJson ? [record] : [])),
  'attributes',
  'actions',
  'actionGroups',
  'settings',
  'jwks',
  'input',
  'conditions',
  'mappingRules',
])

/**
 * Ids in the key of a fact after its kind byte, in order. The scope is the instance, or the tenant if there
 * is none.
 */
const KEY_IDS = {
  assignment: ['userId', 'scopeId', 'roleId'],
  tuple: ['objectId', 'relationId', 'subjectId'],
} as const

/** Fields of a rule that are in its key. */
const RULE_IDS = ['userSideId', 'resourceSideId', 'actionId'] as const

type KeyField = 'kind' | (typeof KEY_IDS)[keyof typeof KEY_IDS][number] | (typeof RULE_IDS)[number]
type Unstored = {
  [Kind in RecordKind]: Exclude<keyof RecordOf<Kind>, KeyField | (typeof FIELDS)[Kind][number]>
}[RecordKind]
type Nothing<None extends never> = None
/** Compiles only if each field of a record is in the value or in the key of its row. */
export type UnstoredFields = Nothing<Unstored>

/** Kinds that are identified by the ids in their key. */
export type FactKind = keyof typeof KEY_IDS

/** Returns the offset of an id in the key of a fact. `id` is the name of this id. */
export function idInKey<Kind extends FactKind>(kind: Kind, id: (typeof KEY_IDS)[Kind][number]): number {
  const index = (KEY_IDS[kind] as readonly string[]).indexOf(id)
  assert(index >= 0, `the key of a ${kind} has no ${id}`)
  return 1 + index * UUID_BYTES
}

const KEY_IDS_OF_KIND: Partial<Record<RecordKind, readonly string[]>> = {
  ...KEY_IDS,
  rule: RULE_IDS,
}

const KIND_OF_BYTE = new Map<number, RecordKind>(
  Object.entries(KIND_BYTES).map(([kind, byte]) => [byte, kind as RecordKind]),
)
const packr = new Packr({ useRecords: false })

/** Stored form of the value of a field. */
type Form = 'as it is' | 'id' | 'ids' | 'json'

interface StoredField {
  readonly name: string
  readonly form: Form
}

function formOf(name: string): Form {
  if (ID_LIST_FIELDS.has(name)) return 'ids'
  if (JSON_FIELDS.has(name)) return 'json'
  return ID_FIELDS.has(name) ? 'id' : 'as it is'
}

/**
 * Fields of each kind with their forms. They are computed once, because rows are read and written thousands
 * of times per second.
 */
const FORMS = Object.fromEntries(
  Object.entries(FIELDS).map(([kind, names]) => [
    kind,
    names.map((name): StoredField => ({ name, form: formOf(name) })),
  ]),
) as unknown as Readonly<Record<RecordKind, readonly StoredField[]>>

const KEY_FIELDS: readonly string[] = FIELDS['api-key']

export function encodeRecord(record: StoredRecord): Uint8Array {
  const fields = record as unknown as Record<string, unknown>
  const values: unknown[] = []
  for (const { name, form } of FORMS[record.kind]) values.push(storedValue(form, fields[name]))
  if (omitsLastNull(record.kind) && (values.at(-1) ?? null) === null) values.length -= 1
  if (record.kind === 'api-key') hideLesserKey(values, KEY_FIELDS)
  return packr.pack(values)
}

/** Whether a row is one of so many that a null at its end is omitted. */
function omitsLastNull(kind: RecordKind): boolean {
  return kind in KEY_IDS || kind === 'audit'
}

function storedValue(form: Form, value: unknown): unknown {
  if (form === 'as it is') return value
  if (form === 'ids' && value === null) return null
  if (form === 'id') return typeof value === 'string' ? uuidToBytes(value) : value
  return form === 'json' ? JSON.stringify(value) : (value as readonly string[]).map(uuidToBytes)
}

/** Decodes a row. The key must be that of the record. */
export function decodeRecord(row: { readonly key: Uint8Array; readonly value: Uint8Array }): StoredRecord {
  const values = packr.unpack(row.value) as unknown[]
  const kind = KIND_OF_BYTE.get(row.key[0] ?? 0)
  assert(kind !== undefined, () => `a stored row has the unknown kind ${row.key[0]}`)
  if (kind === 'api-key') showLesserKey(values, KEY_FIELDS)
  const record: Record<string, unknown> = { kind }
  const fields = FORMS[kind]
  for (let index = 0; index < fields.length; index += 1) {
    const { name, form } = fields[index]!
    record[name] = readValue(form, values[index] ?? null)
  }
  KEY_IDS_OF_KIND[kind]?.forEach((name, index) => {
    if (name !== 'scopeId') record[name] = readUuid(row.key, 1 + index * UUID_BYTES)
  })
  return record as unknown as StoredRecord
}

function readValue(form: Form, value: unknown): unknown {
  if (form === 'as it is') return value
  if (form === 'id') return value === null ? null : readUuid(value as Uint8Array, 0)
  // Rows of older releases have fewer fields.
  if (form === 'ids' && value === null) return null
  // Most entities have no attributes.
  if (form === 'json') return value === '{}' ? {} : parsedJson(value as string)
  return (value as readonly Uint8Array[]).map(id => readUuid(id, 0))
}

/** A record in the form of its stored value: ids as bytes, and members that callers name as JSON text. */
export type StoredForm<Kind extends 'user' | 'instance'> = {
  readonly [Field in FieldsOf<Kind>[number]]: Field extends 'id' | 'typeId' | 'tenantId'
    ? Uint8Array
    : Field extends 'attributes'
      ? string
      : RecordOf<Kind>[Field]
}

/** Decodes the value of a row without creating texts and objects for fields that are only passed on. */
export function storedForm<Kind extends 'user' | 'instance'>(
  kind: Kind,
  value: Uint8Array,
): StoredForm<Kind> {
  const values = packr.unpack(value) as unknown[]
  const stored: Record<string, unknown> = {}
  const names: readonly string[] = FIELDS[kind]
  for (let index = 0; index < names.length; index += 1) stored[names[index]!] = values[index] ?? null
  return stored as StoredForm<Kind>
}

/** Bytes of msgpack: the head of a byte string, the length of an id, and nil. */
const [BYTES_8, UUID_LENGTH, NIL] = [0xc4, UUID_BYTES, 0xc0]
/** Number of bytes of a msgpack number after its first byte, by the first byte. */
const NUMBER_BYTES: Readonly<Record<number, number>> = {
  0xcb: 8,
  0xca: 4,
  0xcc: 1,
  0xcd: 2,
  0xce: 4,
  0xcf: 8,
}

/**
 * Returns the offset of the tenant's id in the value of a fact, after the fact's own id and its time, or null
 * if there is none.
 */
export function tenantIn(value: Uint8Array): number | null {
  const numberAt = ID_START + UUID_BYTES
  const first = value[numberAt] ?? NIL
  const size = first < 0x80 ? 0 : NUMBER_BYTES[first]
  if (value[1] !== BYTES_8 || value[2] !== UUID_LENGTH || size === undefined) return null
  const head = numberAt + 1 + size
  return value[head] === BYTES_8 && value[head + 1] === UUID_LENGTH ? head + 2 : null
}

/** Returns whether an assignment is on an instance, or null if the value is not in the usual form. */
export function hasInstance(value: Uint8Array, tenantAt: number): boolean | null {
  const head = value[tenantAt + UUID_BYTES]
  if (head === NIL) return false
  return head === BYTES_8 ? true : null
}

/** Fields of a fact in its value, except its own id. The key contains the other fields (`idInKey`). */
export interface FactFields {
  /** Milliseconds since 1970. */
  readonly createdAt: number
  /** Bytes that contain the id of the tenant, and the offset of that id. */
  readonly bytes: Uint8Array
  readonly tenantAt: number
  /** Whether the fact is an assignment on an instance; false for tuples. */
  readonly isOnInstance: boolean
  /** Expiration time of the fact; null if it does not expire. */
  readonly expiresAt: number | null
}

/** Returns the fields of a fact from the bytes of its row, or null if the value is not in the usual form. */
export function factFields({
  key,
  value,
}: {
  readonly key: Uint8Array
  readonly value: Uint8Array
}): FactFields | null {
  const tenantAt = tenantIn(value)
  const createdAt = numberIn(value, ID_START + UUID_BYTES)
  if (tenantAt === null || createdAt === null) return null
  const isOnInstance = key[0] === KIND_BYTES.assignment ? hasInstance(value, tenantAt) : false
  if (isOnInstance === null) return null
  return { createdAt, bytes: value, tenantAt, isOnInstance, expiresAt: expiresAtOf({ key, value }) }
}

/** Whether a fact expires. The first byte of its value shows this. */
export function hasExpiry(key: Uint8Array, value: Uint8Array): boolean {
  return value[0] !== (key[0] === KIND_BYTES.assignment ? LASTING_ASSIGNMENT : LASTING_TUPLE)
}

/** Returns the expiration time of a fact, from the bytes of its row, or null if it does not expire. */
export function expiresAtOf({
  key,
  value,
}: {
  readonly key: Uint8Array
  readonly value: Uint8Array
}): number | null {
  if (!hasExpiry(key, value)) return null
  return decodeAs(key[0] === KIND_BYTES.assignment ? 'assignment' : 'tuple', { key, value }).expiresAt
}

/** First byte of a msgpack array, to which its length is added. */
const ARRAY_HEAD = 0x90
const LASTING_ASSIGNMENT = ARRAY_HEAD + FIELDS.assignment.length - 1
const LASTING_TUPLE = ARRAY_HEAD + FIELDS.tuple.length - 1

/** Reads a time in the form that msgpack uses for times after 1970. Returns null for any other form. */
function numberIn(value: Uint8Array, at: number): number | null {
  if (value[at] !== FLOAT_64) return null
  for (let index = 0; index < 8; index += 1) FLOAT_BYTES[7 - index] = value[at + 1 + index]!
  return FLOAT[0]!
}

const FLOAT_64 = 0xcb
/** A number, and a view of its bytes with the low bytes first. */
const FLOAT = new Float64Array(1)
const FLOAT_BYTES = new Uint8Array(FLOAT.buffer)

/** End of the value of a user without a profile: nulls, and the text of empty attributes. */
const NO_PROFILE = Buffer.concat(
  Object.values(USER).map(({ record, absent }) => packr.pack(storedValue(formOf(record), absent))),
)

/** Whether the row of a user has no attributes, e-mail address or names. Avoids decoding the row. */
export function hasNoProfile(value: Uint8Array): boolean {
  // No other value has this end: if these bytes were the end of a text, the text would not be valid UTF-8.
  return NO_PROFILE.equals(value.subarray(value.length - NO_PROFILE.length))
}

/** Whether a row can be decoded. */
export function isReadable(row: { readonly key: Uint8Array; readonly value: Uint8Array }): boolean {
  try {
    decodeRecord(row)
    return true
  } catch {
    return false
  }
}

/** Decodes a row that must be of `kind`, because its key or list implies that. */
export function decodeAs<Kind extends RecordKind>(
  kind: Kind,
  row: { readonly key: Uint8Array; readonly value: Uint8Array },
): RecordOf<Kind> {
  const record = decodeRecord(row)
  assert(record.kind === kind, () => `expected a ${kind} record, found a ${record.kind} record`)
  return record as RecordOf<Kind>
}
