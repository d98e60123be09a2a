/**
 * Lists of tenants as JSON in bytes: those in which a user may do something, and those in which a user has a role
 * (conditions.md 10.1 and 10.2). Made in slices, by whichever thread has an engine, and whole or refused, as all lists are.
 *
 * A tenant is listed because a check of it allows: the list of an action is nothing but many checks. Which tenants are worth one
 * follows from what a check reads. An instance allows in its own tenant alone (native.md D-14). Roles are
 * held in tenants that the user's assignments name. Rules on the type and action may hold in any tenant that
 * is stored.
 */
import type { DecisionEngine, ResultSink } from '#engine/engine.ts'
import type { Query } from '#model/decision.ts'
import { AuthzError } from '#model/errors.ts'
import { TRIED_TENANTS_MAX } from '#model/limits.ts'
import type { Resumable } from '#model/resumable.ts'
import { compareUtf8 } from '#model/utf8-order.ts'
import { type ListingLimits, Room, Text } from './listing.ts'
import { RuledBulk } from './ruled-bulk.ts'
import { received, type SendableQuery } from './sendable-query.ts'
import { sortedInSlices } from './sliced-sort.ts'

/** Entries written between two stops. */
const WRITTEN_ENTRIES = 256

export interface AllowedTenantsJob {
  readonly kind: 'allowed-tenants'
  /** Its tenant says nothing. */
  readonly query: SendableQuery
  readonly limits: ListingLimits
}

export interface UserTenantsJob {
  readonly kind: 'user-tenants'
  readonly user: string
  readonly limits: ListingLimits
}

/** Ascending by UTF-8 bytes. Throws `LIMIT_EXCEEDED` beyond a ceiling, and where too many tenants would have to be tried. */
export function* listAllowedTenants(
  engine: DecisionEngine,
  { query, limits }: AllowedTenantsJob,
): Resumable<Uint8Array> {
  const asked = received(query)
  const tried = yield* sortedInSlices(yield* tenantsToTry(engine, asked, limits), compareUtf8)
  const checks = new RuledBulk(tried.map(tenant => ({ ...asked, tenant })))
  const verdicts = yield* checks.decide(() => engine)
  const room = new Room(limits)
  const entries: string[] = []
  for (const [index, tenant] of tried.entries()) {
    if (verdicts[index] === 0) continue
    const entry = `{"allow":true,"result":true,"tenant":${tenantText(tenant, engine.tenants.attributesOf(tenant))}}`
    if (!room.take(bytesOf(entry))) break
    entries.push(entry)
    if (entries.length % WRITTEN_ENTRIES === 0) yield
  }
  room.requireEnough('check tenants one by one or in bulk instead')
  return yield* written(room, ['{"allowed_tenants":[', '}'], entries)
}

/** Ascending by UTF-8 bytes. Throws `LIMIT_EXCEEDED` beyond a ceiling. */
export function* listUserTenants(
  engine: DecisionEngine,
  { user, limits }: UserTenantsJob,
): Resumable<Uint8Array> {
  const room = new Room(limits)
  const found = new TenantTexts(room)
  yield* engine.tenantRolesOf(user, null, limits.entriesMax + 1, found)
  room.requireEnough('page through the role assignments of the user instead')
  const sorted = yield* sortedInSlices(found.items, (left, right) => compareUtf8(left.tenant, right.tenant))
  return yield* written(
    room,
    ['[', ''],
    sorted.map(({ text }) => text),
  )
}

/** The tenants in which a check could allow, each once. Throws `LIMIT_EXCEEDED` if they are too many to try. */
function* tenantsToTry(
  engine: DecisionEngine,
  { user, type, action, key, asksRules }: Query,
  { entriesMax }: ListingLimits,
): Resumable<string[]> {
  const home = key === null ? null : engine.tenantOf(type, key)
  if (home !== null) return [home]
  if (asksRules !== false && engine.hasRules() && isRuled(engine, type, action)) {
    const stored = yield* engine.tenants.keys(TRIED_TENANTS_MAX + 1)
    requireFewEnough(stored, TRIED_TENANTS_MAX)
    return stored
  }
  // More than may be listed, since some of them may deny.
  const heldMax = Math.max(entriesMax, TRIED_TENANTS_MAX)
  const held = new TenantKeys()
  yield* engine.tenantRolesOf(user, null, heldMax + 1, held)
  requireFewEnough(held.items, heldMax)
  return held.items
}

function isRuled(engine: DecisionEngine, type: string, action: string): boolean {
  return engine.ruledPermissions().some(ruled => ruled.type === type && ruled.action === action)
}

function requireFewEnough({ length }: readonly string[], most: number): void {
  if (length <= most) return
  const message = `there are more than ${most} tenants to try; check them in bulk instead, or name an instance`
  throw new AuthzError('LIMIT_EXCEEDED', message, { limit: 'list' })
}

/** The tenants in which a user has a role. */
class TenantKeys implements ResultSink<{ readonly tenant: string }> {
  items: string[] = []

  begin(): void {
    this.items = []
  }

  take({ tenant }: { readonly tenant: string }): boolean {
    this.items.push(tenant)
    return true
  }
}

interface StoredTenant {
  readonly tenant: string
  /** As JSON. */
  readonly attributes: string | null
}

/** The same with their attributes, as far as there is room. */
class TenantTexts implements ResultSink<StoredTenant> {
  readonly #room: Room
  #bytes = 0
  items: { readonly tenant: string; readonly text: string }[] = []

  constructor(room: Room) {
    this.#room = room
  }

  begin(): void {
    this.#room.take(-this.#bytes, -this.items.length)
    this.#bytes = 0
    this.items = []
  }

  take({ tenant, attributes }: StoredTenant): boolean {
    const text = tenantText(tenant, attributes)
    const bytes = bytesOf(text)
    this.#bytes += bytes
    this.items.push({ tenant, text })
    return this.#room.take(bytes)
  }
}

function tenantText(key: string, attributes: string | null): string {
  return `{"key":${JSON.stringify(key)},"attributes":${attributes ?? '{}'}}`
}

/** Of an entry with its comma, or with what stands in for that of the last one: a bracket. */
function bytesOf(entry: string): number {
  return Buffer.byteLength(entry) + 1
}

/** A list with all the entries for which `room` was taken. */
function* written(
  room: Room,
  [head, tail]: readonly [string, string],
  entries: readonly string[],
): Resumable<Uint8Array> {
  const text = new Text(head.length + Math.max(1, room.bytes) + tail.length)
  text.write(head)
  for (const [index, entry] of entries.entries()) {
    text.write(index === 0 ? entry : `,${entry}`)
    if ((index + 1) % WRITTEN_ENTRIES === 0) yield
  }
  text.write(`]${tail}`)
  return text.whole()
}
