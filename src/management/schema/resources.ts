/**
 * Operations on resource types, with their actions, attributes, roles and relations (native.md B.4).
 */
import { updated } from '#entities/entity.ts'
import type { ReadContext, WriteContext } from '#management/drafts/context.ts'
import { FirstErrorByPrecedence } from '#management/operations/error-precedence.ts'
import { findType, requireType } from '#management/drafts/lookups.ts'
import {
  arrayOrEnvelope,
  matchesSearch,
  type Page,
  pageFrom,
  pageOfLists,
  windowOf,
} from '#management/paging/paging.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { attributeFilter } from '#management/paging/selection.ts'
import { BUILT_IN_TYPE_KEYS } from '#model/built-in-types.ts'
import { AuthzError } from '#model/errors.ts'
import { idFrom } from '#model/instance-reference.ts'
import type { RoleRecord, TypeRecord } from '#entities/records.ts'
import { isShortKey } from '#model/wire/references.ts'
import {
  type Resource,
  RESOURCE,
  type ResourceCreate,
  type ResourceReplace,
  type ResourcesQuery,
  type ResourceUpdate,
} from '#entities/resource.ts'
import type { RoleBlock } from '#entities/role.ts'
import { lists, rowKeyOf, rowKeys } from '#store/keyspace/keyspace.ts'
import { addRelation } from './relations.ts'
import { actionsOf, attributesOf } from './resource-parts.ts'
import { presentResource } from './resource-presenter.ts'
import { type ReplacedRole, replaceRole } from './roles.ts'
import { relationsOf, removeActions, removeRelations, removeRoles, removeType } from './schema-removals.ts'
import {
  addType,
  builtInType,
  checkAttributeNames,
  putType,
  requireAnyType,
  type TypeParams,
} from './types.ts'

export function* createResource(
  context: WriteContext,
  input: { readonly body: ResourceCreate },
): Resumable<Resource> {
  const { body } = input
  const taken = context.records.get('type', rowKeys.type(body.key))
  const type = yield* defineNamed(context, addType(context, body.key, body.name), wholeOf(body))
  // Missing entities and mismatches are reported before duplicates (native.md D-38).
  if (taken) {
    throw new AuthzError('DUPLICATE_ENTITY', `there is a resource ${JSON.stringify(body.key)} already`)
  }
  return presentResource(context, type)
}

/**
 * Creates a resource type, or replaces it so that it has only the content of the body. Parts with the same
 * key keep their ids.
 */
export function* replaceResource(
  context: WriteContext,
  input: { readonly params: TypeParams; readonly body: ResourceReplace },
): Resumable<Resource> {
  const { body } = input
  const type = findType(context.records, input.params.resource_id) ?? addNamed(context, input)
  return presentResource(context, yield* defineNamed(context, type, wholeOf(body)))
}

/**
 * Adds the resource type that is created under the key in the path. An unknown id in the path is an error,
 * because only the service assigns ids. A text without hyphens is not an id but a key.
 */
function addNamed(
  context: WriteContext,
  input: { readonly params: TypeParams; readonly body: ResourceReplace },
): TypeRecord {
  const key = input.params.resource_id
  if (idFrom(key) === key.toLowerCase()) {
    throw new AuthzError('NOT_FOUND', `there is no resource ${JSON.stringify(key)}`)
  }
  if (!isShortKey(key)) {
    const msg = 'to create a resource, must be 1 to 128 letters, digits, hyphens and underscores'
    throw new AuthzError('INVALID_SHAPE', `resource_id: ${msg}`, {
      detail: [{ loc: ['path', 'resource_id'], msg, type: 'pattern' }],
    })
  }
  return addType(context, key, input.body.name)
}

/**
 * Updates a resource type. Each field in the body replaces the whole old value. Null clears it, if no
 * dependents would be deleted.
 */
export function* updateResource(
  context: WriteContext,
  input: { readonly params: TypeParams; readonly body: ResourceUpdate },
): Resumable<Resource> {
  const type = requireType(context.records, input.params.resource_id)
  return presentResource(context, yield* defineNamed(context, type, input.body))
}

export function* deleteResource(
  context: WriteContext,
  input: { readonly params: TypeParams },
): Resumable<void> {
  yield* removeType(context, requireType(context.records, input.params.resource_id))
}

/** The body as an update that sets each omitted field to null, which clears it. */
function wholeOf(body: ResourceReplace): ResourceUpdate {
  return {
    name: body.name,
    urn: body.urn ?? null,
    description: body.description ?? null,
    actions: body.actions,
    type_attributes: body.type_attributes ?? null,
    attributes: body.attributes ?? null,
    roles: body.roles ?? {},
    relations: body.relations ?? {},
  }
}

/**
 * Defines a type from a request body. Unlike copies and imports, it must not declare attributes with built-in
 * names.
 */
function* defineNamed(
  context: WriteContext,
  type: TypeRecord,
  update: ResourceUpdate,
): Resumable<TypeRecord> {
  const defined = yield* defineType(context, type, update)
  checkAttributeNames(type, Object.keys(update.attributes ?? {}))
  return defined
}

