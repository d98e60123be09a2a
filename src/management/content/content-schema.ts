/**
 * Converts the schema lines of an import to records. All of them are defined together by the operation that
 * copies use, on an empty draft, so that the same rules apply.
 */
import { ACTION } from '#entities/action.ts'
import { ATTRIBUTE } from '#entities/attribute.ts'
import { recordFrom } from '#entities/entity.ts'
import { presentInstant } from '#management/drafts/context.ts'
import { Draft } from '#management/drafts/draft.ts'
import { YIELD_ROWS, type Resumable } from '#scheduling/resumable.ts'
import { checkStored } from '#management/schema/condition-sets/checked-conditions.ts'
import type { ExportedConditionSet } from '#management/schema/transfer/exported-sets.ts'
import { checkSchemaCeilings } from '#management/schema/schema-ceilings.ts'
import type { ExportedSchema } from '#management/schema/transfer/schema-export.ts'
import { importSchema } from '#management/schema/transfer/schema-import.ts'
import { checkSchemaSize } from '#management/schema/schema-size.ts'
import type { RelationRecord, RoleRecord, StoredRecord } from '#entities/records.ts'
import {
  CARRIER_OF,
  type CarrierKind,
  type ContentConditionSet,
  type ContentLine,
  type ContentProxyConfig,
  type ContentResource,
  type ContentRole,
  type ContentRule,
  RESOURCE_PARTS,
} from '#entities/environment-content.ts'
import { RELATION } from '#entities/relation.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import type { View } from '#store/view.ts'
import { invalid, repeated, unknown } from './content-errors.ts'

export type Line<Kind extends ContentLine['kind']> = Extract<ContentLine, { kind: Kind }>
type AttributesLine = Line<CarrierKind>

export interface ContentSchemaOptions {
  /** Milliseconds since 1970; for entities without a creation time. */
  readonly now: number
  readonly newId: () => string
  /** Maximum size of the attributes of one entity, in bytes of JSON. */
  readonly attributesBytesMax: number
}

/** Records in the order in which they must be created, and the ids by which facts refer to them. */
export interface DefinedSchema {
  readonly records: readonly StoredRecord[]
  /** Ids by key. For roles and relations of a resource type, the key is `type#key`. */
  readonly typeIds: ReadonlyMap<string, string>
  readonly roleIds: ReadonlyMap<string, string>
  readonly relations: ReadonlyMap<string, RelationRecord>
}

export class ContentSchema {
  readonly #options: ContentSchemaOptions
  readonly #resources: ContentResource[] = []
  readonly #roles: ContentRole[] = []
  readonly #conditionSets: ContentConditionSet[] = []
  readonly #rules: ContentRule[] = []
  readonly #proxyConfigs: ContentProxyConfig[] = []
  readonly #builtInTypes: AttributesLine[] = []

  constructor(options: ContentSchemaOptions) {
    this.#options = options
  }

  /** Adds a line of the schema; `define` processes it. */
  add(
    line: Line<
      'resource' | 'resource_part' | 'role' | 'condition_set' | 'rule' | 'proxy_config' | CarrierKind
    >,
  ): void {
    switch (line.kind) {
      case 'user_attributes':
      case 'tenant_attributes':
        this.#builtInTypes.push(line)
        return
      case 'resource':
        this.#resources.push(line)
        return
      case 'resource_part':
        this.#resources.push(withParts(this.#resources.pop(), line))
        return
      case 'role':
        this.#roles.push(line)
        return
      case 'condition_set':
        // Checked here, so that the error has the number of the line.
        checkStored(line.conditions, ['conditions'])
        this.#conditionSets.push(line)
        return
      case 'rule':
        this.#rules.push(line)
        return
      case 'proxy_config':
        this.#proxyConfigs.push(line)
    }
  }

