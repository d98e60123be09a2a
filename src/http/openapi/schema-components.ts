/**
 * Schemas of an OpenAPI document, derived from the schemas that validate requests. A named schema becomes a
 * component at its first use and is referenced after that. The same applies to every object with properties.
 * It gets a name from its position, because client generators would otherwise invent names, which can collide
 * with others.
 *
 * The schemas of the library are valid JSON Schema, but three of its forms need changes. A map with arbitrary
 * keys is a pattern that matches anything. An enumeration has no type. The schema of an optional property is
 * a copy. `portable-forms.ts` performs the other conversions.
 */
import type { TSchema } from 'typebox'
import { assert } from '#model/assert.ts'
import { NAME_PREFIX, UNDESCRIBED, withDescribedPattern } from '#model/wire/building-blocks.ts'
import { type Json, withEnumeration, withNullType, withoutConstant, withType } from './portable-forms.ts'

export type { Json }

/** Keywords whose value is a list of schemas. */
const SCHEMA_LISTS = ['anyOf', 'allOf', 'oneOf', 'prefixItems']
/** Keywords whose value is a schema, with the suffix that they add to a name. */
const SCHEMA_VALUES: Readonly<Record<string, string>> = {
  items: 'Item',
  additionalProperties: 'Value',
  not: 'Not',
}
const ANY_KEY = '^.*$'
const REFERENCE = '#/components/schemas/'

export class SchemaComponents {
  readonly #names: ReadonlyMap<object, string>
  /** Name by JSON text; null if several named schemas have this text. */
  readonly #namesByText = new Map<string, string | null>()
  readonly #components = new Map<string, Json | null>()
  /** Generated names of objects that have no name in the source, with their JSON texts. */
  readonly #given = new Map<string, string>()
  readonly #taken: ReadonlySet<string>

  constructor(names: ReadonlyMap<object, string>) {
    this.#names = names
    this.#taken = new Set(names.values())
    for (const [schema, name] of names) {
      const text = JSON.stringify(schema)
      this.#namesByText.set(text, this.#namesByText.has(text) ? null : name)
    }
  }

  /**
   * A reference for a named schema or an object, otherwise the schema itself. `place`: name of the position,
   * from which the name of an object is derived.
   */
  refer(schema: TSchema, place: string): unknown {
    return this.#refer(schema, place)
  }

  /** All schemas that were referenced so far, by name. */
  all(): Json {
    return Object.fromEntries([...this.#components].toSorted(([left], [right]) => (left < right ? -1 : 1)))
  }

  #refer(schema: unknown, place: string): unknown {
    if (typeof schema !== 'object' || schema === null) return schema
    const name = this.#names.get(schema) ?? this.#namesByText.get(JSON.stringify(schema))
    if (!name) return this.#unnamed(schema, place)
    if (!this.#components.has(name)) {
      // Set before the parts are converted, because they can contain references to this schema.
      this.#components.set(name, null)
      this.#components.set(name, this.#translate(schema, name))
    }
    return { $ref: REFERENCE + name }
  }

  #unnamed(schema: object, place: string): unknown {
    const isObject = 'properties' in schema
    const isEnvelope = isObject && Object.hasOwn(schema.properties as object, 'page_count')
    // In a list that is either an array or an object, the object is an envelope of the same items.
    const named = isEnvelope ? `${place.replace(/(List)?Of\d+$/, '')}Envelope` : place
    if (!isObject) return this.#translate(schema, place)
    const text = JSON.stringify(schema)
    const given = this.#given.get(named) ?? text
    const isFree = given === text && !this.#taken.has(named)
    assert(isFree, `the name ${named} is in use: export the schema from its file under a name`)
    if (!this.#given.has(named)) {
      this.#given.set(named, text)
      this.#components.set(named, this.#translate(schema, named))
    }
    return { $ref: REFERENCE + named }
  }

  #translate(schema: object, place: string): Json {
    const translated = Object.entries(schema).map(([keyword, value]) => [
      keyword,
      this.#keyword(keyword, value, place),
    ])
    const described = withPrefixedNames(withDescribedPattern(Object.fromEntries(translated)))
    const open = withoutUndescribed(withOpenMap(described))
    return withNullType(withEnumeration(withType(withoutConstant(open))), reference => {
      const component = this.#components.get(reference.slice(REFERENCE.length))
      return component ?? {}
    })
  }

  #keyword(keyword: string, value: unknown, place: string): unknown {
    if (keyword in SCHEMA_VALUES) return this.#refer(value, place + SCHEMA_VALUES[keyword]!)
    if (SCHEMA_LISTS.includes(keyword)) return this.#alternatives(value as readonly object[], place)
    const isPatterns = keyword === 'patternProperties'
    if (!isPatterns && keyword !== 'properties') return value
    const suffix = (key: string): string => (isPatterns ? 'Value' : capitalized(key))
    return Object.fromEntries(
      Object.entries(value as Json).map(([key, part]) => [key, this.#refer(part, place + suffix(key))]),
    )
  }

  /** The alternatives of a nullable schema need no number in their names. */
  #alternatives(parts: readonly object[], place: string): unknown[] {
    const isNullable = parts.length === 2 && Reflect.get(parts[1]!, 'type') === 'null'
    return parts.map((part, index) => this.#refer(part, isNullable ? place : `${place}Of${index + 1}`))
  }
}

/** Converts `first_name` to `FirstName`. */
export function capitalized(text: string): string {
  return text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

function withOpenMap(schema: Json): Json {
  const { patternProperties, ...rest } = schema
  const patterns = Object.entries((patternProperties as Json | undefined) ?? {})
  if (patterns.length !== 1) return schema
  const [pattern, value] = patterns[0]!
  if (pattern === ANY_KEY) return { ...rest, additionalProperties: value }
  // Every key must match the pattern, so the schema is also a map.
  if (schema['additionalProperties'] === false && !('properties' in schema)) {
    return { ...rest, propertyNames: { type: 'string', pattern }, additionalProperties: value }
  }
  return schema
}

/**
 * Converts the name prefix of an object in a query to a pattern. Such an object stands for all parameters
 * whose names begin with the prefix.
 */
function withPrefixedNames(schema: Json): Json {
  const { [NAME_PREFIX]: prefix, ...rest } = schema
  if (prefix === undefined) return schema
  return { ...rest, propertyNames: { type: 'string', pattern: `^${String(prefix)}.` } }
}

/** Removes the properties that are accepted but not described. The result allows additional properties. */
function withoutUndescribed(schema: Json): Json {
  const properties = Object.entries((schema['properties'] as Json | undefined) ?? {})
  const described = properties.filter(([, part]) => Reflect.get(part as object, UNDESCRIBED) !== true)
  if (described.length === properties.length) return schema
  return { ...schema, properties: Object.fromEntries(described), additionalProperties: true }
}
