/** What is stored of a sample on which a condition set is tried, as conditions of a decision see it (conditions, section 4.1). */
import type { StoredValues } from '#conditions/question-values.ts'
import type { JsonObject } from '#conditions/values.ts'
import { findType, findUser, notFound } from '#management/commands/lookups.ts'
import type { RecordReader } from '#management/commands/record-reader.ts'
import { type Resumable, YIELD_ROWS } from '#management/commands/resumable.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'
import type { InstanceRecord, TenantRecord, UserRecord } from '#model/records.ts'
import { attributesOfUser } from '#model/user-attributes.ts'
import type { SetSample } from '#model/wire/tried-set.ts'
import { lists, rowKeys } from '#store/keyspace/keyspace.ts'

/** A user as a question names it. */
export interface NamedUser {
  readonly key: string
  /** `null`: it is not stored. */
  readonly record: UserRecord | null
}

export interface NamedInstance {
  readonly type: string
  /** `null`: there is no such resource. */
  readonly typeId: string | null
  readonly key: string
  /** `null`: it is not stored. */
  readonly record: InstanceRecord | null
}

export interface NamedThings {
  /** `null`: the sample names none. */
  readonly user: NamedUser | null
  readonly instance: NamedInstance | null
}

/** Throws `NOT_FOUND` for the id of an instance that is not there: what is named by its key need not be. */
export function namedIn(records: RecordReader, { user, resource_instance }: SetSample): NamedThings {
  return {
    user: user ? namedUser(records, user) : null,
    instance: resource_instance ? namedInstance(records, resource_instance) : null,
  }
}

function namedUser(records: RecordReader, reference: string): NamedUser {
  const record = findUser(records, reference)
  return { key: record?.key ?? reference, record }
}

function namedInstance(records: RecordReader, reference: string): NamedInstance {
  const named = parseInstanceReference(reference)
  if (named === null) {
    const record = records.byReference('instance', reference)
    const type = record && records.byId('type', record.typeId)
    if (!type) throw notFound('resource instance', reference, '; write it type:key, or its id')
    return { type: type.key, typeId: type.id, key: record.key, record }
  }
  const type = findType(records, named.type)
  const record = type && records.get('instance', rowKeys.instance(type.id, named.key))
  return { type: type?.key ?? named.type, typeId: type?.id ?? null, key: named.key, record }
}

/** `asksHeld`: whether conditions ask for what the user holds, which may be much. O(the tenant roles of the user) then. */
export function* storedValues(
  records: RecordReader,
  { user, instance }: NamedThings,
  {
    tenant,
    asksHeld,
    now,
  }: { readonly tenant: TenantRecord | null; readonly asksHeld: boolean; readonly now: number },
): Resumable<StoredValues> {
  const stored = user?.record ?? null
  const held = stored !== null && asksHeld ? yield* tenantRoles(records, stored, now) : NOTHING_HELD
  const roles = (tenant && held.get(tenant.key)) ?? []
  const tenants = [...held.keys()].toSorted()
  return {
    userRoles: () => roles,
    userTenants: () => tenants,
    userAttributes: () => stored && attributesOfUser(stored),
    instanceAttributes: () => instance?.record?.attributes ?? null,
    tenantAttributes: () => tenant?.attributes ?? null,
    attributesOf: (type, key) => attributesIn(records, tenant, { type, key }),
  }
}

type RolesByTenant = ReadonlyMap<string, readonly string[]>

const NOTHING_HELD: RolesByTenant = new Map()

/** The tenant roles that a user holds, ascending, by tenant. */
function* tenantRoles(records: RecordReader, user: UserRecord, now: number): Resumable<RolesByTenant> {
  const held = new Map<string, string[]>()
  let rows = 0
  for (const { record, isDead } of records.foundIn('assignment', [lists.tenantRolesOf(user.id)])) {
    const { expiresAt, roleId, tenantId } = record
    // What has ended is in no decision, whether or not its row is gone.
    if (!isDead && (expiresAt === null || expiresAt > now)) {
      const role = records.byId('role', roleId)
      const tenant = records.byId('tenant', tenantId)
      if (role && tenant) held.set(tenant.key, [...(held.get(tenant.key) ?? []), role.key])
    }
    if (++rows % YIELD_ROWS === 0) yield
  }
  for (const roles of held.values()) roles.sort()
  return held
}

function attributesIn(
  records: RecordReader,
  tenant: TenantRecord | null,
  { type: typeKey, key }: { readonly type: string; readonly key: string },
): JsonObject | undefined {
  const type = records.get('type', rowKeys.type(typeKey))
  const instance = type && records.get('instance', rowKeys.instance(type.id, key))
  return instance && instance.tenantId === tenant?.id ? instance.attributes : undefined
}
