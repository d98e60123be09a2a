/**
 * The schemas of an OpenAPI document, from those that check requests. Whatever has a name becomes a component on its
 * first use and is referred to from then on.
 *
 * The library's schemas are JSON Schema already, except that it writes a map of anything as a pattern that matches
 * anything, an enumeration without its type, and that making a property optional copies the property's schema.
 */
import type { TSchema } from 'typebox'

export type Json = Readonly<Record<string, unknown>>

/** Keywords whose value is a map of schemas, a list of schemas, a schema. */
const SCHEMA_MAPS = ['properties', 'patternProperties']
const SCHEMA_LISTS = ['anyOf', 'allOf', 'oneOf', 'prefixItems']
const SCHEMA_VALUES = ['items', 'additionalProperties', 'not']
const ANY_KEY = '^.*$'

export class SchemaComponents {
  readonly #names: ReadonlyMap<object, string>
  /** By text, where that is no other named schema's as well. */
  readonly #namesByText = new Map<string, string | null>()
  readonly #components = new Map<string, unknown>()

  constructor(names: ReadonlyMap<object, string>) {
    this.#names = names
    for (const [schema, name] of names) {
      const text = JSON.stringify(schema)
      this.#namesByText.set(text, this.#namesByText.has(text) ? null : name)
    }
  }

  /** A reference for a named schema, the schema itself otherwise. */
  refer(schema: TSchema): unknown {
    return this.#refer(schema)
  }

  /** All schemas that were referred to so far, by name. */
  all(): Json {
    return Object.fromEntries([...this.#components].toSorted(([left], [right]) => (left < right ? -1 : 1)))
  }

  #refer(schema: unknown): unknown {
    if (typeof schema !== 'object' || schema === null) return schema
    const name = this.#names.get(schema) ?? this.#namesByText.get(JSON.stringify(schema))
    if (!name) return this.#translate(schema)
    if (!this.#components.has(name)) {
      // Set before its parts are described, which may refer to it.
      this.#components.set(name, null)
      this.#components.set(name, this.#translate(schema))
    }
    return { $ref: `#/components/schemas/${name}` }
  }

  #translate(schema: object): Json {
    const translated = Object.entries(schema).map(([keyword, value]) => [
      keyword,
      this.#keyword(keyword, value),
    ])
    return withType(withOpenMap(Object.fromEntries(translated)))
  }

  #keyword(keyword: string, value: unknown): unknown {
    if (SCHEMA_VALUES.includes(keyword)) return this.#refer(value)
    if (SCHEMA_LISTS.includes(keyword)) return (value as unknown[]).map(part => this.#refer(part))
    if (!SCHEMA_MAPS.includes(keyword)) return value
    return Object.fromEntries(Object.entries(value as Json).map(([key, part]) => [key, this.#refer(part)]))
  }
}

function withOpenMap(schema: Json): Json {
  const { patternProperties, ...rest } = schema
  const patterns = Object.entries((patternProperties as Json | undefined) ?? {})
  if (patterns.length !== 1 || patterns[0]![0] !== ANY_KEY) return schema
  return { ...rest, additionalProperties: patterns[0]![1] }
}

function withType(schema: Json): Json {
  const values = schema['enum']
  if (!Array.isArray(values) || !values.every(value => typeof value === 'string')) return schema
  return { type: 'string', ...schema }
}
