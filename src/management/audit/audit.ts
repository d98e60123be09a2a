/**
 * The audit log. Every management call that changes something adds an entry in the same commit as the change.
 * An entry therefore exists if and only if the change was made. Calls that change nothing add no entry.
 * Changes by the service itself, such as purges and settings applied at startup, also add none; the removal
 * of expired grants is the only exception.
 *
 * An entry keeps the input of the call if it is short. Because the input contains keys and attributes,
 * entries are kept for a limited time (`audit-retention.ts`).
 */
import type { Principal, SessionCaller } from '#model/principal.ts'
import type { Attributes } from '#model/change.ts'
import type { Claim } from '#model/wire/organization/actor.ts'
import { idFrom } from '#model/instance-reference.ts'
import { jsonBytes } from '#model/text/json-text.ts'
import { AUDIT_INPUT_BYTES_MAX, KEPT_REQUEST_ID_LENGTH_MAX } from '#model/limits.ts'
import type { AuditRecord, StoredActor } from '#entities/records.ts'
import { runAtOnce, isResumable, type Resumable, YIELD_ROWS } from '#scheduling/resumable.ts'
import type { AuditEntry, AuditQuery } from '#model/wire/organization/audit.ts'
import { lists } from '#store/keyspace/keyspace.ts'
import { presentInstant } from '#management/drafts/context.ts'
import type { Draft } from '#management/drafts/draft.ts'
import { aboutFilter, thingsOf } from './audit-subjects.ts'
import { isByKey, isOfKind, isOfMember, namesActor, presentActor } from './audited-actors.ts'
import { auditedThings } from './audited-things.ts'
import {
  type Page,
  PageBytes,
  pageFrom,
  pageOfLists,
  settled,
  takeFirst,
  type MatchResult,
  windowOf,
} from '#management/paging/paging.ts'
import type { RecordReader } from '#management/drafts/record-reader.ts'

/** The caller of an operation. */
export interface AuditCaller {
  /** Null for the key in `ADMIN_API_KEY`. */
  readonly keyId: string | null
  readonly requestId: string
  /** Actor that the client claimed; null if it claimed none. */
  readonly claim: Claim | null
  /** The session in which the call came; absent if it came with a key. */
  readonly session?: SessionCaller | undefined
}

export function auditCallerOf({
  principal,
  requestId,
  claim,
}: Omit<AuditCaller, 'keyId' | 'session'> & { readonly principal: Principal }): AuditCaller {
  return { keyId: principal.keyId, requestId, claim, session: principal.session }
}

/** A call that may change something. */
export interface AuditedCall extends AuditCaller {
  readonly operation: string
  readonly input: unknown
}

interface AuditedContext {
  readonly records: Draft
  readonly now: number
  newId(): string
}

/** If a body has more elements than this, it is not serialized to measure its length. */
const ELEMENTS_MAX = 100
/**
 * Maximum number of entities that the entries of a page show. Beyond it, an entry shows its first
 * `ELEMENTS_MAX` entities.
 */
const SHOWN_THINGS_MAX = 10_000
const ADMIN = 'admin'
const LIST = lists.all('audit')

/**
 * The log of an environment or of the organization. Entries of an environment's log need not name the
 * environment.
 */
export type AuditedLog = 'environment' | 'organization'

/**
 * Adds an audit entry to the writes of `command`, if there are any. Without a call, returns the command
 * unchanged.
 */
export function audited<Context extends AuditedContext, Answer>(
  command: (context: Context) => Answer | Resumable<Answer>,
  call: AuditedCall | null,
  log: AuditedLog,
): (context: Context) => Answer | Resumable<Answer> {
  if (call === null) return command
  return context => {
    const result = command(context)
    if (!isResumable(result) && !isLong(call)) {
      runAtOnce(addEntry(context, call, log))
      return result
    }
    return (function* () {
      const answer = isResumable(result) ? yield* result as Resumable<Answer> : result
      yield* addEntry(context, call, log)
      return answer
    })()
  }
}

function* addEntry(
  { records, now, newId }: AuditedContext,
  call: AuditedCall,
  log: AuditedLog,
): Resumable<void> {
  if (records.isEmpty) return
  const { keyId, operation } = call
  const called = { keyId, requestId: call.requestId.slice(0, KEPT_REQUEST_ID_LENGTH_MAX) }
  const actor = storedActorOf(call)
  const { fullInput, ...kept } = keptInput(call, log)
  const about = yield* keptThings(records, operation, fullInput)
  records.put({
    kind: 'audit',
    id: newId(),
    createdAt: now,
    ...called,
    operation,
    ...kept,
    sequence: null,
    ...about,
    actor,
  })
}

