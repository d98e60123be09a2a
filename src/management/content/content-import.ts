/**
 * Lines of text (`model/wire/environment-content.ts`) as the rows of a new environment. Everything is checked on the way: the
 * form of each line, that what it names was told before, and what the schema's own rules say. Nothing is written here.
 *
 * The schema goes through the operation that copies use, on a draft over nothing, so that its rules are the same ones.
 * O(1) a line, with a table from key to id of every user and instance while it runs. What it and whoever takes its rows keep is
 * counted, and has a ceiling.
 */
import { presentInstant } from '#management/commands/context.ts'
import { checkAttributes } from '#management/commands/attribute-ceilings.ts'
import { Draft } from '#management/commands/draft.ts'
import { endIn } from '#management/commands/fact-ends.ts'
import { checkSchemaCeilings } from '#management/schema/schema-ceilings.ts'
import { checkReadable } from '#management/schema/condition-sets/checked-conditions.ts'
import type { ExportedConditionSet } from '#management/schema/condition-sets/exported-sets.ts'
import type { ExportedSchema } from '#management/schema/schema-export.ts'
import { importSchema } from '#management/schema/schema-import.ts'
import { checkSchemaSize } from '#management/schema/schema-size.ts'
import { AuthzError } from '#model/errors.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'
import { parsedJson } from '#model/json-numbers.ts'
import { hasNumberTooLarge, hasUnpairedSurrogate, isDeeperThan } from '#model/json-text.ts'
import { CONTENT_DEPTH_MAX } from '#model/limits.ts'
import type { RelationRecord, StoredRecord } from '#model/records.ts'
import { runAtOnce } from '#model/resumable.ts'
import {
  CARRIER_OF,
  type CarrierKind,
  type ContentConditionSet,
  type ContentKind,
  type ContentLine,
  type ContentProxyConfig,
  type ContentResource,
  type ContentRole,
  type ContentRule,
} from '#model/wire/environment-content.ts'
import { lists, rowKeyOf } from '#store/keyspace/keyspace.ts'
import { encodeRecord } from '#store/keyspace/record-codec.ts'
import type { RowPut } from '#store/ledger.ts'
import type { View } from '#store/view.ts'
import type { NumberedLine } from './content-lines.ts'

export interface ContentImportOptions {
  /** Throws `INVALID_SHAPE` unless the line has the form of its kind. */
  readonly check: (kind: ContentKind, line: unknown) => void
  readonly isKind: (kind: unknown) => kind is ContentKind
  /** Milliseconds since 1970; for things that do not say when they were made. */
  readonly now: number
  readonly newId: () => string
  /** Bytes of JSON that the attributes of one thing may have. */
  readonly attributesBytesMax: number
  /** Bytes of what is kept in memory while it runs: rows, and the names that lines to come may use. */
  readonly heldBytesMax: number
}

export type ContentCounts = Partial<Record<ContentKind, number>>

interface KnownInstance {
  readonly id: string
  readonly type: string
  readonly tenantId: string
}

type Line<Kind extends ContentKind> = Extract<ContentLine, { kind: Kind }>
type AttributesLine = Line<CarrierKind>

/** The sections of a file, in order; kinds of one section come in any. */
const SECTION: Readonly<Record<ContentKind, number>> = {
  environment: 0,
  user_attributes: 1,
  tenant_attributes: 2,
  resource: 3,
  role: 4,
  condition_set: 5,
  rule: 6,
  proxy_config: 7,
  tenant: 8,
  user: 9,
  instance: 9,
  assignment: 10,
  tuple: 10,
  end: 11,
}
const FIRST_OF_FACTS = SECTION.tenant
/** Bytes of an entry in a table of names, about, besides the name itself. */
const NAME_BYTES = 300
/** Bytes of the objects that a line of the schema becomes, about, for each of its characters. */
const SCHEMA_BYTES_FACTOR = 8
const NO_RESOURCES: readonly ContentResource[] = []

export class ContentImport {
  readonly counts: ContentCounts = {}
  readonly #options: ContentImportOptions
  /** The number of the last line in the file, and how many lines there were without blank ones. */
  #line = 0
  #count = 0
  #heldBytes = 0
  #section = -1
  #resources = [...NO_RESOURCES]
  #roles: ContentRole[] = []
  readonly #conditionSets: ContentConditionSet[] = []
  readonly #rules: ContentRule[] = []
  readonly #proxyConfigs: ContentProxyConfig[] = []
  readonly #builtInTypes: AttributesLine[] = []
  #hasSchema = false
  /** By key; a resource's role by `type#key`. */
  readonly #roleIds = new Map<string, string>()
  readonly #relations = new Map<string, RelationRecord>()
  readonly #typeIds = new Map<string, string>()
  readonly #tenantIds = new Map<string, string>()
  readonly #userIds = new Map<string, string>()
  readonly #instances = new Map<string, KnownInstance>()

