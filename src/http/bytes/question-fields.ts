/**
 * Fields that the query readers know, for each dialect. The fields are derived from the schemas
 * (`model/wire/decisions/decision.ts`, `model/wire/decisions/access.ts`). This file defines which fields are
 * texts of the query and which fields conditions can read. The readers skip all other fields as JSON.
 *
 * A schema must not contain requirements that the readers do not check. An assertion verifies this when the
 * module is loaded.
 */
import type { TSchema } from 'typebox'
import { EvaluationRequest, EvaluationsRequest } from '#model/wire/decisions/access.ts'
import { AllowedQuery } from '#model/wire/decisions/decision.ts'
import { assert } from '#model/assert.ts'

/** Names of the texts that make up a query. */
export const TEXTS = ['user', 'subjectType', 'action', 'type', 'key', 'tenant'] as const
export type TextName = (typeof TEXTS)[number]

/** Bits for the parts of a query that a batch item can omit and inherit. */
export const SUBJECT_PART = 1
export const ACTION_PART = 2
export const RESOURCE_PART = 4

export type QuestionField =
  /** A text of the query, which must be a nonempty string. */
  | { readonly kind: 'text'; readonly text: TextName; readonly isNullable: boolean }
  /** A text if the value is a string. Any other value is an attribute. */
  | { readonly kind: 'text-or-any'; readonly text: TextName }
  /**
   * A value of the type that the schema requires. `isAttribute`: whether conditions can read the value. If
   * not, the value has no effect.
   */
  | {
      readonly kind: 'string-or-null' | 'object-or-null'
      readonly isAttribute: boolean
      /** Index of this field in `ATTRIBUTE_PARTS`, or -1. */
      readonly attributes: number
    }
  /**
   * An object that contains texts. `part`: bit that is set if the object is present; 0 if its presence is not
   * recorded.
   */
  | {
      readonly kind: 'object'
      readonly fields: ObjectFields
      readonly part: number
      readonly isNullable: boolean
    }
  /** The items of a batch, which `BatchReader` reads. */
  | { readonly kind: 'items' }
  /**
   * The evaluation semantic of a batch. The reader accepts it only if it is absent or requests the evaluation
   * of every item.
   */
  | { readonly kind: 'execute-all' }

export interface ObjectFields {
  readonly byName: readonly (readonly [name: string, field: QuestionField])[]
  /** Bit mask of the required fields. The bit of a field is its index in `byName`. */
  readonly required: number
  /** Whether unknown members are attributes. If not, they have no effect. */
  readonly areOthersAttributes: boolean
}

/** Maps the path of a field in the body to the name of its text. */
type TextPaths = Readonly<Record<string, TextName>>

const NATIVE_TEXTS: TextPaths = {
  'user.key': 'user',
  action: 'action',
  'resource.type': 'type',
  'resource.key': 'key',
  'resource.tenant': 'tenant',
}

const ACCESS_TEXTS: TextPaths = {
  'subject.type': 'subjectType',
  'subject.id': 'user',
  'action.name': 'action',
  'resource.type': 'type',
  'resource.id': 'key',
  'resource.properties.tenant': 'tenant',
}

/** Paths of the fields that conditions can read, apart from the texts (conditions.md 4.1 and 4.2). */
const ATTRIBUTES: ReadonlySet<string> = new Set([
  'user.email',
  'user.first_name',
  'user.last_name',
  'user.firstName',
  'user.lastName',
  'user.attributes',
  'resource.attributes',
  'resource.context',
  'context',
  'subject.properties',
  'action.properties',
  'resource.properties',
])
/**
 * Fields of a native query whose whole value conditions can read as attributes. This applies only if no other
 * field of the query also provides attributes.
 */
export const ATTRIBUTE_PARTS = ['user.attributes', 'resource.attributes', 'context'] as const
/**
 * Path of the only text that can be empty according to the schema. If it is empty, the readers leave the body
 * to the fallback parser.
 */
const MAY_BE_EMPTY = 'resource.key'
/** Paths of fields that have no effect. */
const IGNORED: ReadonlySet<string> = new Set(['sdk'])

const ACCESS_PARTS: Readonly<Record<string, number>> = {
  subject: SUBJECT_PART,
  action: ACTION_PART,
  resource: RESOURCE_PART,
}
/**
 * Parts of an item that can be incomplete, because the defaults provide the missing values. The reader checks
 * for missing values when the defaults are known.
 */
const COMPLETED = SUBJECT_PART | RESOURCE_PART

export const NO_FIELDS = fields({}, [], false)

/** Fields of an `AllowedQuery`. */
export const QUESTION_FIELDS = fieldsOf(AllowedQuery, '', nativeField)

const MEMBERS = Object.fromEntries(
  Object.entries(EvaluationRequest.properties).map(([name, schema]) => [name, accessMember(name, schema)]),
)

/** Fields of an item in an AuthZEN batch. No field is required, because an item can inherit it. */
export const ITEM_FIELDS = fields(MEMBERS, [], false)

/** Fields of the batch itself. Its members are the defaults for the items. */
export const BATCH_FIELDS = fields(
  Object.fromEntries(
    Object.entries(EvaluationsRequest.properties).map(([name, schema]) => [
      name,
      MEMBERS[name] ?? batchField(name, schema),
    ]),
  ),
  ['evaluations'],
  false,
)

