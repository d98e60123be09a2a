/**
 * Everything in an environment as lines of text (`model/wire/environment-content.ts`), read from one state of it. Facts come in
 * creation order, so that an import makes the same lists; a row that awaits its purge is left out.
 *
 * Two passes over the rows, and a table from id to key of every user and instance while it runs: O(rows).
 */
import { presentInstant } from '#management/commands/context.ts'
import { type DeadIds, isDead, pendingDeadIds } from '#management/commands/dead-ids.ts'
import { RecordReader } from '#management/commands/record-reader.ts'
import { exportedRules, exportedSets } from '#management/schema/condition-sets/exported-sets.ts'
import { exportedProxyConfigs } from '#management/schema/proxy-configs/copied-proxy-configs.ts'
import { type ExportedResource, resourceOf, roleOf } from '#management/schema/schema-export.ts'
import { formatInstanceReference } from '#model/instance-reference.ts'
import {
  type AssignmentRecord,
  type InstanceRecord,
  type RecordOf,
  type StoredRecord,
  type TenantRecord,
  type TupleRecord,
  type UserRecord,
} from '#model/records.ts'
import {
  CARRIER_KINDS,
  CARRIER_OF,
  CONTENT_FORMAT,
  type ContentLine,
} from '#model/wire/environment-content.ts'
import { IdTable } from '#replica/id-table.ts'
import { idBytes, lists } from '#store/keyspace/keyspace.ts'
import { decodeRecord, KIND_BYTES } from '#store/keyspace/record-codec.ts'
import type { View } from '#store/view.ts'

/** The lines, each with its line end. The view must not change while it runs. */
export function* contentLines(view: View): Iterable<string> {
  let lines = 0
  for (const line of new ContentOf(view).all()) {
    lines += 1
    yield `${JSON.stringify(line)}\n`
  }
  yield `${JSON.stringify({ kind: 'end', lines } satisfies ContentLine)}\n`
}

class ContentOf {
  readonly #view: View
  readonly #records: RecordReader
  readonly #dead: DeadIds
  readonly #types = new IdTable<string>()
  readonly #roles = new IdTable<string>()
  readonly #relations = new IdTable<string>()
  readonly #tenants = new IdTable<string>()
  readonly #users = new IdTable<string>()
  /** The instances as `type:key`. */
  readonly #instances = new IdTable<string>()

  constructor(view: View) {
    this.#view = view
    this.#records = new RecordReader(view)
    this.#dead = pendingDeadIds(view)
  }

  *all(): Iterable<ContentLine> {
    yield { kind: 'environment', format: CONTENT_FORMAT }
    yield* this.#schema()
    for (const tenant of this.#records.list('tenant', lists.all('tenant'))) {
      this.#tenants.set(idBytes(tenant.id), 0, tenant.key)
      yield tenantLine(tenant)
    }
    // Users and instances come before the facts that name them, whatever the order in which they were created.
    for (const record of this.#living('user', 'instance')) {
      const line = record.kind === 'user' ? this.#userLine(record) : this.#instanceLine(record)
      if (line) yield line
    }
    for (const record of this.#living('assignment', 'tuple')) {
      const line = record.kind === 'assignment' ? this.#assignmentLine(record) : this.#tupleLine(record)
      if (line) yield line
    }
  }

