/**
 * The schema of an environment, or the part of it that a copy asks for, as values that mean the same in any other: keys
 * in place of ids. What the groups API made for grants is left out; it belongs to the grants, which are facts.
 */
import type { ReadContext } from '#management/commands/context.ts'
import { matchesPattern } from '#management/commands/paging.ts'
import type { RecordReader } from '#management/commands/record-reader.ts'
import { type Resumable, YIELD_ROWS } from '#management/commands/resumable.ts'
import { type GroupUse, type RoleRecord, type TypeRecord, USER_TYPE_KEY } from '#model/records.ts'
import { runAtOnce } from '#model/resumable.ts'
import type { CopyFilter } from '#model/wire/environment.ts'
import type { ResourceReplace } from '#model/wire/resource.ts'
import type { DerivationBlock, RoleBlock } from '#model/wire/role.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { findUserType } from './types.ts'

export interface ExportedSchema {
  readonly resources: readonly ExportedResource[]
  readonly tenantRoles: readonly (readonly [key: string, role: RoleBlock])[]
  /** Null: they are not to be copied, or there are none. */
  readonly userAttributes: TypeRecord['attributes'] | null
}

export interface ExportedResource {
  readonly key: string
  readonly body: ResourceReplace
  /** Texts that a resource's body has no place for. */
  readonly relationTexts: readonly RelationText[]
  readonly actionGroups: TypeRecord['actionGroups']
}

export interface RelationText {
  readonly key: string
  readonly name: string
  readonly description: string | null
  /** The purpose for which the groups API made the relation. Present only where such relations are exported, too. */
  readonly groupUse: GroupUse | null
}

/** Which resources and tenant roles, by key. */
export interface SchemaScope {
  readonly resources?: CopyFilter | null | undefined
  readonly roles?: CopyFilter | null | undefined
}

/** How often a read starts again that others have changed meanwhile. After that it runs without a stop. */
const ATTEMPTS_MAX = 4

/** Reads one state. */
export function* exportSchema(
  { records }: ReadContext,
  input: { readonly scope: SchemaScope },
): Resumable<ExportedSchema> {
  for (let attempt = 1; attempt < ATTEMPTS_MAX; attempt += 1) {
    const { sequence } = records
    const schema = yield* readSchema(records, input.scope)
    if (records.sequence === sequence) return schema
  }
  return runAtOnce(readSchema(records, input.scope))
}

function* readSchema(records: RecordReader, scope: SchemaScope): Resumable<ExportedSchema> {
  const resources: ExportedResource[] = []
  for (const type of records.list('type', lists.all('type'))) {
    if (isWanted(scope.resources, type.key)) resources.push(resourceOf(records, type, false))
    yield
  }
  const tenantRoles: (readonly [string, RoleBlock])[] = []
  for (const role of records.list('role', lists.rolesOfType(null))) {
    if (isWanted(scope.roles, role.key)) tenantRoles.push([role.key, roleOf(role, new Set())])
    if (tenantRoles.length % YIELD_ROWS === 0) yield
  }
  const userType = isWanted(scope.resources, USER_TYPE_KEY) ? findUserType(records) : null
  return { resources, tenantRoles, userAttributes: userType?.attributes ?? null }
}

/** A resource; `isWhole`: with what the groups API made for grants. */
export function resourceOf(records: RecordReader, type: TypeRecord, isWhole: boolean): ExportedResource {
  const all = [...records.list('relation', lists.relationsOfType(type.id))]
  const made = new Set(isWhole ? [] : all.flatMap(({ key, groupUse }) => (groupUse ? [key] : [])))
  const relations = all.filter(({ key }) => !made.has(key))
  const roles = [...records.list('role', lists.rolesOfType(type.id))]
  return {
    key: type.key,
    body: {
      name: type.name,
      urn: type.urn,
      description: type.description,
      type_attributes: type.typeAttributes,
      actions: byKey(type.actions, ({ name, description, attributes }) => ({
        name,
        description,
        attributes,
      })),
      attributes: byKey(type.attributes, ({ type: kind, description }) => ({ type: kind, description })),
      relations: byKey(relations, ({ subjectTypeId }) => records.byId('type', subjectTypeId)?.key ?? ''),
      roles: byKey(roles, role => roleOf(role, made)),
    },
    relationTexts: relations.map(({ key, name, description, groupUse }) => ({
      key,
      name,
      description,
      groupUse,
    })),
    actionGroups: type.actionGroups,
  }
}

export function roleOf(role: RoleRecord, madeRelations: ReadonlySet<string>): RoleBlock {
  const { name, description, permissions, attributes } = role
  return {
    name,
    description,
    permissions: [...permissions],
    attributes,
    extends: [...role.extends],
    granted_to: grantedToOf(role, entry => !madeRelations.has(entry.relation)),
  }
}

/** The block as a body would have it, with those entries that are asked for. */
export function grantedToOf(
  { grantedTo }: RoleRecord,
  isAsked: (entry: RoleRecord['grantedTo']['entries'][number]) => boolean,
): DerivationBlock & { users_with_role: NonNullable<DerivationBlock['users_with_role']> } {
  return {
    when: { no_direct_roles_on_object: grantedTo.guarded },
    users_with_role: grantedTo.entries.filter(isAsked).map(({ role, onType, relation, guarded }) => ({
      role,
      on_resource: onType,
      linked_by_relation: relation,
      when: { no_direct_roles_on_object: guarded },
    })),
  }
}

function isWanted(filter: CopyFilter | null | undefined, key: string): boolean {
  if (!filter) return true
  const { include, exclude } = filter
  if (exclude?.some(pattern => matchesPattern(pattern, key))) return false
  return include ? include.some(pattern => matchesPattern(pattern, key)) : true
}

function byKey<Item extends { readonly key: string }, Value>(
  items: readonly Item[],
  valueOf: (item: Item) => Value,
): Record<string, Value> {
  return Object.fromEntries(items.map(item => [item.key, valueOf(item)]))
}

export const reads = { exportSchema }