function nativeField(path: string, schema: TSchema): QuestionField {
  const { inner, isNullable } = shapeOf(schema)
  const properties = propertiesOf(inner)
  if (properties === null) return plainField(path, schema, NATIVE_TEXTS)
  return { kind: 'object', fields: fieldsOf(inner, `${path}.`, nativeField), part: 0, isNullable }
}

/** A member of an evaluation that can be inherited. If its value is null, it counts as absent. */
function accessMember(name: string, schema: TSchema): QuestionField {
  const { inner } = shapeOf(schema)
  const part = ACCESS_PARTS[name]
  if (part === undefined) return plainField(name, schema, ACCESS_TEXTS)
  const isCompleted = (part & COMPLETED) !== 0
  const members = fieldsOf(inner, `${name}.`, (path, member) => {
    const field = accessField(path, member)
    // The type is the only text that a default completes.
    return isCompleted && path === `${name}.type` ? ({ ...field, isNullable: true } as QuestionField) : field
  })
  return {
    kind: 'object',
    fields: isCompleted ? { ...members, required: 0 } : members,
    part,
    isNullable: true,
  }
}

function accessField(path: string, schema: TSchema): QuestionField {
  const texts = Object.entries(ACCESS_TEXTS).filter(([text]) => text.startsWith(`${path}.`))
  if (texts.length === 0) return plainField(path, schema, ACCESS_TEXTS)
  // Texts that are also attributes can have a value of any type.
  const within = texts.map(([text, name]): [string, QuestionField] => [
    text.slice(path.length + 1),
    { kind: 'text-or-any', text: name },
  ])
  const { isNullable } = shapeOf(schema)
  const members = fields(Object.fromEntries(within), [], ATTRIBUTES.has(path))
  return { kind: 'object', fields: members, part: 0, isNullable }
}

function batchField(name: string, schema: TSchema): QuestionField {
  if (name === 'evaluations') return { kind: 'items' }
  const { inner, isNullable } = shapeOf(schema)
  const options = fieldsOf(inner, '', () => ({ kind: 'execute-all' }))
  return { kind: 'object', fields: options, part: 0, isNullable }
}

/** Field for a text of the query, or for a value that contains no texts. */
function plainField(path: string, schema: TSchema, texts: TextPaths): QuestionField {
  const { inner, isNullable } = shapeOf(schema)
  const text = texts[path]
  if (text !== undefined) {
    const isText =
      typeOf(inner) === 'string' && (Reflect.get(inner, 'minLength') === 1 || path === MAY_BE_EMPTY)
    assert(isText, `${path} is a text`)
    return { kind: 'text', text, isNullable }
  }
  assert(isNullable, `${path} can be null, as each skipped field`)
  const isPlain = !('minLength' in inner || 'pattern' in inner || 'enum' in inner)
  assert(isPlain, `${path} is skipped and not validated`)
  const isAttribute = ATTRIBUTES.has(path)
  assert(isAttribute || IGNORED.has(path), `${path} is listed as readable or not readable by conditions`)
  const attributes = texts === NATIVE_TEXTS ? (ATTRIBUTE_PARTS as readonly string[]).indexOf(path) : -1
  return { kind: typeOf(inner) === 'object' ? 'object-or-null' : 'string-or-null', isAttribute, attributes }
}

function fieldsOf(
  schema: TSchema,
  prefix: string,
  fieldOf: (path: string, schema: TSchema) => QuestionField,
): ObjectFields {
  const properties = propertiesOf(schema)
  assert(properties !== null, 'only an object has fields')
  const list = Object.entries(properties).map(
    ([name, member]) => [name, fieldOf(prefix + name, member)] as const,
  )
  const required = (Reflect.get(schema, 'required') as string[] | undefined) ?? []
  return fields(Object.fromEntries(list), required, false)
}

/** Splits a schema into its type and whether null is allowed. `optional` adds the null type. */
function shapeOf(schema: TSchema): { readonly inner: TSchema; readonly isNullable: boolean } {
  const [inner, ...others] = (Reflect.get(schema, 'anyOf') as TSchema[] | undefined) ?? [schema]
  assert(
    inner !== undefined && others.every(other => typeOf(other) === 'null'),
    'a field has one type, or null',
  )
  return { inner, isNullable: others.length > 0 }
}

function typeOf(schema: TSchema): unknown {
  return Reflect.get(schema, 'type')
}

/** Properties of an object schema. Null if the schema is not an object or if clients define its members. */
function propertiesOf(schema: TSchema): Readonly<Record<string, TSchema>> | null {
  return (Reflect.get(schema, 'properties') as Record<string, TSchema> | undefined) ?? null
}

function fields(
  byName: Readonly<Record<string, QuestionField>>,
  required: readonly string[],
  areOthersAttributes: boolean,
): ObjectFields {
  const list = Object.entries(byName)
  const bits = list.map(([name], place) => (required.includes(name) ? 1 << place : 0))
  return { byName: list, required: bits.reduce((sum, bit) => sum | bit, 0), areOthersAttributes }
}
