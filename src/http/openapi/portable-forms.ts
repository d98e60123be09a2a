/**
 * The forms of schemas from which generators of clients make types: of two ways to write the same values, the one that all of
 * them know. Each function leaves a schema of another form as it is.
 */
import { assert } from '#model/assert.ts'

export type Json = Readonly<Record<string, unknown>>

const NULL = 'null'

/** A choice between texts is one enumeration. */
export function withEnumeration(schema: Json): Json {
  const { anyOf, ...rest } = schema
  if (!isSchemas(anyOf) || anyOf.length < 2) return schema
  const values = anyOf.map(constantOf)
  if (!values.every(value => typeof value === 'string')) return schema
  return { type: 'string', enum: values, ...rest }
}

/** One text that is the only one there may be is an enumeration, too. Of numbers and booleans the kind alone is told. */
export function withoutConstant(schema: Json): Json {
  if (!('const' in schema)) return schema
  const { const: value, ...rest } = schema
  return typeof value === 'string' ? { ...rest, type: 'string', enum: [value] } : rest
}

/** The text of an enumeration of one. */
function constantOf(schema: Json): unknown {
  const { enum: values } = schema
  return Array.isArray(values) && values.length === 1 ? values[0] : undefined
}

/** An enumeration says of which type its values are. */
export function withType(schema: Json): Json {
  const values = schema['enum']
  if (!Array.isArray(values) || !values.every(value => typeof value === 'string')) return schema
  return { type: 'string', ...schema }
}

/**
 * What may be null has `null` among its types. A reference to what is no object is written out for that; beside a reference to an
 * object null stands as an alternative. `resolve` looks a reference up.
 */
export function withNullType(schema: Json, resolve: (reference: string) => Json): Json {
  const { anyOf, ...rest } = schema
  if (!isSchemas(anyOf) || anyOf.length !== 2 || anyOf[1]!['type'] !== NULL) return schema
  const [written] = anyOf
  const reference = written!['$ref']
  const value = typeof reference === 'string' ? resolve(reference) : written!
  const { type, enum: values } = value
  if (typeof type !== 'string' || 'properties' in value) return schema
  assert(values === undefined || Array.isArray(values), 'an enumeration is a list')
  return { ...value, type: [type, NULL], ...(values && { enum: [...values, null] }), ...rest }
}

function isSchemas(value: unknown): value is readonly Json[] {
  return Array.isArray(value)
}
