/**
 * The fields that a reader of questions knows, in each dialect: those of the schemas (`model/wire/decision.ts`,
 * `model/wire/access.ts`), and which of them hold the texts of the question. Everything else is skipped as JSON.
 */

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
  /** A text if it is a string. Any other value is an attribute that is not read. */
  | { readonly kind: 'text-or-any'; readonly text: TextName }
  /** A value that the question does not depend on, of the kind that the schema asks for. */
  | { readonly kind: 'string-or-null' }
  | { readonly kind: 'object-or-null' }
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
}

const IGNORED_STRING: Field = { kind: 'string-or-null' }
const IGNORED_OBJECT: Field = { kind: 'object-or-null' }

export const NO_FIELDS = fields({}, [])

const USER_FIELDS = fields(
  {
    key: { kind: 'text', text: 'user', isNullable: false },
    email: IGNORED_STRING,
    first_name: IGNORED_STRING,
    last_name: IGNORED_STRING,
    firstName: IGNORED_STRING,
    lastName: IGNORED_STRING,
    attributes: IGNORED_OBJECT,
  },
  ['key'],
)

const NATIVE_RESOURCE_FIELDS = fields(
  {
    type: { kind: 'text', text: 'type', isNullable: false },
    key: { kind: 'text', text: 'key', isNullable: true },
    tenant: { kind: 'text', text: 'tenant', isNullable: true },
    attributes: IGNORED_OBJECT,
    context: IGNORED_OBJECT,
  },
  ['type'],
)

/** The fields of an `AllowedQuery`. */
export const QUESTION_FIELDS = fields(
  {
    user: { kind: 'object', fields: USER_FIELDS, part: 0, isNullable: false },
    action: { kind: 'text', text: 'action', isNullable: false },
    resource: { kind: 'object', fields: NATIVE_RESOURCE_FIELDS, part: 0, isNullable: false },
    context: IGNORED_OBJECT,
    sdk: IGNORED_STRING,
  },
  ['user', 'action', 'resource'],
)

const SUBJECT_FIELDS = fields(
  {
    type: { kind: 'text', text: 'subjectType', isNullable: true },
    id: { kind: 'text', text: 'user', isNullable: false },
    properties: IGNORED_OBJECT,
  },
  [],
)

const ACTION_FIELDS = fields(
  { name: { kind: 'text', text: 'action', isNullable: false }, properties: IGNORED_OBJECT },
  ['name'],
)

const PROPERTIES_FIELDS = fields({ tenant: { kind: 'text-or-any', text: 'tenant' } }, [])

const RESOURCE_FIELDS = fields(
  {
    type: { kind: 'text', text: 'type', isNullable: true },
    id: { kind: 'text', text: 'key', isNullable: true },
    properties: { kind: 'object', fields: PROPERTIES_FIELDS, part: 0, isNullable: true },
  },
  [],
)

const MEMBERS: Readonly<Record<string, Field>> = {
  subject: { kind: 'object', fields: SUBJECT_FIELDS, part: SUBJECT_PART, isNullable: true },
  action: { kind: 'object', fields: ACTION_FIELDS, part: ACTION_PART, isNullable: true },
  resource: { kind: 'object', fields: RESOURCE_FIELDS, part: RESOURCE_PART, isNullable: true },
  context: IGNORED_OBJECT,
}

/** The fields of an item of an AuthZEN batch. It inherits what it lacks, so nothing is required here. */
export const ITEM_FIELDS = fields(MEMBERS, [])

const OPTIONS_FIELDS = fields({ evaluations_semantic: { kind: 'execute-all' } }, [])

/** The fields of the batch itself. */
export const BATCH_FIELDS = fields(
  {
    ...MEMBERS,
    evaluations: { kind: 'items' },
    options: { kind: 'object', fields: OPTIONS_FIELDS, part: 0, isNullable: true },
  },
  ['evaluations'],
)

function fields(byName: Readonly<Record<string, Field>>, required: readonly string[]): Fields {
  const list = Object.entries(byName)
  const bits = list.map(([name], place) => (required.includes(name) ? 1 << place : 0))
  return { byName: list, required: bits.reduce((sum, bit) => sum | bit, 0) }
}