  constructor(options: ContentImportOptions) {
    this.#options = options
  }

  /** Whether the last line has come, and the file is whole. */
  get isWhole(): boolean {
    return this.#section === SECTION.end
  }

  /** The number of the last line. */
  get line(): number {
    return this.#line
  }

  /**
   * The rows that a line stands for, in the order in which they are to be created. Throws `INVALID_INPUT` or
   * `LIMIT_EXCEEDED`, naming the line.
   */
  take({ number, text }: NumberedLine): RowPut[] {
    this.#line = number
    this.#count += 1
    try {
      const rows = this.#take(valueOf(text)).map(rowOf)
      this.#hold(rows, text)
      return rows
    } catch (error) {
      if (!(error instanceof AuthzError) && !(error instanceof SyntaxError)) throw error
      const message = `line ${this.#line}: ${error.message}`
      if (!(error instanceof AuthzError) || error.code !== 'LIMIT_EXCEEDED')
        throw new AuthzError('INVALID_INPUT', message)
      throw new AuthzError('LIMIT_EXCEEDED', message, error.limit === null ? {} : { limit: error.limit })
    }
  }

  /** Throws `LIMIT_EXCEEDED` when more is kept than may be. */
  #hold(rows: readonly RowPut[], text: string): void {
    const isOfSchema = this.#section < FIRST_OF_FACTS
    const isNamed = this.#section === SECTION.tenant || this.#section === SECTION.user
    this.#heldBytes += isOfSchema ? SCHEMA_BYTES_FACTOR * text.length : isNamed ? NAME_BYTES : 0
    for (const { key, value } of rows) this.#heldBytes += key.length + value.length
    const { heldBytesMax } = this.#options
    if (this.#heldBytes <= heldBytesMax) return
    const message = `an import may keep ${heldBytesMax} bytes in memory (MAX_IMPORT_BYTES), and this one would keep more`
    throw new AuthzError('LIMIT_EXCEEDED', message, { limit: 'content' })
  }

