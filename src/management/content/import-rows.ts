/**
 * Converts lines of text (`entities/environment-content.ts`) to the rows of a new environment. It
 * checks the form of each line, that referenced entities were defined by earlier lines, and the rules of the
 * schema. It writes nothing.
 *
 * The schema is defined by the operation that copies use, on an empty draft, so that the same rules apply.
 * O(1) per line, with a table from key to id of every user and instance. The memory used by this and by the
 * consumer of the rows is estimated and limited.
 */
import { recordFrom } from '#entities/entity.ts'
import { checkAttributes } from '#management/drafts/attribute-ceilings.ts'
import { expiresAtIn } from '#management/drafts/fact-expiry.ts'
import { YIELD_ROWS, type Resumable, runAtOnce } from '#scheduling/resumable.ts'
import { AuthzError } from '#model/errors.ts'
import { parseInstanceReference } from '#model/instance-reference.ts'
import { parsedJson } from '#model/text/json-numbers.ts'
import { hasNumberTooLarge, hasUnpairedSurrogate, isDeeperThan } from '#model/text/json-text.ts'
import { CONTENT_DEPTH_MAX } from '#model/limits.ts'
import type { StoredRecord } from '#entities/records.ts'
import type { ContentKind, ContentLine } from '#entities/environment-content.ts'
import { INSTANCE } from '#entities/resource-instance.ts'
import { TENANT } from '#entities/tenant.ts'
import { USER } from '#entities/user.ts'
import { rowKeyOf } from '#store/keyspace/keyspace.ts'
import { encodeRecord } from '#store/keyspace/record-codec.ts'
import type { RowPut } from '#store/ledger.ts'
import { invalid, known, repeated, unknown } from './content-errors.ts'
import type { NumberedLine } from './line-splitter.ts'
import {
  ContentSchema,
  type ContentSchemaOptions,
  type DefinedSchema,
  instantOf,
  timesOf,
  type Line,
} from './content-schema.ts'

export interface ContentImportOptions extends ContentSchemaOptions {
  /** Throws `INVALID_SHAPE` unless the line has the form of its kind. */
  readonly check: (kind: ContentKind, line: unknown) => void
  readonly isKind: (kind: unknown) => kind is ContentKind
  /** Maximum number of bytes kept in memory: rows, and the names that later lines can use. */
  readonly heldBytesMax: number
}

export type ContentCounts = Partial<Record<ContentKind, number>>

interface KnownInstance {
  readonly id: string
  readonly type: string
  readonly tenantId: string
}

