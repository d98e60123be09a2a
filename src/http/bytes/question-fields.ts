/**
 * The fields that a reader of questions knows, in each dialect. They are computed from the schemas (`model/wire/decision.ts`,
 * `model/wire/access.ts`). Said here is which of them are texts of the question, and which conditions may ask for. Everything else is
 * skipped as JSON.
 *
 * A schema may ask for nothing here that a reader does not check: what it would have to, it says when it is loaded.
 */
import type { TSchema } from 'typebox'
import { EvaluationRequest, EvaluationsRequest } from '#model/wire/access.ts'
import { AllowedQuery } from '#model/wire/decision.ts'
import { assert } from '#model/assert.ts'

/** The texts of a question. */
export const TEXTS = ['user', 'subjectType', 'action', 'type', 'key', 'tenant'] as const
export type TextName = (typeof TEXTS)[number]

/** Parts of a question that may be left out and inherited. */
export const SUBJECT_PART = 1
export const ACTION_PART = 2
export const RESOURCE_PART = 4

export type Field =
  /** A text of the question: a string that is not empty. */
  | { readonly kind: 'text'; readonly text: TextName; readonly isNullable: boolean }
  /** A text if it is a string. Any other value is an attribute. */
  | { readonly kind: 'text-or-any'; readonly text: TextName }
  /** A value of the kind that the schema asks for. `isAttribute`: conditions may ask for it; else nothing depends on it. */
  | {
      readonly kind: 'string-or-null' | 'object-or-null'
      readonly isAttribute: boolean
      /** Its place among `ATTRIBUTE_PARTS`; -1: it is none of them. */
      readonly attributes: number
    }
  /** An object with texts in it. `part` is noted when there is one; 0: nothing is noted. */
  | { readonly kind: 'object'; readonly fields: Fields; readonly part: number; readonly isNullable: boolean }
  /** The items of a batch, which the reader of the batch reads. */
  | { readonly kind: 'items' }
  /** The semantic of a batch: absent, or the one that answers every item. */
  | { readonly kind: 'execute-all' }

export interface Fields {
  readonly byName: readonly (readonly [name: string, field: Field])[]
  /** One bit for each field that is required, by its place in the list. */
  readonly required: number
  /** Whether members of other names are attributes. Else nothing depends on them. */
  readonly areOthersAttributes: boolean
}

/** Which fields are texts, by their paths in the body. */
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

/** What conditions may ask for beside the texts (conditions.md 4.1 and 4.2), by paths. */
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
/** Of a native question those that conditions read as they stand, unless other fields say more of the same. */
export const ATTRIBUTE_PARTS = ['user.attributes', 'resource.attributes', 'context'] as const
/** A text that may be empty. A reader leaves such a body to the parser. */
const MAY_BE_EMPTY = 'resource.key'
/** What nothing depends on. */
const IGNORED: ReadonlySet<string> = new Set(['sdk'])

const ACCESS_PARTS: Readonly<Record<string, number>> = {
  subject: SUBJECT_PART,
  action: ACTION_PART,
  resource: RESOURCE_PART,
}
/** Of these an item may lack anything; what it lacks is found out when it is known what it inherits. */
const COMPLETED = SUBJECT_PART | RESOURCE_PART

export const NO_FIELDS = fields({}, [], false)

/** The fields of an `AllowedQuery`. */
export const QUESTION_FIELDS = fieldsOf(AllowedQuery, '', nativeField)

const MEMBERS = Object.fromEntries(
  Object.entries(EvaluationRequest.properties).map(([name, schema]) => [name, accessMember(name, schema)]),
)

/** The fields of an item of an AuthZEN batch. It inherits what it lacks, so nothing is required here. */
export const ITEM_FIELDS = fields(MEMBERS, [], false)

/** The fields of the batch itself. Its members are those that items inherit. */
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

function nativeField(path: string, schema: TSchema): Field {
  const { inner, isNullable } = shapeOf(schema)
  const properties = propertiesOf(inner)
  if (properties === null) return plainField(path, schema, NATIVE_TEXTS)
  return { kind: 'object', fields: fieldsOf(inner, `${path}.`, nativeField), part: 0, isNullable }
}

