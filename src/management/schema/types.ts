/** Creates and writes the rows of resource types. The API operations are in `resources.ts`. */
import type { ReadContext, WriteContext } from '#management/drafts/context.ts'
import { findStoredType, notFound } from '#management/drafts/lookups.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'
import {
  BUILT_IN_TYPE_KEYS,
  type BuiltInTypeKey,
  builtInAttributesOf,
  builtInTypeId,
  isBuiltInTypeKey,
} from '#model/built-in-types.ts'
import { AuthzError } from '#model/errors.ts'
import { idFrom } from '#model/instance-reference.ts'
import { PARTS_PER_RESOURCE_MAX } from '#model/limits.ts'
import type { ActionRecord, AttributeRecord, TypeRecord } from '#entities/records.ts'
import { rowKeys } from '#store/keyspace/keyspace.ts'

export interface TypeParams {
  readonly resource_id: string
}

/**
 * Keys with this prefix are reserved: `/user-permissions` uses `__tenant:acme` in place of an instance
 * `type:key`.
 */
const RESERVED_PREFIX = '__'

/**
 * Adds an empty type. The caller has checked that the key is not in use. Throws `DUPLICATE_ENTITY` for the
 * key of a built-in type, and `INVALID_INPUT` for other reserved keys.
 */
export function addType(context: WriteContext, key: string, name: string): TypeRecord {
  if (isBuiltInTypeKey(key)) {
    throw new AuthzError('DUPLICATE_ENTITY', `resource ${JSON.stringify(key)} is built in`)
  }
  if (key.startsWith(RESERVED_PREFIX)) {
    throw new AuthzError(
      'INVALID_INPUT',
      `resource keys that begin with ${RESERVED_PREFIX} are reserved for built-in resources, got ${JSON.stringify(key)}`,
    )
  }
  const type = emptyType(key, name, { id: context.newId(), createdAt: context.now })
  putType(context, type)
  return type
}

function emptyType(
  key: string,
  name: string,
  { id, createdAt }: Pick<TypeRecord, 'id' | 'createdAt'>,
): TypeRecord {
  return {
    kind: 'type',
    id,
    key,
    name,
    urn: null,
    description: null,
    actions: [],
    attributes: [],
    typeAttributes: null,
    actionGroups: [],
    createdAt,
    updatedAt: createdAt,
  }
}

/** Writes a type and notifies the engine. */
export function putType(context: WriteContext, type: TypeRecord): void {
  if (isBuiltInTypeKey(type.key)) {
    context.records.put(type)
    return
  }
  context.records.put(type, {
    kind: 'type-put',
    type: type.key,
    actions: type.actions.map(action => action.key),
  })
}

/** The row of a built-in type. Null before it has attributes. */
export function findBuiltInRow(records: RecordReader, key: BuiltInTypeKey): TypeRecord | null {
  return records.get('type', rowKeys.type(key))
}

/** The row of a built-in type, or the initial content of that row. */
export function builtInType({ records, scope }: ReadContext, key: BuiltInTypeKey): TypeRecord {
  const id = builtInTypeId(scope.environmentId, key)
  return findBuiltInRow(records, key) ?? emptyType(key, key, { id, createdAt: scope.createdAt })
}

/** A type, built in or not. Throws `NOT_FOUND`. */
export function requireAnyType(context: ReadContext, reference: string): TypeRecord {
  const stored = findStoredType(context.records, reference)
  if (stored) return stored
  const { environmentId } = context.scope
  const isNamed = (key: BuiltInTypeKey): boolean =>
    key === reference || builtInTypeId(environmentId, key) === idFrom(reference)
  const builtIn = BUILT_IN_TYPE_KEYS.find(isNamed)
  if (builtIn === undefined) throw notFound('resource', reference)
  return builtInType(context, builtIn)
}

/** The parts of a type that are found by key or id. */
type TypePart = ActionRecord | AttributeRecord | TypeRecord['actionGroups'][number]

/**
 * The part with that key; if there is none, the one with that id (native.md B.1). Throws `NOT_FOUND` with the
 * reference.
 */
export function requirePart<Found extends TypePart>(
  parts: readonly Found[],
  reference: string,
  where: { readonly what: string; readonly type: TypeRecord },
): Found {
  const found = parts.find(({ key }) => key === reference) ?? parts.find(({ id }) => id === idFrom(reference))
  if (found) return found
  throw new AuthzError(
    'NOT_FOUND',
    `there is no ${where.what} ${JSON.stringify(reference)} on resource ${JSON.stringify(where.type.key)}`,
  )
}

/**
 * Throws `DUPLICATE_ENTITY` if the key is in use, `LIMIT_EXCEEDED` if there are as many parts as a body can
 * contain.
 */
export function checkPartIsNew(
  parts: readonly TypePart[],
  key: string,
  where: { readonly what: string; readonly type: TypeRecord },
): void {
  const name = `resource ${JSON.stringify(where.type.key)}`
  if (parts.some(part => part.key === key)) {
    throw new AuthzError('DUPLICATE_ENTITY', `${name} already has the ${where.what} ${JSON.stringify(key)}`)
  }
  if (parts.length < PARTS_PER_RESOURCE_MAX) return
  throw new AuthzError('LIMIT_EXCEEDED', `${name} has ${parts.length} ${where.what}s, which is the maximum`)
}

/**
 * Throws `DUPLICATE_ENTITY` for a new attribute with a built-in name. Attributes with such a name that an
 * earlier release accepted stay.
 */
export function checkAttributeNames(
  type: { readonly key: string; readonly attributes: readonly AttributeRecord[] },
  keys: readonly string[],
): void {
  const builtIn = builtInAttributesOf(type.key)
  const taken = keys.find(
    key => builtIn.includes(key) && !type.attributes.some(attribute => attribute.key === key),
  )
  if (taken === undefined) return
  const name = `resource ${JSON.stringify(type.key)}`
  throw new AuthzError('DUPLICATE_ENTITY', `attribute ${JSON.stringify(taken)} of ${name} is built in`)
}

/** The parts, with one of them replaced at the same index. */
export function withPart<Changed extends TypePart>(parts: readonly Changed[], changed: Changed): Changed[] {
  return parts.map(part => (part.id === changed.id ? changed : part))
}