/** Applies `update` to a type. Omitted fields stay unchanged. Returns the resulting type. */
export function* defineType(
  context: WriteContext,
  type: TypeRecord,
  update: ResourceUpdate,
): Resumable<TypeRecord> {
  const { actions } = update
  const gone = new Set(
    type.actions.flatMap(({ key }) => (actions && !Object.hasOwn(actions, key) ? [key] : [])),
  )
  // First removes actions, roles and relations with their dependents. Then adds parts that can reference the
  // remaining and the new ones.
  const remaining = yield* removeActions(context, type, gone)
  const defined: TypeRecord = {
    ...remaining,
    ...updated(RESOURCE, type, update),
    actions: actions === undefined ? type.actions : actionsOf(context, actions, remaining.actions),
    attributes:
      update.attributes === undefined
        ? type.attributes
        : attributesOf(context, update.attributes ?? {}, type.attributes),
    updatedAt: context.now,
  }
  putType(context, defined)
  if (update.roles !== undefined) yield* removeOtherRoles(context, defined, update.roles)
  if (update.relations !== undefined) yield* replaceRelations(context, defined, update.relations)
  if (update.roles !== undefined) yield* replaceRoles(context, defined, update.roles)
  yield
  return defined
}

function* removeOtherRoles(
  context: WriteContext,
  type: TypeRecord,
  blocks: Readonly<Record<string, RoleBlock>>,
): Resumable<void> {
  const { records } = context
  const others: RoleRecord[] = []
  yield* records.visit('role', lists.rolesOfType(type.id), role => {
    // Read through the draft, so that the commit requires it to exist.
    if (!Object.hasOwn(blocks, role.key)) others.push(records.get('role', rowKeyOf(role))!)
  })
  yield* removeRoles(context, others, type)
}

function* replaceRoles(
  context: WriteContext,
  type: TypeRecord,
  blocks: Readonly<Record<string, RoleBlock>>,
): Resumable<void> {
  // The first step can fail only with `NOT_FOUND`, which takes precedence over all errors of the second step.
  const replaced: ReplacedRole[] = []
  for (const [key, block] of Object.entries(blocks)) {
    replaced.push(replaceRole(context, type, key, block))
    yield
  }
  const winner = new FirstErrorByPrecedence<null>()
  for (const { complete } of replaced) {
    winner.attempt(null, complete)
    yield
  }
  if (winner.found) throw winner.found.error
}

/**
 * An unchanged relation keeps its id and its tuples. A relation with another subject type is a new relation.
 */
function* replaceRelations(
  context: WriteContext,
  type: TypeRecord,
  subjects: Readonly<Record<string, string>>,
): Resumable<void> {
  const { records } = context
  const wanted = new Map(
    Object.entries(subjects).map(([key, subject]) => [key, requireType(records, subject)] as const),
  )
  const existing = relationsOf(context, type)
  yield
  const kept = new Set(existing.filter(({ key, subjectTypeId }) => wanted.get(key)?.id === subjectTypeId))
  for (const { key } of kept) wanted.delete(key)
  yield* removeRelations(
    context,
    existing.filter(relation => !kept.has(relation)),
    type,
  )
  for (const [key, subjectType] of wanted) {
    yield
    addRelation(context, {
      objectType: type,
      subjectType,
      key,
      name: key,
      description: null,
      groupUse: null,
    })
  }
}

export function getResource(context: ReadContext, input: { readonly params: TypeParams }): Resource {
  return presentResource(context, requireAnyType(context, input.params.resource_id))
}

/**
 * Lists resource types in creation order. The built-in types are included only on request, before all others.
 */
export function* listResources(
  context: ReadContext,
  input: { readonly query: ResourcesQuery },
): Resumable<Page<Resource> | Resource[]> {
  const { search, attributes, include_built_in, include_total_count } = input.query
  const { offset, limit } = windowOf(input.query)
  const attributed = attributeFilter(attributes)
  const isFound = ({ key, name, typeAttributes }: TypeRecord): boolean =>
    (search === undefined || matchesSearch(search, [key, name])) &&
    (attributed?.matches({ attributes: typeAttributes }) ?? true)
  const builtIn = (include_built_in ? BUILT_IN_TYPE_KEYS : [])
    .map(key => builtInType(context, key))
    .filter(isFound)
  const first = builtIn.slice(offset, offset + limit)
  const own = yield* pageOfLists(context.records, {
    kind: 'type',
    lists: [lists.all('type')],
    paging: { offset: Math.max(0, offset - builtIn.length), per_page: limit - first.length },
    matches: search === undefined && attributed === null ? null : isFound,
    hasTotal: include_total_count === true,
    present: type => presentResource(context, type),
  })
  const data = [...first.map(type => presentResource(context, type)), ...own.data]
  return arrayOrEnvelope(pageFrom(data, builtIn.length + own.total_count, limit), include_total_count)
}

export const reads = { getResource, listResources }

export const writes = { createResource, deleteResource, replaceResource, updateResource }