/** A member of an evaluation that may be inherited, so that null stands for its absence. */
function accessMember(name: string, schema: TSchema): Field {
  const { inner } = shapeOf(schema)
  const part = ACCESS_PARTS[name]
  if (part === undefined) return plainField(name, schema, ACCESS_TEXTS)
  const isCompleted = (part & COMPLETED) !== 0
  const members = fieldsOf(inner, `${name}.`, (path, member) => {
    const field = accessField(path, member)
    // The one text that a default completes.
    return isCompleted && path === `${name}.type` ? ({ ...field, isNullable: true } as Field) : field
  })
  return {
    kind: 'object',
    fields: isCompleted ? { ...members, required: 0 } : members,
    part,
    isNullable: true,
  }
}

function accessField(path: string, schema: TSchema): Field {
  const texts = Object.entries(ACCESS_TEXTS).filter(([text]) => text.startsWith(`${path}.`))
  if (texts.length === 0) return plainField(path, schema, ACCESS_TEXTS)
  // Texts among attributes, which may be anything.
  const within = texts.map(([text, name]): [string, Field] => [
    text.slice(path.length + 1),
    { kind: 'text-or-any', text: name },
  ])
  const { isNullable } = shapeOf(schema)
  const members = fields(Object.fromEntries(within), [], ATTRIBUTES.has(path))
  return { kind: 'object', fields: members, part: 0, isNullable }
}

function batchField(name: string, schema: TSchema): Field {
  if (name === 'evaluations') return { kind: 'items' }
  const { inner, isNullable } = shapeOf(schema)
  const options = fieldsOf(inner, '', () => ({ kind: 'execute-all' }))
  return { kind: 'object', fields: options, part: 0, isNullable }
}

/** A text of the question, or a value that it does not depend on. */
function plainField(path: string, schema: TSchema, texts: TextPaths): Field {
  const { inner, isNullable } = shapeOf(schema)
  const text = texts[path]
  if (text !== undefined) {
    const isText =
      typeOf(inner) === 'string' && (Reflect.get(inner, 'minLength') === 1 || path === MAY_BE_EMPTY)
    assert(isText, `${path} is a text`)
    return { kind: 'text', text, isNullable }
  }
  assert(isNullable, `${path} may be null, as all that is skipped`)
  const isPlain = !('minLength' in inner || 'pattern' in inner || 'enum' in inner)
  assert(isPlain, `${path} is skipped, and nothing of it is checked`)
  const isAttribute = ATTRIBUTES.has(path)
  assert(isAttribute || IGNORED.has(path), `of ${path} it is said whether conditions may ask for it`)
  const attributes = texts === NATIVE_TEXTS ? (ATTRIBUTE_PARTS as readonly string[]).indexOf(path) : -1
  return { kind: typeOf(inner) === 'object' ? 'object-or-null' : 'string-or-null', isAttribute, attributes }
}

function fieldsOf(
  schema: TSchema,
  prefix: string,
  fieldOf: (path: string, schema: TSchema) => Field,
): Fields {
  const properties = propertiesOf(schema)
  assert(properties !== null, 'only an object has fields')
  const list = Object.entries(properties).map(
    ([name, member]) => [name, fieldOf(prefix + name, member)] as const,
  )
  const required = (Reflect.get(schema, 'required') as string[] | undefined) ?? []
  return fields(Object.fromEntries(list), required, false)
}

/** A schema without the null that `optional` adds to it. */
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

/** `null`: an object whose members are callers' own, or none. */
function propertiesOf(schema: TSchema): Readonly<Record<string, TSchema>> | null {
  return (Reflect.get(schema, 'properties') as Record<string, TSchema> | undefined) ?? null
}

function fields(
  byName: Readonly<Record<string, Field>>,
  required: readonly string[],
  areOthersAttributes: boolean,
): Fields {
  const list = Object.entries(byName)
  const bits = list.map(([name], place) => (required.includes(name) ? 1 << place : 0))
  return { byName: list, required: bits.reduce((sum, bit) => sum | bit, 0), areOthersAttributes }
}