/** The sections of a file, in order. Kinds of the same section can be mixed. */
const SECTION: Readonly<Record<ContentKind, number>> = {
  environment: 0,
  user_attributes: 1,
  tenant_attributes: 2,
  resource: 3,
  resource_part: 3,
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
/** Approximate memory of an entry in a table of names, in addition to the name. */
const NAME_BYTES = 300
/** Approximate memory of the objects of a schema line, per character of the line. */
const SCHEMA_BYTES_FACTOR = 8
const SHOWN_KIND_LENGTH_MAX = 64

export class ContentImport {
  readonly counts: ContentCounts = {}
  readonly #options: ContentImportOptions
  /** Number of the last line in the file. `#count` is the number of lines that are not blank. */
  #line = 0
  #count = 0
  #heldBytes = 0
  #section = -1
  /** Kind of the previous line. */
  #kind: ContentKind | null = null
  readonly #schema: ContentSchema
  /** Null until all lines of the schema have been read. */
  #defined: DefinedSchema | null = null
  readonly #tenantIds = new Map<string, string>()
  readonly #userIds = new Map<string, string>()
  readonly #instances = new Map<string, KnownInstance>()

  constructor(options: ContentImportOptions) {
    this.#options = options
    this.#schema = new ContentSchema(options)
  }

  /** Whether the last line has been read, and the file is complete. */
  get isWhole(): boolean {
    return this.#section === SECTION.end
  }

  /** The number of the last line. */
  get line(): number {
    return this.#line
  }

  /**
   * The rows of a line, in the order in which they must be created. Throws `INVALID_INPUT` or
   * `LIMIT_EXCEEDED`, with the number of the line.
   */
  take(line: NumberedLine): RowPut[] {
    return runAtOnce(this.takeInSlices(line))
  }

  /**
   * Like `take`, but pauses every few rows. The first line after the schema returns all rows of the schema.
   */
  *takeInSlices({ number, text }: NumberedLine): Resumable<RowPut[]> {
    this.#line = number
    this.#count += 1
    try {
      const rows: RowPut[] = []
      for (const record of yield* this.#take(valueOf(text))) {
        rows.push(rowOf(record))
        if (rows.length % YIELD_ROWS === 0) yield
      }
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

  /** Counts the memory of rows and names. Throws `LIMIT_EXCEEDED` if the limit is exceeded. */
  #hold(rows: readonly RowPut[], text: string): void {
    const isOfSchema = this.#section < FIRST_OF_FACTS
    const isNamed = this.#section === SECTION.tenant || this.#section === SECTION.user
    this.#heldBytes += isOfSchema ? SCHEMA_BYTES_FACTOR * text.length : isNamed ? NAME_BYTES : 0
    for (const { key, value } of rows) this.#heldBytes += key.length + value.length
    const { heldBytesMax } = this.#options
    if (this.#heldBytes <= heldBytesMax) return
    const message = `this import would need more than ${heldBytesMax} bytes of memory (MAX_IMPORT_BYTES)`
    throw new AuthzError('LIMIT_EXCEEDED', message, { limit: 'content' })
  }

  *#take(value: unknown): Resumable<StoredRecord[]> {
    const kind = (value as { readonly kind?: unknown } | null)?.kind
    if (!this.#options.isKind(kind))
      throw invalid(`expected a "kind" among ${Object.keys(SECTION).join(', ')}, got ${shown(kind)}`)
    this.#options.check(kind, value)
    this.#enter(kind)
    const line = value as ContentLine
    let records: StoredRecord[] = []
    if (SECTION[kind] >= FIRST_OF_FACTS && this.#defined === null) {
      this.#defined = yield* this.#schema.define()
      records = [...this.#defined.records]
    }
    const record = this.#recordOf(line)
    if (record) {
      checkAttributes(record, null, this.#options.attributesBytesMax)
      records.push(record)
    }
    if (kind !== 'resource_part') this.counts[kind] = (this.counts[kind] ?? 0) + 1
    return records
  }

  #enter(kind: ContentKind): void {
    const section = SECTION[kind]
    if (this.#section === -1 && kind !== 'environment') {
      throw invalid('expected {"kind":"environment","format":1} first')
    }
    const isRepeatable = section >= SECTION.resource && section < SECTION.end
    if (section < this.#section) {
      throw invalid(`a line of kind "${kind}" must come before lines of kind "${this.#kind}"`)
    }
    if (section === this.#section && !isRepeatable) {
      throw invalid(`a file can have only one line of kind "${kind}"`)
    }
    this.#section = section
    this.#kind = kind
  }

  #recordOf(line: ContentLine): StoredRecord | null {
    switch (line.kind) {
      case 'environment':
        return null
      case 'user_attributes':
      case 'tenant_attributes':
      case 'resource':
      case 'resource_part':
      case 'role':
      case 'condition_set':
      case 'rule':
      case 'proxy_config':
        this.#schema.add(line)
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
        throw invalid(`expected ${line.lines} lines before this one, got ${this.#count - 1}`)
    }
  }

  #tenant(line: Line<'tenant'>): StoredRecord {
    const id = this.#fresh(this.#tenantIds, 'tenant', line.key)
    const { key } = line
    return { kind: 'tenant', id, key, ...recordFrom(TENANT, line), ...timesOf(line, this.#options.now) }
  }

  #user(line: Line<'user'>): StoredRecord {
    const id = this.#fresh(this.#userIds, 'user', line.key)
    const { key } = line
    return { kind: 'user', id, key, ...recordFrom(USER, line), ...timesOf(line, this.#options.now) }
  }

  #instance(line: Line<'instance'>): StoredRecord {
    const { resource: type, key, is_group: isGroup = false } = line
    const typeId = known(this.#defined!.typeIds, 'resource', type)
    const tenantId = known(this.#tenantIds, 'tenant', line.tenant)
    const name = `${type}:${key}`
    if (this.#instances.has(name)) throw repeated('instance', name)
    const id = this.#options.newId()
    this.#instances.set(name, { id, type, tenantId })
    return {
      kind: 'instance',
      id,
      typeId,
      key,
      tenantId,
      ...recordFrom(INSTANCE, line),
      isGroup,
      ...timesOf(line, this.#options.now),
    }
  }

  #assignment(line: Line<'assignment'>): StoredRecord {
    const userId = known(this.#userIds, 'user', line.user)
    const id = this.#options.newId()
    const life = this.#lifeOf(line)
    const tenantId = line.tenant === undefined ? null : known(this.#tenantIds, 'tenant', line.tenant)
    if (line.resource_instance === undefined) {
      if (tenantId === null) throw invalid('a role is held in a tenant or on an instance; add one of them')
      const roleId = known(this.#defined!.roleIds, 'role', line.role)
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
    const roleId = known(this.#defined!.roleIds, 'role', `${instance.type}#${line.role}`)
    if (tenantId !== null && tenantId !== instance.tenantId) {
      throw invalid(`${line.resource_instance} is not in tenant ${line.tenant}`)
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
    const relation = this.#defined!.relations.get(`${object.type}#${line.relation}`)
    if (!relation) throw unknown('relation', `${object.type}#${line.relation}`)
    if (relation.subjectTypeId !== this.#defined!.typeIds.get(subject.type)) {
      throw invalid(`relation ${line.relation} of ${object.type} does not come from ${subject.type}`)
    }
    if (subject.tenantId !== object.tenantId)
      throw invalid(`${line.subject} and ${line.object} are in different tenants`)
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
      throw invalid(`${JSON.stringify(name)} is not an instance: expected type:key`)
    throw unknown('instance', name)
  }

  #fresh(ids: Map<string, string>, what: string, key: string): string {
    if (ids.has(key)) throw repeated(what, key)
    const id = this.#options.newId()
    ids.set(key, id)
    return id
  }

  /**
   * Times of a fact. A past expiration time is accepted: the fact is deleted like any expired fact of an
   * environment.
   */
  #lifeOf(line: Line<'assignment' | 'tuple'>) {
    return { createdAt: instantOf(line.created_at, this.#options.now), expiresAt: expiresAtIn(line) }
  }
}

/**
 * Parses a line under the rules for request bodies, so that stored values can be traversed and are returned
 * unchanged.
 */
function valueOf(text: string): unknown {
  if (isDeeperThan(text, CONTENT_DEPTH_MAX))
    throw invalid(`must not nest deeper than ${CONTENT_DEPTH_MAX} levels`)
  const value = parsedJson(text)
  if (hasUnpairedSurrogate(text)) throw invalid('must not contain unpaired surrogates')
  if (hasNumberTooLarge(value, text)) throw invalid('must not contain numbers beyond 1.8e308')
  return value
}

/** Describes a kind that does not exist. A long text is cut. */
function shown(kind: unknown): string {
  if (typeof kind === 'string') return JSON.stringify(kind.slice(0, SHOWN_KIND_LENGTH_MAX))
  return kind === undefined ? 'none' : 'a value that is not a string'
}

function rowOf(record: StoredRecord): RowPut {
  return { key: rowKeyOf(record), value: encodeRecord(record) }
}