  /**
   * Defines the whole schema after all its lines have been added. The work is done in slices, because a
   * schema can have a hundred thousand rules.
   */
  *define(): Resumable<DefinedSchema> {
    const { now, newId, attributesBytesMax } = this.#options
    requireUnique('resource', this.#resources)
    requireUnique('role', this.#roles)
    requireUnique('condition set', this.#conditionSets)
    requireUnique('proxy config', this.#proxyConfigs)
    const records = new Draft(NOTHING, attributesBytesMax)
    // No response is made, so the scope can be empty. The id of the environment is new, so the built-in types
    // get ids that no environment has.
    const scope = { organizationId: '', projectId: '', environmentId: newId(), createdAt: now }
    const schema = {
      ...schemaOf(this.#resources, this.#roles, this.#builtInTypes),
      conditionSets: this.#conditionSets.map(exportedSetOf),
      rules: this.#rules.map(({ kind: _kind, ...rule }) => rule),
      proxyConfigs: this.#proxyConfigs.map(config => this.#exportedProxyConfig(config)),
    }
    yield* importSchema({ records, scope, now, newId }, { schema, conflictStrategy: 'fail' })
    yield* checkSchemaCeilings({ records, newId })
    yield* checkSchemaSize({ records, newId })
    return yield* this.#defined(records)
  }

  *#defined(records: Draft): Resumable<DefinedSchema> {
    const defined: StoredRecord[] = [...records.list('type', lists.builtInTypes())]
    const typeIds = new Map<string, string>()
    const roleIds = new Map<string, string>()
    const relations = new Map<string, RelationRecord>()
    for (const type of records.list('type', lists.all('type'))) {
      typeIds.set(type.key, type.id)
      defined.push(type)
    }
    // Each list is read once, because a draft scans all records of a kind to find those of one resource type.
    const relationsOf = yield* byType(records.list('relation', lists.all('relation')))
    const rolesOf = yield* byType(records.list('role', lists.all('role')))
    for (const { key, relation_details } of this.#resources) {
      const typeId = typeIds.get(key)!
      for (const relation of relationsOf.get(typeId) ?? []) {
        const use = relation_details?.[relation.key]?.group_use ?? null
        const stored = { ...relation, groupUse: use }
        relations.set(`${key}#${relation.key}`, stored)
        defined.push(stored)
      }
      for (const role of rolesOf.get(typeId) ?? []) {
        roleIds.set(`${key}#${role.key}`, role.id)
        defined.push(role)
      }
      yield
    }
    for (const role of rolesOf.get(null) ?? []) {
      roleIds.set(role.key, role.id)
      defined.push(role)
    }
    for (const kind of ['condition-set', 'rule', 'proxy-config'] as const) {
      for (const record of records.list(kind, lists.all(kind))) {
        defined.push(record)
        if (defined.length % YIELD_ROWS === 0) yield
      }
    }
    return { records: defined, typeIds, roleIds, relations }
  }

  #exportedProxyConfig({ key, name, auth_mechanism, mapping_rules, ...line }: ContentProxyConfig) {
    const { createdAt, updatedAt } = timesOf(line, this.#options.now)
    return {
      key,
      name,
      auth_mechanism: auth_mechanism ?? 'Bearer',
      mapping_rules: mapping_rules ?? [],
      created_at: presentInstant(createdAt),
      updated_at: presentInstant(updatedAt),
    } as const
  }
}

/** Adds the parts of a `resource_part` line to the resource. */
function withParts(resource: ContentResource | undefined, line: Line<'resource_part'>): ContentResource {
  if (resource?.key !== line.resource) {
    throw invalid(`a "resource_part" must follow the line of its resource, ${JSON.stringify(line.resource)}`)
  }
  const whole = { ...resource }
  for (const name of RESOURCE_PARTS) {
    const [before, more] = [Object.entries(resource[name] ?? {}), Object.entries(line[name] ?? {})]
    const keys = new Set(before.map(([key]) => key))
    for (const [key] of more) if (keys.has(key)) throw repeated(name, key)
    if (more.length > 0) Object.assign(whole, { [name]: Object.fromEntries<unknown>([...before, ...more]) })
  }
  return whole
}

/** Groups records by the id of their resource type; null for those without one. */
function* byType<Part extends RelationRecord | RoleRecord>(
  records: Iterable<Part>,
): Resumable<Map<string | null, Part[]>> {
  const parts = new Map<string | null, Part[]>()
  let count = 0
  for (const part of records) {
    const ofType = parts.get(part.typeId)
    if (ofType === undefined) parts.set(part.typeId, [part])
    else ofType.push(part)
    if (++count % YIELD_ROWS === 0) yield
  }
  return parts
}

/** The creation and update times in the line, or `now`. */
export function timesOf(line: { readonly created_at?: string; readonly updated_at?: string }, now: number) {
  const createdAt = instantOf(line.created_at, now)
  return { createdAt, updatedAt: line.updated_at === undefined ? createdAt : Date.parse(line.updated_at) }
}

export function instantOf(text: string | undefined, now: number): number {
  return text === undefined ? now : Date.parse(text)
}

function schemaOf(
  resources: readonly ContentResource[],
  roles: readonly ContentRole[],
  builtInTypes: readonly AttributesLine[],
): Pick<ExportedSchema, 'resources' | 'tenantRoles' | 'builtInTypes'> {
  // Parts get their ids and times when they are written.
  const part = { id: '', createdAt: 0, updatedAt: 0 }
  return {
    resources: resources.map(({ kind: _kind, key, relation_details = {}, action_groups = {}, ...body }) => ({
      key,
      body,
      relationTexts: Object.entries(relation_details).map(([relation, details]) => ({
        key: relation,
        ...recordFrom(RELATION, details),
        groupUse: null,
      })),
      actionGroups: Object.entries(action_groups).map(([group, details]) => {
        requireActions(key, group, details.actions, body.actions)
        return { ...part, key: group, ...recordFrom(ACTION, details), actions: details.actions }
      }),
    })),
    tenantRoles: roles.map(({ kind: _kind, key, ...block }) => [key, block]),
    builtInTypes: builtInTypes.map(({ kind, attributes }) => ({
      key: CARRIER_OF[kind],
      attributes: Object.entries(attributes).map(([key, block]) => ({
        ...part,
        key,
        ...recordFrom(ATTRIBUTE, block),
      })),
    })),
  }
}

function exportedSetOf({ kind: _kind, ...set }: ContentConditionSet): ExportedConditionSet {
  const { description = null, resource = null, parent = null } = set
  return { ...set, description, resource, parent }
}

function requireActions(type: string, group: string, actions: readonly string[], there: object): void {
  const missing = actions.find(action => !Object.hasOwn(there, action))
  if (missing !== undefined) throw unknown('action', `${type}:${missing} in action group ${group}`)
}

function requireUnique(what: string, lines: readonly { readonly key: string }[]): void {
  const seen = new Set<string>()
  for (const { key } of lines) {
    if (seen.has(key)) throw repeated(what, key)
    seen.add(key)
  }
}

/** The view of an empty environment. */
const NOTHING: View = {
  get present() {
    return NOTHING
  },
  sequence: () => 0,
  get: () => undefined,
  places: () => [],
  scan: () => [],
  count: () => 0,
  batches: () => [],
  beginningWith: () => [],
  snapshot: () => ({ view: NOTHING, release: () => {} }),
}
