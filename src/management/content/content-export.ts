/**
 * Exports the content of an environment as lines of text (`entities/environment-content.ts`), from
 * one state. Facts are in creation order, so that an import creates the same lists. Rows that wait for their
 * purge are omitted.
 *
 * It reads the rows twice and keeps a table from id to key of every user and instance: O(rows).
 */
import { ACTION } from '#entities/action.ts'
import { ATTRIBUTE } from '#entities/attribute.ts'
import { lineWriter, presented } from '#entities/entity.ts'
import { presentInstant } from '#management/drafts/context.ts'
import { type DeadIds, isDead, pendingDeadIds } from '#store/keyspace/dead-ids.ts'
import { RecordReader } from '#management/drafts/record-reader.ts'
import { exportedRules, exportedSets } from '#management/schema/transfer/exported-sets.ts'
import { exportedProxyConfigs } from '#management/schema/transfer/copied-proxy-configs.ts'
import { type ExportedResource, resourceOf, roleOf } from '#management/schema/transfer/schema-export.ts'
import { CONTENT_LINE_BYTES_MAX } from '#model/limits.ts'
import type { RecordOf, TenantRecord } from '#entities/records.ts'
import {
  CARRIER_KINDS,
  CARRIER_OF,
  CONTENT_FORMAT,
  type ContentLine,
  type ContentResource,
  RESOURCE_PARTS,
} from '#entities/environment-content.ts'
import { INSTANCE } from '#entities/resource-instance.ts'
import { TENANT } from '#entities/tenant.ts'
import { USER } from '#entities/user.ts'
import { IdTable } from '#replica/id-table.ts'
import { idBytes, lists } from '#store/keyspace/keyspace.ts'
import {
  decodeRecord,
  type FactFields,
  factFields,
  type FactKind,
  idInKey,
  KIND_BYTES,
  storedForm,
} from '#store/keyspace/record-codec.ts'
import type { Row } from '#store/ledger.ts'
import type { View } from '#store/view.ts'

/**
 * Maximum size of a resource's line. Beyond it, its parts get separate lines. One part alone never makes a
 * line too long for an import.
 */
const LINE_BYTES = CONTENT_LINE_BYTES_MAX / 4

/** The lines, each with its line end. The view must not change during the iteration. */
export function* exportedLines(view: View): Iterable<string> {
  let lines = 0
  const content = new ContentOf(view)
  for (const line of content.beforeFacts()) {
    lines += 1
    yield `${JSON.stringify(line)}\n`
  }
  for (const line of content.facts()) {
    lines += 1
    yield line
  }
  yield `${JSON.stringify({ kind: 'end', lines } satisfies ContentLine)}\n`
}

/**
 * There can be millions of facts. Their lines are assembled from the bytes of rows and the texts of names.
 * Creating an object for each record and each line would take three times as long.
 */
class ContentOf {
  readonly #view: View
  readonly #records: RecordReader
  readonly #dead: DeadIds
  // Names by id, each as JSON text.
  readonly #types = new IdTable<string>()
  readonly #roles = new IdTable<string>()
  readonly #relations = new IdTable<string>()
  readonly #tenants = new IdTable<string>()
  readonly #users = new IdTable<string>()
  /** Names of the instances: `type:key`. */
  readonly #instances = new IdTable<string>()
  #lastInstant = Number.NaN
  #lastInstantText = ''

  constructor(view: View) {
    this.#view = view
    this.#records = new RecordReader(view)
    this.#dead = pendingDeadIds(view)
  }

  *beforeFacts(): Iterable<ContentLine> {
    yield { kind: 'environment', format: CONTENT_FORMAT }
    yield* this.#schema()
    for (const tenant of this.#records.list('tenant', lists.all('tenant'))) {
      this.#tenants.set(idBytes(tenant.id), 0, JSON.stringify(tenant.key))
      yield tenantLine(tenant)
    }
  }

  /** Lines with their line ends. Must be read after `beforeFacts`. */
  *facts(): Iterable<string> {
    // Users and instances precede the facts that name them, regardless of the order in which they were
    // created.
    for (const row of this.#living('user', 'instance')) {
      const line = row.key[0] === KIND_BYTES.user ? this.#userLine(row) : this.#instanceLine(row)
      if (line !== null) yield line
    }
    for (const row of this.#living('assignment', 'tuple')) {
      const line = row.key[0] === KIND_BYTES.assignment ? this.#assignmentLine(row) : this.#tupleLine(row)
      if (line !== null) yield line
    }
  }