function storedActorOf({ claim, session }: AuditCaller): StoredActor | null {
  if (session !== undefined) return { kind: 'member', ...session }
  return claim && { kind: 'claimed', ...claim }
}

function* keptThings(
  records: Draft,
  operation: string,
  fullInput: Attributes,
): Resumable<Pick<AuditRecord, 'aboutNames' | 'aboutIds'>> {
  const things = yield* auditedThings(records, operation, fullInput)
  return {
    aboutNames: things.map(({ kind, key }) => `${kind}:${key ?? ''}`),
    aboutIds: things.map(({ id }) => id),
  }
}

/** Adds an entry for a change by the service itself, without a caller and a request. */
export function addServiceEntry(
  { records, now, newId }: AuditedContext,
  operation: string,
  input: Attributes,
): void {
  const nobody = { keyId: null, requestId: '' }
  records.put({
    kind: 'audit',
    id: newId(),
    createdAt: now,
    ...nobody,
    operation,
    input,
    isInputCut: false,
    sequence: null,
    ...runAtOnce(keptThings(records, operation, input)),
    actor: null,
  })
}

/** Members of a body that must never be shown again, by operation. E-mail addresses are personal data. */
const SECRETS: Readonly<Partial<Record<string, string>>> = {
  createProxyConfig: 'secret',
  updateProxyConfig: 'secret',
  createMember: 'email',
}
/** Text that replaces such a secret in the stored input. */
const NOT_TOLD = '***'

function withoutSecret(operation: string, body: unknown): unknown {
  const member = SECRETS[operation]
  const isThere =
    member !== undefined && typeof body === 'object' && body !== null && Object.hasOwn(body, member)
  return isThere ? { ...body, [member]: NOT_TOLD } : body
}

/**
 * Parameters without the e-mail address by which a path can name a member. The entry names the member by id.
 */
function withoutAddress(params: Attributes): Attributes {
  const { member_id: member } = params
  return typeof member === 'string' && idFrom(member) === null ? { ...params, member_id: NOT_TOLD } : params
}

/** The input of a call that is kept in the entry. `fullInput` also keeps a body that is too long. */
function keptInput(
  { operation, input }: AuditedCall,
  log: AuditedLog,
): Pick<AuditRecord, 'input' | 'isInputCut'> & { readonly fullInput: Attributes } {
  const { params = {}, query = {}, body: sent } = partsOf(input)
  const { proj_id: _project, env_id: _environment, ...others } = params
  const named = withoutAddress(log === 'environment' ? others : params)
  const bare: Attributes = { ...named, ...(Object.keys(query).length > 0 && { query }) }
  const body = withoutSecret(operation, sent)
  if (body === undefined) return { input: bare, isInputCut: false, fullInput: bare }
  const fullInput = { ...bare, body }
  return elementsIn(body) <= ELEMENTS_MAX && isShortJson(body)
    ? { input: fullInput, isInputCut: false, fullInput }
    : { input: bare, isInputCut: true, fullInput }
}

function partsOf(input: unknown): Record<string, Attributes | undefined> {
  return (input ?? {}) as Record<string, Attributes | undefined>
}

/** Whether a call names so many entities that its entry is made in slices. */
function isLong({ input }: AuditedCall): boolean {
  return elementsIn(partsOf(input)['body']) > ELEMENTS_MAX
}

function isShortJson(body: unknown): boolean {
  return jsonBytes(body, AUDIT_INPUT_BYTES_MAX) <= AUDIT_INPUT_BYTES_MAX
}

/** Number of elements of a bulk: of the body itself, or of the longest list in its fields. */
function elementsIn(body: unknown): number {
  if (Array.isArray(body)) return body.length
  if (typeof body !== 'object' || body === null) return 0
  return Math.max(0, ...Object.values(body).map(value => (Array.isArray(value) ? value.length : 0)))
}

interface AuditReadContext {
  readonly records: RecordReader
}

/** Lists entries. O(page) without filters, O(log) with filters. */
export function* listAuditEntries(
  { records }: AuditReadContext,
  { query }: { readonly query: AuditQuery },
): Resumable<Page<AuditEntry>> {
  const matches = filterOf(records, query)
  const request = {
    kind: 'audit' as const,
    lists: [LIST],
    matches,
    present: presenter(records),
  }
  if (query.order === 'oldest') return yield* pageOfLists(records, { ...request, paging: query })
  if (matches !== null) return yield* newestMatches(records, query, matches)
  // The page is counted from the oldest entry: entries that are added concurrently come last and shift
  // nothing.
  const { offset, limit } = windowOf(query)
  const { total_count: total } = yield* pageOfLists(records, { ...request, paging: { per_page: 1 } })
  const end = Math.max(0, total - offset)
  const start = Math.max(0, end - limit)
  if (end === start) return pageFrom([], total, limit)
  const paging = { offset: start, per_page: end - start }
  const page = { ...request, present: presenter(records), paging, hasTotal: false }
  const { data } = yield* pageOfLists(records, page)
  return pageFrom(data.toReversed(), total, limit)
}

