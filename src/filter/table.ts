/**
 * The description of a table, from which the request of a plan, the check of a row and the condition of an
 * adapter are derived, so that they cannot disagree (filter.md section 8).
 */
import { FilterError } from './filter-error.ts'
import { COLUMN_TYPES, type ColumnType, NULL_MEANINGS, type NullMeaning } from './tree.ts'

/** How the database stores a column. */
export type ColumnKind =
  | 'text'
  /** A column of the type `uuid` of PostgreSQL. */
  | 'uuid'
  /** Whole numbers whose magnitude is below 2^53, or the decimal text of a key in a whole-number column. */
  | 'integer'
  /** Whole numbers of 64 bits. */
  | 'bigint'
  | 'numeric'
  | 'double'
  /** Single precision. No adapter can compare it exactly. */
  | 'real'
  | 'boolean'
  | 'timestamptz'
  /** A time without a zone, in UTC: `timestamp` of PostgreSQL. */
  | 'timestamp'
  /** `DATETIME` of MySQL, in UTC. */
  | 'datetime'
  /** SQLite: whole milliseconds since 1970. */
  | 'milliseconds'
  | 'date'
  /** An array of PostgreSQL; a JSON array in the other databases. */
  | 'array'

export interface ColumnDescription {
  /** Name of the column in the database. */
  readonly column: string
  /** Name of the value in rows that the application reads. Default: the name of the column. */
  readonly property?: string
  /** Default: `text`, `boolean`, `date` or `array`, by the type. Required for numbers and times. */
  readonly as?: ColumnKind
  /**
   * Texts only. `nondeterministic`: the collation of the column treats different texts as equal (PostgreSQL).
   * `exact`: it compares bytes, which the adapter for Prisma requires except with PostgreSQL.
   */
  readonly collation?: 'nondeterministic' | 'exact'
}

export interface AttributeDescription extends ColumnDescription {
  readonly type: ColumnType
  /** The representation of `NULL` in a check of the row. Default: `sent` (filter.md P7). */
  readonly nulls?: NullMeaning
}

/** A relation whose subjects are in another table. */
export interface JoinDescription {
  /** The other table. */
  readonly table: string
  /** Its column that holds the key of the row. */
  readonly foreignKey: string
  /** Its column that holds the key of the subject. */
  readonly subject: string
  readonly as?: ColumnKind
  readonly collation?: 'nondeterministic' | 'exact'
  /** Name of the list of subjects in rows that the application reads, and of the relation in Prisma. */
  readonly property: string
}

export interface TableDescription {
  /** Key of the resource type. */
  readonly type: string
  readonly key: ColumnDescription
  readonly tenant?: ColumnDescription
  readonly attributes?: Readonly<Record<string, AttributeDescription>>
  readonly relations?: Readonly<Record<string, ColumnDescription | JoinDescription>>
  /** Whether the premises of filter.md P21 are true. */
  readonly tenantsAgree?: boolean
}

/** A field of the filter with its column. */
export interface Field {
  /** Name in the filter, for example `attributes.owner`. */
  readonly name: string
  readonly type: ColumnType
  readonly nulls: NullMeaning
  readonly column: string
  readonly property: string
  readonly as: ColumnKind
  readonly collation: 'default' | 'nondeterministic' | 'exact'
  /** Where the subjects of a relation are, if they are in another table. */
  readonly join: { readonly table: string; readonly foreignKey: string } | null
}

/** A description that has been checked. */
export interface FilterTable {
  readonly type: string
  readonly key: Field
  readonly tenant: Field | null
  /** All fields by their names in the filter. */
  readonly fields: ReadonlyMap<string, Field>
  readonly tenantsAgree: boolean
}

/** A check without the row. The members have the form of a check. */
export interface PlanQuestion {
  readonly user: string | { readonly key: string; readonly attributes?: Readonly<Record<string, unknown>> }
  readonly action: string
  /** Tenant of all rows, if the table has no tenant column. */
  readonly tenant?: string
  /** Attributes that are the same for all rows. */
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly context?: Readonly<Record<string, unknown>>
  /** Maximum number of elements in all lists of the filter. */
  readonly maxIds?: number
}

