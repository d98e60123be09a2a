/**
 * Rewrites schemas to forms that client generators can convert to types. If there are two ways to describe
 * the same values, the result uses the one that all generators support. A function that does not apply to a
 * schema returns it unchanged.
 */
import { assert } from '#model/assert.ts'

export type Json = Readonly<Record<string, unknown>>

const NULL = 'null'

/** Converts a union of constant strings to one enumeration. */
export function withEnumeration(schema: Json): Json {
  const { anyOf, ...rest } = schema
  if (!isSchemas(anyOf) || anyOf.length < 2) return schema
  const values = anyOf.map(constantOf)
  if (!values.every(value => typeof value === 'string')) return schema
  return { type: 'string', enum: values, ...rest }
}

/**
 * Converts a constant string to an enumeration with one value. For numbers and booleans, only the type
 * remains.
 */
export function withoutConstant(schema: Json): Json {
  if (!('const' in schema)) return schema
  const { const: value, ...rest } = schema
  return typeof value === 'string' ? { ...rest, type: 'string', enum: [value] } : rest
}

/** Value of an enumeration that contains a single string. */
function constantOf(schema: Json): unknown {
  const { enum: values } = schema
  return Array.isArray(values) && values.length === 1 ? values[0] : undefined
}

/** Adds the type to an enumeration of strings. */
export function withType(schema: Json): Json {
  const values = schema['enum']
  if (!Array.isArray(values) || !values.every(value => typeof value === 'string')) return schema
  return { type: 'string', ...schema }
}

/**
 * Rewrites a nullable schema so that `null` is one of its types. If the schema is a reference to an object,
 * null remains an alternative. A reference to any other schema is replaced by that schema. `resolve` returns
 * the schema for a reference.
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
