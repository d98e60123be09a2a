/**
 * Imports an exported schema into an environment, in one commit. If a part with the same key exists, the
 * import fails, or replaces the part as a PUT would: it keeps its id and its facts.
 */
import type { WriteContext } from '#management/drafts/context.ts'
import { findRole, requireType } from '#management/drafts/lookups.ts'
import type { Resumable } from '#scheduling/resumable.ts'
import { AuthzError } from '#model/errors.ts'
import type { DerivationRecord, RelationRecord, RoleRecord, TypeRecord } from '#entities/records.ts'
import type { RoleBlock } from '#entities/role.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'
import { putConditionSets, putRules } from './copied-sets.ts'
import { putProxyConfigs } from './copied-proxy-configs.ts'
import { defineType } from '#management/schema/resources.ts'
import { type ReplacedRole, replaceRole, updateRole } from '#management/schema/roles.ts'
import { type ExportedResource, type ExportedSchema, grantedToOf } from './schema-export.ts'
import { relationsOf } from '#management/schema/schema-removals.ts'
import { addType, builtInType, findBuiltInRow, putType } from '#management/schema/types.ts'

export interface SchemaImport {
  readonly schema: ExportedSchema
  /** How to handle parts that exist under the same key. */
  readonly conflictStrategy: 'fail' | 'overwrite'
}

/**
 * Throws `DUPLICATE_ENTITY` for the first conflict unless parts are overwritten, and `LIMIT_EXCEEDED` if the
 * import exceeds the limits of a commit. Throws `NOT_FOUND` if it references a part that neither it nor the
 * environment contains.
 */
export function* importSchema(context: WriteContext, input: SchemaImport): Resumable<void> {
  const { schema } = input
  if (input.conflictStrategy === 'fail') requireNoConflict(context, schema)
  // Resource types can reference each other, including in cycles. Therefore, the import first creates all
  // types, then all their roles, and then the derivations of the roles.
  for (const { key, body } of schema.resources) {
    const type = context.records.get('type', rowKeys.type(key)) ?? addType(context, key, body.name)
    yield* defineType(context, type, { actions: { ...actionsOf(type), ...body.actions } })
    yield
  }
  const existing = new Map<string, MadeByGroups>()
  for (const { key } of schema.resources) existing.set(key, yield* madeByGroups(context, key))
  for (const resource of schema.resources) {
    yield* defineResource(context, resource, existing.get(resource.key)!)
    yield
  }
  for (const { key, body } of schema.resources) {
    yield* deriveRoles(context, key, body.roles ?? {}, existing.get(key)!)
    yield
  }
  yield* putTenantRoles(context, schema)
  putBuiltInTypes(context, schema)
  yield* putConditionSets(context, schema.conditionSets)
  yield* putRules(context, schema.rules)
  yield* putProxyConfigs(context, schema.proxyConfigs)
}

function requireNoConflict(
  context: WriteContext,
  { resources, tenantRoles, builtInTypes, conditionSets, proxyConfigs }: ExportedSchema,
) {
  const { records } = context
  for (const { key } of resources) {
    if (records.get('type', rowKeys.type(key))) throw conflict('resource', key)
  }
  for (const [key] of tenantRoles) if (findRole(records, null, key)) throw conflict('role', key)
  for (const { key } of conditionSets) {
    if (records.get('condition-set', rowKeys.conditionSet(key))) throw conflict('condition set', key)
  }
  for (const { key } of proxyConfigs) {
    if (records.get('proxy-config', rowKeys.proxyConfig(key))) throw conflict('proxy config', key)
  }
  for (const { key: carrier, attributes } of builtInTypes) {
    const there = new Set(findBuiltInRow(records, carrier)?.attributes.map(({ key }) => key))
    for (const { key } of attributes) if (there.has(key)) throw conflict(`attribute of ${carrier}`, key)
  }
}

function conflict(what: string, key: string): AuthzError {
  const message = `the target already has the ${what} ${JSON.stringify(key)}: omit it, or overwrite`
  return new AuthzError('DUPLICATE_ENTITY', message)
}

/**
 * Relations and roles that the groups API created on a type that is overwritten. They stay, with their
 * grants.
 */
interface MadeByGroups {
  readonly relations: readonly RelationRecord[]
  readonly roles: ReadonlyMap<string, RoleRecord>
}

function* madeByGroups(context: WriteContext, typeKey: string): Resumable<MadeByGroups> {
  const type = requireType(context.records, typeKey)
  const relations = relationsOf(context, type).filter(({ groupUse }) => groupUse !== null)
  const roles = new Map<string, RoleRecord>()
  const { records } = context
  yield* records.visit('role', lists.rolesOfType(type.id), ({ key }) => {
    // Read through the draft, so that the commit requires it.
    const role = records.get('role', rowKeys.role(type.id, key))
    if (role !== null) roles.set(key, role)
  })
  return { relations, roles }
}