  *#schema(): Iterable<ContentLine> {
    const builtIn = [...this.#records.list('type', lists.builtInTypes())]
    for (const kind of CARRIER_KINDS) {
      const attributes = builtIn.find(({ key }) => key === CARRIER_OF[kind])?.attributes ?? []
      if (attributes.length === 0) continue
      const blocks = attributes.map(attribute => [attribute.key, presented(ATTRIBUTE, attribute)])
      yield { kind, attributes: Object.fromEntries(blocks) }
    }
    for (const type of this.#records.list('type', lists.all('type'))) {
      this.#types.set(idBytes(type.id), 0, JSON.stringify(type.key))
      for (const relation of this.#records.list('relation', lists.relationsOfType(type.id))) {
        this.#relations.set(idBytes(relation.id), 0, JSON.stringify(relation.key))
      }
      for (const role of this.#records.list('role', lists.rolesOfType(type.id))) {
        this.#roles.set(idBytes(role.id), 0, JSON.stringify(role.key))
      }
      yield* resourceLines(resourceLine(resourceOf(this.#records, type, true)))
    }
    for (const role of this.#records.list('role', lists.rolesOfType(null))) {
      this.#roles.set(idBytes(role.id), 0, JSON.stringify(role.key))
      yield { kind: 'role', key: role.key, ...roleOf(role, new Set()) }
    }
    for (const set of exportedSets(this.#records)) yield { kind: 'condition_set', ...set }
    for (const rule of exportedRules(this.#records)) yield { kind: 'rule', ...rule }
    for (const { mapping_rules, ...config } of exportedProxyConfigs(this.#records)) {
      yield { kind: 'proxy_config', ...config, mapping_rules: [...mapping_rules] }
    }
  }

  /** The rows of these kinds in creation order, without those that wait for their purge. */
  *#living(...kinds: readonly ('user' | 'instance' | FactKind)[]): Iterable<Row> {
    const bytes = new Set(kinds.map(kind => KIND_BYTES[kind] as number))
    const dead = this.#dead
    for (const rows of this.#view.batches()) {
      for (const row of rows) {
        if (!bytes.has(row.key[0]!)) continue
        if (dead.size > 0 && isDead(decodeRecord(row), dead)) continue
        yield row
      }
    }
  }

  #userLine({ value }: Row): string {
    const user = storedForm('user', value)
    const key = JSON.stringify(user.key)
    this.#users.set(user.id, 0, key)
    return `{"kind":"user","key":${key},${userFields(user)},${this.#times(user)}}\n`
  }

  #instanceLine({ value }: Row): string | null {
    const instance = storedForm('instance', value)
    const type = this.#types.get(instance.typeId, 0)
    const tenant = this.#tenants.get(instance.tenantId, 0)
    if (type === undefined || tenant === undefined) return null
    const key = JSON.stringify(instance.key)
    // Joins `type:key` as one JSON string.
    this.#instances.set(instance.id, 0, `${type.slice(0, -1)}:${key.slice(1)}`)
    const fields = `${instanceFields(instance)},"is_group":${instance.isGroup}`
    return `{"kind":"instance","resource":${type},"key":${key},"tenant":${tenant},${fields},${this.#times(instance)}}\n`
  }

  #assignmentLine(row: Row): string | null {
    const fields = fieldsOf(row)
    const { bytes, tenantAt, isOnInstance } = fields
    const user = this.#users.get(row.key, USER_AT)
    const role = this.#roles.get(row.key, ROLE_AT)
    const tenant = this.#tenants.get(bytes, tenantAt)
    if (user === undefined || role === undefined || tenant === undefined) return null
    const head = `{"kind":"assignment","user":${user},"role":${role},"tenant":${tenant}`
    const end = `${this.#lifeOf(fields)}}\n`
    if (!isOnInstance) return `${head},${end}`
    const instance = this.#instances.get(row.key, SCOPE_AT)
    return instance === undefined ? null : `${head},"resource_instance":${instance},${end}`
  }

  #tupleLine(row: Row): string | null {
    const subject = this.#instances.get(row.key, SUBJECT_AT)
    const relation = this.#relations.get(row.key, RELATION_AT)
    const object = this.#instances.get(row.key, OBJECT_AT)
    if (subject === undefined || relation === undefined || object === undefined) return null
    const times = this.#lifeOf(fieldsOf(row))
    return `{"kind":"tuple","subject":${subject},"relation":${relation},"object":${object},${times}}\n`
  }

  /** The creation time of a fact, and its expiration time, if it has one. */
  #lifeOf({ createdAt, expiresAt }: FactFields): string {
    const made = `"created_at":${this.#instant(createdAt)}`
    return expiresAt === null ? made : `${made},"expires_at":"${presentInstant(expiresAt)}"`
  }

  #times({ createdAt, updatedAt }: { readonly createdAt: number; readonly updatedAt: number }): string {
    return `"created_at":${this.#instant(createdAt)},"updated_at":${this.#instant(updatedAt)}`
  }

  /**
   * Rows created together, for example by a bulk or an import, have the same time, so the last text is
   * cached.
   */
  #instant(instant: number): string {
    if (instant !== this.#lastInstant) {
      this.#lastInstant = instant
      this.#lastInstantText = `"${presentInstant(instant)}"`
    }
    return this.#lastInstantText
  }
}