const KINDS: Readonly<Record<ColumnType, readonly ColumnKind[]>> = {
  string: ['text', 'uuid', 'integer', 'bigint'],
  number: ['integer', 'bigint', 'numeric', 'double', 'real'],
  bool: ['boolean'],
  time: ['timestamptz', 'timestamp', 'datetime', 'text', 'milliseconds'],
  date: ['date', 'text'],
  string_array: ['array'],
  number_array: ['array'],
}
const USUAL_KIND: Partial<Record<ColumnType, ColumnKind>> = {
  string: 'text',
  bool: 'boolean',
  date: 'date',
  string_array: 'array',
  number_array: 'array',
}

/** Checks a description. Throws `INVALID_TABLE`. */
export function table(description: TableDescription): FilterTable {
  const { type, attributes = {}, relations = {}, tenantsAgree = false } = description
  if (!isName(type)) throw invalid('type: expected the key of a resource type', null)
  const key = plainField('key', 'string', 'never', description.key)
  const tenant = description.tenant ? plainField('tenant', 'string', 'never', description.tenant) : null
  const fields = [key, ...(tenant ? [tenant] : [])]
  for (const [name, attribute] of Object.entries(attributes)) {
    fields.push(plainField(`attributes.${name}`, attribute.type, attribute.nulls ?? 'sent', attribute))
  }
  for (const [name, relation] of Object.entries(relations)) {
    fields.push(relationField(`relations.${name}`, relation))
  }
  return { type, key, tenant, fields: new Map(fields.map(field => [field.name, field])), tenantsAgree }
}

function relationField(name: string, relation: ColumnDescription | JoinDescription): Field {
  if (!('table' in relation)) return plainField(name, 'string', 'sent', relation)
  const { table: other, foreignKey, subject, property } = relation
  if (!isName(other) || !isName(foreignKey) || !isName(property)) {
    throw invalid(`${name}: expected table, foreignKey, subject and property to be names`, name)
  }
  const field = plainField(name, 'string', 'sent', { ...relation, column: subject })
  return { ...field, join: { table: other, foreignKey } }
}

function plainField(
  name: string,
  type: ColumnType,
  nulls: Field['nulls'],
  { column, property = column, as = USUAL_KIND[type], collation = undefined }: ColumnDescription,
): Field {
  if (!COLUMN_TYPES.includes(type)) {
    throw invalid(`${name}: expected type to be one of ${COLUMN_TYPES.join(', ')}, got ${String(type)}`, name)
  }
  if (!NULL_MEANINGS.includes(nulls)) {
    throw invalid(`${name}: expected nulls to be sent, missing or never, got ${String(nulls)}`, name)
  }
  if (!isName(column) || !isName(property) || isReserved(column)) {
    throw invalid(`${name}: expected column to be a name that does not begin with verdict_`, name)
  }
  if (as === undefined || !KINDS[type].includes(as)) {
    const message = `${name}: expected as to be one of ${KINDS[type].join(', ')}, got ${String(as)}`
    throw invalid(message, name)
  }
  if (collation !== undefined && collation !== 'exact' && collation !== 'nondeterministic') {
    throw invalid(`${name}: expected collation to be exact or nondeterministic`, name)
  }
  return { name, type, nulls, column, property, as, collation: collation ?? 'default', join: null }
}

/** Names that conditions use for subqueries. A column of this name could be read from a subquery. */
export function isReserved(name: string): boolean {
  return /^verdict_/i.test(name)
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0')
}

function invalid(message: string, field: string | null): FilterError {
  return new FilterError('INVALID_TABLE', message, { field })
}

/** The body of `POST /allowed/plan` for a table and a question. */
export function planRequest(described: FilterTable, question: PlanQuestion): Record<string, unknown> {
  const attributes = new Map<string, { type: ColumnType; nulls: Field['nulls'] }>()
  const relations: string[] = []
  for (const { name, type, nulls } of described.fields.values()) {
    if (name.startsWith('attributes.')) attributes.set(name.slice('attributes.'.length), { type, nulls })
    if (name.startsWith('relations.')) relations.push(name.slice('relations.'.length))
  }
  const { user, action, tenant, attributes: constants, context, maxIds } = question
  return {
    user: typeof user === 'string' ? { key: user } : user,
    action,
    resource: {
      type: described.type,
      ...(tenant !== undefined && { tenant }),
      ...(constants && { attributes: constants }),
    },
    ...(context && { context }),
    columns: {
      tenant: described.tenant !== null,
      // An attribute can be named `__proto__`.
      attributes: Object.fromEntries(attributes),
      relations,
    },
    tenants_agree: described.tenantsAgree,
    ...(maxIds !== undefined && { max_ids: maxIds }),
  }
}