/**
 * Scans the log once and remembers only the positions of the newest matches: those of the page and those
 * after it. Then reads the entries of the page again, so that only numbers are kept in memory.
 */
function* newestMatches(
  records: RecordReader,
  query: AuditQuery,
  matches: (entry: AuditRecord) => MatchResult,
): Resumable<Page<AuditEntry>> {
  const { offset, limit } = windowOf(query)
  const wanted = offset + limit
  let places: number[] = []
  let total = 0
  let rows = 0
  for (const { record, created } of records.foundIn('audit', [LIST])) {
    if (yield* settled(matches(record))) {
      total += 1
      // Drops half of them at a time, so that each is moved at most once.
      if (places.push(created) === 2 * wanted) places = places.slice(wanted)
    }
    if (++rows % YIELD_ROWS === 0) yield
  }
  const end = Math.max(0, places.length - offset)
  const data: AuditEntry[] = []
  const bytes = new PageBytes()
  const present = presenter(records)
  for (const place of places.slice(Math.max(0, end - limit), end).toReversed()) {
    const [found] = takeFirst(records.foundIn('audit', [LIST], { after: place - 1 }), 1)
    // Skips an entry that the retention has removed since the scan.
    if (found?.created !== place) continue
    const entry = present(found.record)
    bytes.add(entry)
    data.push(entry)
  }
  return pageFrom(data, total, limit)
}

function filterOf(
  records: RecordReader,
  {
    operation,
    api_key_id: key,
    actor,
    actor_kind: kind,
    member_id: member,
    request_id: request,
    since,
    until,
    about,
  }: AuditQuery,
) {
  const keyId = key === undefined ? undefined : key.toLowerCase() === ADMIN ? null : (idFrom(key) ?? key)
  const from = since === undefined ? Number.NEGATIVE_INFINITY : Date.parse(since)
  const to = until === undefined ? Number.POSITIVE_INFINITY : Date.parse(until)
  const memberId = member && (idFrom(member) ?? member)
  const isNarrowed = [operation, key, actor, kind, member, request, since, until, about].some(
    part => part !== undefined,
  )
  if (!isNarrowed) return null
  const isAbout = about === undefined ? null : aboutFilter(records, about)
  const isMeant = (entry: AuditRecord): boolean =>
    (operation === undefined || entry.operation === operation) &&
    (keyId === undefined || isByKey(entry, keyId)) &&
    (memberId === undefined || isOfMember(entry, memberId)) &&
    (actor === undefined || namesActor(entry, actor)) &&
    (kind === undefined || isOfKind(entry, kind)) &&
    (request === undefined || entry.requestId === request) &&
    entry.createdAt >= from &&
    entry.createdAt < to &&
    (isAbout === null || isAbout(entry))
  return (entry: AuditRecord): MatchResult =>
    (entry.aboutIds?.length ?? 0) > ELEMENTS_MAX ? withStop(isMeant(entry)) : isMeant(entry)
}

/** Pauses after a long entry is evaluated, because that takes about as long as evaluating many short ones. */
function* withStop(isMeant: boolean): Resumable<boolean> {
  yield
  return isMeant
}

/**
 * Presents the entries of a page. Only the first entry can show more entities than `SHOWN_THINGS_MAX`, so
 * that no page is rejected because of them.
 */
function presenter(records: RecordReader): (record: AuditRecord) => AuditEntry {
  let left = SHOWN_THINGS_MAX
  return record => {
    const { about, ...entry } = presentEntry(records, record)
    const isFirst = left === SHOWN_THINGS_MAX
    const shown =
      isFirst || about.length <= Math.max(left, ELEMENTS_MAX) ? about : about.slice(0, ELEMENTS_MAX)
    left -= shown.length
    return { ...entry, about: shown, is_about_cut: shown.length < about.length }
  }
}

function presentEntry(records: RecordReader, record: AuditRecord): Omit<AuditEntry, 'is_about_cut'> {
  return {
    id: record.id,
    created_at: presentInstant(record.createdAt),
    operation: record.operation,
    api_key_id: record.keyId,
    actor: presentActor(record),
    request_id: record.requestId,
    // An entry is never overwritten, so the commit that wrote its row is the one that made the change. An
    // entry that was transferred from another environment contains its `sequence`.
    sequence: record.sequence ?? records.versionOf(record),
    input: record.input,
    is_input_cut: record.isInputCut,
    about: thingsOf(record),
  }
}

export const reads = { listAuditEntries }