const userFields = lineWriter(USER)
const instanceFields = lineWriter(INSTANCE)
const USER_AT = idInKey('assignment', 'userId')
const SCOPE_AT = idInKey('assignment', 'scopeId')
const ROLE_AT = idInKey('assignment', 'roleId')
const SUBJECT_AT = idInKey('tuple', 'subjectId')
const RELATION_AT = idInKey('tuple', 'relationId')
const OBJECT_AT = idInKey('tuple', 'objectId')

function fieldsOf(row: Row): FactFields {
  const fields = factFields(row)
  if (fields) return fields
  // The row is in an older or unusual encoding.
  const record = decodeRecord(row) as RecordOf<FactKind>
  const { createdAt, expiresAt, tenantId } = record
  const isOnInstance = record.kind === 'assignment' && record.instanceId !== null
  return { createdAt, bytes: idBytes(tenantId), tenantAt: 0, isOnInstance, expiresAt }
}

function resourceLine({ key, body, relationTexts, actionGroups }: ExportedResource): ContentResource {
  const details = relationTexts.map(({ key: relation, name, description, groupUse }) => [
    relation,
    { name, description, group_use: groupUse },
  ])
  const groups = actionGroups.map(group => [
    group.key,
    { ...presented(ACTION, group), actions: group.actions },
  ])
  return {
    kind: 'resource',
    key,
    ...body,
    relation_details: Object.fromEntries(details),
    action_groups: Object.fromEntries(groups),
  }
}

/**
 * The line; or, if it is too long, the line without its parts, followed by lines with some of the parts each.
 */
function* resourceLines(line: ContentResource): Iterable<ContentLine> {
  if (lineBytes(line) <= LINE_BYTES) return yield line
  const isPart = new Set<string>(RESOURCE_PARTS)
  const fields = Object.entries(line).filter(([name]) => !isPart.has(name))
  yield { ...(Object.fromEntries(fields) as unknown as ContentResource), actions: {} }
  for (const name of RESOURCE_PARTS) {
    let parts: [string, unknown][] = []
    let bytes = 0
    const partLine = () =>
      ({ kind: 'resource_part', resource: line.key, [name]: Object.fromEntries(parts) }) as ContentLine
    for (const part of Object.entries<unknown>(line[name] ?? {})) {
      const more = lineBytes(part)
      if (parts.length > 0 && bytes + more > LINE_BYTES) {
        yield partLine()
        parts = []
        bytes = 0
      }
      parts.push(part)
      bytes += more
    }
    if (parts.length > 0) yield partLine()
  }
}

function lineBytes(line: unknown): number {
  return Buffer.byteLength(JSON.stringify(line))
}

function tenantLine(tenant: TenantRecord): ContentLine {
  return { kind: 'tenant', key: tenant.key, ...presented(TENANT, tenant), ...timesOf(tenant) }
}

function timesOf({ createdAt, updatedAt }: { readonly createdAt: number; readonly updatedAt: number }) {
  return { created_at: presentInstant(createdAt), updated_at: presentInstant(updatedAt) }
}