  #take(value: unknown): StoredRecord[] {
    const kind = (value as { readonly kind?: unknown } | null)?.kind
    if (!this.#options.isKind(kind))
      throw invalid(`expected a "kind" among ${Object.keys(SECTION).join(', ')}`)
    this.#options.check(kind, value)
    this.#enter(kind)
    const line = value as ContentLine
    const records: StoredRecord[] = []
    if (SECTION[kind] >= FIRST_OF_FACTS && !this.#hasSchema) records.push(...this.#defineSchema())
    const record = this.#recordOf(line)
    if (record) {
      checkAttributes(record, null, this.#options.attributesBytesMax)
      records.push(record)
    }
    this.counts[kind] = (this.counts[kind] ?? 0) + 1
    return records
  }

  #enter(kind: ContentKind): void {
    const section = SECTION[kind]
    if (this.#section === -1 && kind !== 'environment') {
      throw invalid('expected {"kind":"environment","format":1} first')
    }
    const isRepeatable = section >= SECTION.resource && section < SECTION.end
    if (section < this.#section || (section === this.#section && !isRepeatable)) {
      throw invalid(`a line of kind ${JSON.stringify(kind)} comes too late`)
    }
    this.#section = section
  }

  #recordOf(line: ContentLine): StoredRecord | null {
    switch (line.kind) {
      case 'environment':
        return null
      case 'user_attributes':
      case 'tenant_attributes':
        this.#builtInTypes.push(line)
        return null
      case 'resource':
        this.#resources.push(line)
        return null
      case 'role':
        this.#roles.push(line)
        return null
      case 'condition_set':
        // Here, so that a refusal names the line.
        checkReadable(line.conditions, ['conditions'])
        this.#conditionSets.push(line)
        return null
      case 'rule':
        this.#rules.push(line)
        return null
      case 'proxy_config':
        this.#proxyConfigs.push(line)
        return null
      case 'tenant':
        return this.#tenant(line)
      case 'user':
        return this.#user(line)
      case 'instance':
        return this.#instance(line)
      case 'assignment':
        return this.#assignment(line)
      case 'tuple':
        return this.#tuple(line)
      case 'end':
        if (line.lines === this.#count - 1) return null
        throw invalid(`${line.lines} lines should come before this one, ${this.#count - 1} did`)
    }
  }

  /** Defines the whole schema once all of its lines have come. */
  #defineSchema(): StoredRecord[] {
    this.#hasSchema = true
    const { now, newId, attributesBytesMax } = this.#options
    requireUnique('resource', this.#resources)
    requireUnique('role', this.#roles)
    requireUnique('condition set', this.#conditionSets)
    requireUnique('proxy config', this.#proxyConfigs)
    const records = new Draft(NOTHING, attributesBytesMax)
    // Nothing is presented. The built-in resources get ids of their own, which are not those of any environment.
    const scope = { organizationId: '', projectId: '', environmentId: newId(), createdAt: now }
    const schema = {
      ...schemaOf(this.#resources, this.#roles, this.#builtInTypes),
      conditionSets: this.#conditionSets.map(exportedSetOf),
      rules: this.#rules.map(({ kind: _kind, ...rule }) => rule),
      proxyConfigs: this.#proxyConfigs.map(config => this.#exportedProxyConfig(config)),
    }
    runAtOnce(importSchema({ records, scope, now, newId }, { schema, conflictStrategy: 'fail' }))
    runAtOnce(checkSchemaCeilings({ records, newId }))
    runAtOnce(checkSchemaSize({ records, newId }))
    const defined: StoredRecord[] = [...records.list('type', lists.builtInTypes())]
    for (const type of records.list('type', lists.all('type'))) {
      this.#typeIds.set(type.key, type.id)
      defined.push(type)
    }
    for (const { key, relation_details } of this.#resources) {
      const typeId = this.#typeIds.get(key)!
      for (const relation of records.list('relation', lists.relationsOfType(typeId))) {
        const use = relation_details?.[relation.key]?.group_use ?? null
        const stored = { ...relation, groupUse: use }
        this.#relations.set(`${key}#${relation.key}`, stored)
        defined.push(stored)
      }
      for (const role of records.list('role', lists.rolesOfType(typeId))) {
        this.#roleIds.set(`${key}#${role.key}`, role.id)
        defined.push(role)
      }
    }
    for (const role of records.list('role', lists.rolesOfType(null))) {
      this.#roleIds.set(role.key, role.id)
      defined.push(role)
    }
    defined.push(...records.list('condition-set', lists.all('condition-set')))
    // One by one: as arguments they could be too many.
    for (const rule of records.list('rule', lists.all('rule'))) defined.push(rule)
    defined.push(...records.list('proxy-config', lists.all('proxy-config')))
    return defined
  }

  #exportedProxyConfig({ key, name, auth_mechanism, mapping_rules, ...line }: ContentProxyConfig) {
    const { createdAt, updatedAt } = this.#times(line)
    return {
      key,
      name,
      auth_mechanism: auth_mechanism ?? 'Bearer',
      mapping_rules: mapping_rules ?? [],
      created_at: presentInstant(createdAt),
      updated_at: presentInstant(updatedAt),
    } as const
  }

  #tenant(line: Line<'tenant'>): StoredRecord {
    const id = this.#fresh(this.#tenantIds, 'tenant', line.key)
    const { key, name, description = null, attributes = null } = line
    return { kind: 'tenant', id, key, name, description, attributes, ...this.#times(line) }
  }

  #user(line: Line<'user'>): StoredRecord {
    const id = this.#fresh(this.#userIds, 'user', line.key)
    const { key, email = null, first_name = null, last_name = null, attributes = {} } = line
    const names = { firstName: first_name, lastName: last_name }
    return { kind: 'user', id, key, email, ...names, attributes, ...this.#times(line) }
  }

  #instance(line: Line<'instance'>): StoredRecord {
    const { resource: type, key, attributes = {}, is_group: isGroup = false } = line
    const typeId = known(this.#typeIds, 'resource', type)
    const tenantId = known(this.#tenantIds, 'tenant', line.tenant)
    const name = `${type}:${key}`
    if (this.#instances.has(name)) throw repeated('instance', name)
    const id = this.#options.newId()
    this.#instances.set(name, { id, type, tenantId })
    return { kind: 'instance', id, typeId, key, tenantId, attributes, isGroup, ...this.#times(line) }
  }

  #assignment(line: Line<'assignment'>): StoredRecord {
    const userId = known(this.#userIds, 'user', line.user)
    const id = this.#options.newId()
    const life = this.#lifeOf(line)
    const tenantId = line.tenant === undefined ? null : known(this.#tenantIds, 'tenant', line.tenant)
    if (line.resource_instance === undefined) {
      if (tenantId === null) throw invalid('a role is held in a tenant or on an instance; say which')
      const roleId = known(this.#roleIds, 'role', line.role)
      return {
        kind: 'assignment',
        id,
        userId,
        roleId,
        tenantId,
        instanceId: null,
        ...life,
      }
    }
    const instance = this.#instanceNamed(line.resource_instance)
    const roleId = known(this.#roleIds, 'role', `${instance.type}#${line.role}`)
    if (tenantId !== null && tenantId !== instance.tenantId) {
      throw invalid(`${line.resource_instance} does not live in tenant ${line.tenant}`)
    }
    return {
      kind: 'assignment',
      id,
      userId,
      roleId,
      tenantId: instance.tenantId,
      instanceId: instance.id,
      ...life,
    }
  }

  #tuple(line: Line<'tuple'>): StoredRecord {
    const subject = this.#instanceNamed(line.subject)
    const object = this.#instanceNamed(line.object)
    const relation = this.#relations.get(`${object.type}#${line.relation}`)
    if (!relation) throw unknown('relation', `${object.type}#${line.relation}`)
    if (relation.subjectTypeId !== this.#typeIds.get(subject.type)) {
      throw invalid(`relation ${line.relation} of ${object.type} does not come from ${subject.type}`)
    }
    if (subject.tenantId !== object.tenantId)
      throw invalid(`${line.subject} and ${line.object} live in different tenants`)
    return {
      kind: 'tuple',
      id: this.#options.newId(),
      subjectId: subject.id,
      relationId: relation.id,
      objectId: object.id,
      tenantId: object.tenantId,
      ...this.#lifeOf(line),
    }
  }

  #instanceNamed(name: string): KnownInstance {
    const instance = this.#instances.get(name)
    if (instance) return instance
    if (parseInstanceReference(name) === null)
      throw invalid(`${JSON.stringify(name)} is no instance: type:key`)
    throw unknown('instance', name)
  }

  #fresh(ids: Map<string, string>, what: string, key: string): string {
    if (ids.has(key)) throw repeated(what, key)
    const id = this.#options.newId()
    ids.set(key, id)
    return id
  }

  /** Of a fact. An end that is past is taken as it is: what has ended is removed by whoever removes it in any environment. */
  #lifeOf(line: Line<'assignment' | 'tuple'>) {
    return { createdAt: this.#instant(line.created_at), expiresAt: endIn(line) }
  }

  #times(line: { readonly created_at?: string; readonly updated_at?: string }) {
    const createdAt = this.#instant(line.created_at)
    return { createdAt, updatedAt: line.updated_at === undefined ? createdAt : Date.parse(line.updated_at) }
  }

  #instant(text: string | undefined): number {
    return text === undefined ? this.#options.now : Date.parse(text)
  }
}

/** Parses under the rules for bodies: what is kept can be walked, and is shown as it came. */
function valueOf(text: string): unknown {
  if (isDeeperThan(text, CONTENT_DEPTH_MAX))
    throw invalid(`must not nest deeper than ${CONTENT_DEPTH_MAX} levels`)
  const value = parsedJson(text)
  if (hasUnpairedSurrogate(text)) throw invalid('must not contain unpaired surrogates')
  if (hasNumberTooLarge(value, text)) throw invalid('must not contain numbers beyond 1.8e308')
  return value
}

const rowOf = (record: StoredRecord): RowPut => ({ key: rowKeyOf(record), value: encodeRecord(record) })

function schemaOf(
  resources: readonly ContentResource[],
  roles: readonly ContentRole[],
  builtInTypes: readonly AttributesLine[],
): Pick<ExportedSchema, 'resources' | 'tenantRoles' | 'builtInTypes'> {
  // Parts get their ids and times where they are put.
  const part = { id: '', createdAt: 0, updatedAt: 0 }
  return {
    resources: resources.map(({ kind: _kind, key, relation_details = {}, action_groups = {}, ...body }) => ({
      key,
      body,
      relationTexts: Object.entries(relation_details).map(([relation, { name, description = null }]) => ({
        key: relation,
        name,
        description,
        groupUse: null,
      })),
      actionGroups: Object.entries(action_groups).map(([group, details]) => {
        requireActions(key, group, details.actions, body.actions)
        const { name, description = null, attributes = null, actions } = details
        return { ...part, key: group, name, description, attributes, actions }
      }),
    })),
    tenantRoles: roles.map(({ kind: _kind, key, ...block }) => [key, block]),
    builtInTypes: builtInTypes.map(({ kind, attributes }) => ({
      key: CARRIER_OF[kind],
      attributes: Object.entries(attributes).map(([key, { type, description = null }]) => ({
        ...part,
        key,
        type,
        description,
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

function known(ids: ReadonlyMap<string, string>, what: string, key: string): string {
  const id = ids.get(key)
  if (id === undefined) throw unknown(what, key)
  return id
}

function unknown(what: string, name: string): AuthzError {
  return invalid(`no line before this one tells of ${what} ${JSON.stringify(name)}`)
}

function repeated(what: string, name: string): AuthzError {
  return invalid(`${what} ${JSON.stringify(name)} comes twice`)
}

function invalid(message: string): AuthzError {
  return new AuthzError('INVALID_INPUT', message)
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