/** Defines a resource type, except for the derivations of its roles. */
function* defineResource(
  context: WriteContext,
  resource: ExportedResource,
  made: MadeByGroups,
): Resumable<void> {
  const { records } = context
  const { body, actionGroups } = resource
  const bare = Object.entries(body.roles ?? {}).map(([key, block]) => [key, { ...block, granted_to: null }])
  const kept = made.relations.map(({ key, subjectTypeId }) => [key, typeKeyOf(context, subjectTypeId)])
  const type = yield* defineType(context, requireType(records, resource.key), {
    ...body,
    relations: { ...body.relations, ...Object.fromEntries(kept) },
    roles: Object.fromEntries(bare) as Record<string, RoleBlock>,
  })
  putType(context, { ...type, actionGroups: actionGroupsOf(context, type, actionGroups) })
  const texts = new Map(resource.relationTexts.map(text => [text.key, text]))
  for (const relation of relationsOf(context, type)) {
    const text = texts.get(relation.key)
    // The engine does not use the name of a relation, so it receives no change.
    if (text) records.put({ ...relation, name: text.name, description: text.description })
  }
}

function* deriveRoles(
  context: WriteContext,
  typeKey: string,
  blocks: Readonly<Record<string, RoleBlock>>,
  made: MadeByGroups,
): Resumable<void> {
  const { records } = context
  const type = requireType(records, typeKey)
  const keptRelations = new Set(made.relations.map(({ key }) => key))
  // The import may have removed the `member` role of groups, which is the source of the derivation entries of
  // grants. Entries without a source are dropped.
  const isKept = ({ relation, onType, role }: DerivationRecord): boolean => {
    const source = records.get('type', rowKeys.type(onType))
    return keptRelations.has(relation) && source !== null && findRole(records, source, role) !== null
  }
  for (const [key, block] of Object.entries(blocks)) {
    const before = made.roles.get(key)
    const kept = before ? grantedToOf(before, isKept).users_with_role : []
    const entries = [...(block.granted_to?.users_with_role ?? []), ...kept]
    updateRole(context, type, findRole(records, type, key)!, {
      granted_to: { ...block.granted_to, users_with_role: entries },
    })
    yield
  }
}

function* putTenantRoles(context: WriteContext, { tenantRoles }: ExportedSchema): Resumable<void> {
  const begun: ReplacedRole[] = []
  for (const [key, block] of tenantRoles) {
    begun.push(replaceRole(context, null, key, block))
    yield
  }
  for (const { complete } of begun) {
    complete()
    yield
  }
}

function putBuiltInTypes(context: WriteContext, { builtInTypes }: ExportedSchema): void {
  for (const { key, attributes } of builtInTypes) {
    if (attributes.length === 0) continue
    const type = builtInType(context, key)
    putType(context, {
      ...type,
      attributes: merged(context, type.attributes, attributes),
      updatedAt: context.now,
    })
  }
}

function actionGroupsOf(
  context: WriteContext,
  type: TypeRecord,
  wanted: TypeRecord['actionGroups'],
): TypeRecord['actionGroups'] {
  const keys = new Set(wanted.map(({ key }) => key))
  return merged(
    context,
    type.actionGroups.filter(({ key }) => keys.has(key)),
    wanted,
  )
}

interface ImportedRecord {
  readonly id: string
  readonly key: string
  readonly createdAt: number
  readonly updatedAt: number
}

/**
 * The existing parts, replaced by wanted parts with the same key, followed by the new ones. Imported ids are
 * not used.
 */
function merged<Item extends ImportedRecord>(
  context: WriteContext,
  existing: readonly Item[],
  wanted: readonly Item[],
): Item[] {
  const left = new Map(wanted.map(part => [part.key, part]))
  const kept = existing.map(part => {
    const replacement = left.get(part.key)
    left.delete(part.key)
    return replacement
      ? { ...replacement, id: part.id, createdAt: part.createdAt, updatedAt: context.now }
      : part
  })
  const added = [...left.values()].map(part => ({
    ...part,
    id: context.newId(),
    createdAt: context.now,
    updatedAt: context.now,
  }))
  return [...kept, ...added]
}

function actionsOf(type: TypeRecord) {
  return Object.fromEntries(
    type.actions.map(({ key, name, description, attributes }) => [key, { name, description, attributes }]),
  )
}

function typeKeyOf(context: WriteContext, typeId: string): string | undefined {
  return context.records.byId('type', typeId)?.key
}

export const writes = { importSchema }
