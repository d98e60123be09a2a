/**
 * Form of a declaration: the fields of a kind of entity, one row per field. The record type, the stored form,
 * the schemas of requests, responses, export lines and model files, and the conversions between records and
 * bodies follow from the rows. `CONTRIBUTING.md` describes how to add a field.
 */
import { type Static, type TSchema, Type } from 'typebox'
import { AttributeMap, nullable, optional } from '#model/wire/common-fields.ts'

/** A field. Its name on the wire is its name in the declaration. */
export interface DeclaredField {
  /** Name in records. */
  readonly record: string
  /** Schema in requests that create an entity. */
  readonly create: TSchema
  /** Schema in requests that change an entity. */
  readonly update: TSchema
  /** Schema in responses and change events. */
  readonly shown: TSchema
  /** Schema in lines of exports. */
  readonly line: TSchema
  /** Schema in model files. */
  readonly file: TSchema
  /** Value of a field that a request omits or clears; undefined for a required field. */
  readonly absent: unknown
  /** Whether the value is stored as JSON text, because callers choose the names of its members. */
  readonly isJson: boolean
  /** Whether the search of lists examines the field. */
  readonly isSearched: boolean
}

/**
 * Declared fields in stored order. A new field is the last one and nullable, because older rows do not
 * contain it.
 */
export type DeclaredFields = Readonly<Record<string, DeclaredField>>

interface Options<Sent, File> {
  /** Schema of the value in requests, if it differs from that in responses. */
  readonly sent?: Sent
  /** Schema of the value in model files, if it differs from that in requests. */
  readonly file?: File
  readonly isSearched?: boolean
}

/** A field without which an entity cannot be created. */
export function requiredField<const Name extends string, Value extends TSchema>(
  record: Name,
  value: Value,
  { isSearched = false }: Options<never, never> = {},
) {
  const changed = Type.Optional(value)
  const schemas = { create: value, update: changed, shown: value, line: value, file: changed }
  return { record, ...schemas, absent: undefined, isJson: isJson(value), isSearched }
}

/** A field that is null if it is not specified. */
export function nullableField<
  const Name extends string,
  Value extends TSchema,
  Sent extends TSchema = Value,
  File extends TSchema = Sent,
>(record: Name, value: Value, options: Options<Sent, File> = {}) {
  const sent = optional((options.sent ?? value) as Sent)
  const schemas = { create: sent, update: sent, shown: nullable(value), line: optional(value) }
  const file = optional((options.file ?? options.sent ?? value) as File)
  return {
    record,
    ...schemas,
    file,
    absent: null,
    isJson: isJson(value),
    isSearched: options.isSearched ?? false,
  }
}

/** A field that has this value if it is not specified. */
export function defaultedField<
  const Name extends string,
  Value extends TSchema,
  Sent extends TSchema = Value,
>(record: Name, value: Value, absent: Static<Value>, options: Pick<Options<Sent, never>, 'sent'> = {}) {
  const [sent, known] = [optional((options.sent ?? value) as Sent), Type.Optional(value)]
  const schemas = { create: sent, update: sent, shown: value, line: known, file: known }
  return { record, ...schemas, absent, isJson: isJson(value), isSearched: false }
}

function isJson(value: TSchema): boolean {
  return value === AttributeMap
}

/** The schemas of the fields in bodies of this purpose. */
export function schemasOf<
  D extends DeclaredFields,
  Purpose extends 'create' | 'update' | 'shown' | 'line' | 'file',
>(fields: D, purpose: Purpose) {
  const schemas = Object.entries(fields).map(([name, field]) => [name, field[purpose]])
  return Object.fromEntries(schemas) as { [Name in keyof D]: D[Name][Purpose] }
}

/** The fields in records. */
export type RecordFields<D extends DeclaredFields> = {
  readonly [Name in keyof D as D[Name]['record']]: Unchanging<Static<D[Name]['shown']>>
}
type Unchanging<Value> = Value extends readonly (infer Item)[] ? readonly Item[] : Value

/** The fields in responses and change events. */
export type ShownFields<D extends DeclaredFields> = { [Name in keyof D]: Static<D[Name]['shown']> }

/** The fields in a body that creates or changes an entity, or in a line of an export. */
type SentFields<D extends DeclaredFields> = {
  readonly [Name in keyof D]?: Static<D[Name]['create']> | undefined
}

type Values = Readonly<Record<string, unknown>>

/** The names of the fields in records, in stored order. */
export function recordNames<D extends DeclaredFields>(fields: D): (keyof RecordFields<D>)[] {
  return Object.values(fields).map(({ record }) => record) as (keyof RecordFields<D>)[]
}

export function presented<D extends DeclaredFields>(fields: D, record: RecordFields<D>): ShownFields<D> {
  const body: Record<string, unknown> = {}
  for (const name in fields) body[name] = (record as Values)[fields[name]!.record]
  return body as ShownFields<D>
}

/** The fields of a new record. The body has been validated, so it contains the required fields. */
export function recordFrom<D extends DeclaredFields>(fields: D, body: SentFields<D>): RecordFields<D> {
  const record: Record<string, unknown> = {}
  for (const name in fields) {
    const { record: stored, absent } = fields[name]!
    record[stored] = body[name] ?? absent
  }
  return record as RecordFields<D>
}

/** The fields of a changed record. A field in the body replaces the whole old value; null clears it. */
export function updated<D extends DeclaredFields>(
  fields: D,
  record: RecordFields<D>,
  body: SentFields<D>,
): RecordFields<D> {
  const changed: Record<string, unknown> = {}
  for (const name in fields) {
    const { record: stored, absent } = fields[name]!
    changed[stored] = body[name] === undefined ? (record as Values)[stored] : (body[name] ?? absent)
  }
  return changed as RecordFields<D>
}

/** The texts that searches examine: the key and the searched fields. */
export function searchedTexts<D extends DeclaredFields>(
  fields: D,
  record: RecordFields<D> & { readonly key: string },
): (string | null)[] {
  const texts: (string | null)[] = [record.key]
  for (const name in fields) {
    const { isSearched, record: stored } = fields[name]!
    if (isSearched) texts.push((record as Values)[stored] as string | null)
  }
  return texts
}

/**
 * Returns a function that converts a stored record to the members of a line of an export. In the stored form,
 * values of callers are JSON text already.
 */
export function lineWriter(fields: DeclaredFields): (stored: object) => string {
  const members = Object.entries(fields).map(([name, { record, isJson: isText }], index) => ({
    head: `${index === 0 ? '' : ','}"${name}":`,
    record,
    isText,
  }))
  return stored => {
    let text = ''
    for (const { head, record, isText } of members) {
      const value = (stored as Values)[record]
      text += head + (isText ? String(value) : JSON.stringify(value))
    }
    return text
  }
}