  *#schema(): Iterable<ContentLine> {
    const builtIn = [...this.#records.list('type', lists.builtInTypes())]
    for (const kind of CARRIER_KINDS) {
      const attributes = builtIn.find(({ key }) => key === CARRIER_OF[kind])?.attributes ?? []
      if (attributes.length === 0) continue
      const blocks = attributes.map(({ key, type, description }) => [key, { type, description }])
      yield { kind, attributes: Object.fromEntries(blocks) }
    }
    for (const type of this.#records.list('type', lists.all('type'))) {
      this.#types.set(idBytes(type.id), 0, type.key)
      for (const relation of this.#records.list('relation', lists.relationsOfType(type.id))) {
        this.#relations.set(idBytes(relation.id), 0, relation.key)
      }
      for (const role of this.#records.list('role', lists.rolesOfType(type.id))) {
        this.#roles.set(idBytes(role.id), 0, role.key)
      }
      yield resourceLine(resourceOf(this.#records, type, true))
    }
    for (const role of this.#records.list('role', lists.rolesOfType(null))) {
      this.#roles.set(idBytes(role.id), 0, role.key)
      yield { kind: 'role', key: role.key, ...roleOf(role, new Set()) }
    }
    for (const set of exportedSets(this.#records)) yield { kind: 'condition_set', ...set }
    for (const rule of exportedRules(this.#records)) yield { kind: 'rule', ...rule }
    for (const { mapping_rules, ...config } of exportedProxyConfigs(this.#records)) {
      yield { kind: 'proxy_config', ...config, mapping_rules: [...mapping_rules] }
    }
  }

  /** The records of these kinds in creation order, without those that await their purge. */
  *#living<Kind extends 'user' | 'instance' | 'assignment' | 'tuple'>(
    ...kinds: readonly Kind[]
  ): Iterable<RecordOf<Kind>> {
    const bytes = new Set(kinds.map(kind => KIND_BYTES[kind] as number))
    for (const rows of this.#view.batches()) {
      for (const row of rows) {
        if (!bytes.has(row.key[0]!)) continue
        const record: StoredRecord = decodeRecord(row)
        if (!isDead(record, this.#dead)) yield record as RecordOf<Kind>
      }
    }
  }

  #userLine(user: UserRecord): ContentLine {
    this.#users.set(idBytes(user.id), 0, user.key)
    return {
      kind: 'user',
      key: user.key,
      email: user.email,
      first_name: user.firstName,
      last_name: user.lastName,
      attributes: user.attributes,
      ...timesOf(user),
    }
  }

  #instanceLine(instance: InstanceRecord): ContentLine | null {
    const resource = this.#types.get(idBytes(instance.typeId), 0)
    const tenant = this.#tenants.get(idBytes(instance.tenantId), 0)
    if (resource === undefined || tenant === undefined) return null
    const { key, attributes, isGroup } = instance
    this.#instances.set(idBytes(instance.id), 0, formatInstanceReference({ type: resource, key }))
    return { kind: 'instance', resource, key, tenant, attributes, is_group: isGroup, ...timesOf(instance) }
  }

  #assignmentLine({ userId, roleId, tenantId, instanceId, createdAt }: AssignmentRecord): ContentLine | null {
    const user = this.#users.get(idBytes(userId), 0)
    const role = this.#roles.get(idBytes(roleId), 0)
    const tenant = this.#tenants.get(idBytes(tenantId), 0)
    if (user === undefined || role === undefined || tenant === undefined) return null
    const common = { kind: 'assignment', user, role, tenant } as const
    const times = { created_at: presentInstant(createdAt) }
    if (instanceId === null) return { ...common, ...times }
    const resource_instance = this.#instances.get(idBytes(instanceId), 0)
    return resource_instance === undefined ? null : { ...common, resource_instance, ...times }
  }

  #tupleLine({ subjectId, relationId, objectId, createdAt }: TupleRecord): ContentLine | null {
    const subject = this.#instances.get(idBytes(subjectId), 0)
    const relation = this.#relations.get(idBytes(relationId), 0)
    const object = this.#instances.get(idBytes(objectId), 0)
    if (subject === undefined || relation === undefined || object === undefined) return null
    return { kind: 'tuple', subject, relation, object, created_at: presentInstant(createdAt) }
  }
}

function resourceLine({ key, body, relationTexts, actionGroups }: ExportedResource): ContentLine {
  const details = relationTexts.map(({ key: relation, name, description, groupUse }) => [
    relation,
    { name, description, group_use: groupUse },
  ])
  const groups = actionGroups.map(({ key: group, name, description, attributes, actions }) => [
    group,
    { name, description, attributes, actions },
  ])
  return {
    kind: 'resource',
    key,
    ...body,
    relation_details: Object.fromEntries(details),
    action_groups: Object.fromEntries(groups),
  }
}

function tenantLine(tenant: TenantRecord): ContentLine {
  const { key, name, description, attributes } = tenant
  return { kind: 'tenant', key, name, description, attributes, ...timesOf(tenant) }
}

function timesOf({ createdAt, updatedAt }: { readonly createdAt: number; readonly updatedAt: number }) {
  return { created_at: presentInstant(createdAt), updated_at: presentInstant(updatedAt) }
}
