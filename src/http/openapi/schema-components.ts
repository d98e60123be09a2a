/**
 * Schemas of an OpenAPI document, derived from the schemas that validate requests. A named schema becomes a
 * component when it is first used, and is then referenced. Every other object with properties also becomes a
 * component. Its name is derived from its position, because client generators would otherwise invent names
 * that can collide.
 *
 * The schema library creates valid JSON Schema, but three of its forms must be changed. A map with arbitrary
 * keys is described by a pattern that matches anything. An enumeration has no type. The schema of an optional
 * property is a copy of the original and not the same object. `portable-forms.ts` performs further
 * conversions.
 */
import type { TSchema } from 'typebox'
import { assert } from '#model/assert.ts'
import { NAME_PREFIX, UNDESCRIBED } from '#model/wire/paging.ts'
import { withDescribedPattern } from '#model/wire/references.ts'
import { type Json, withEnumeration, withNullType, withoutConstant, withType } from './portable-forms.ts'

export type { Json }

/** Keywords whose value is a list of schemas. */
const SCHEMA_LISTS = ['anyOf', 'allOf', 'oneOf', 'prefixItems']
/** Keywords whose value is a schema. The suffix is appended to the name of that schema. */
const SCHEMA_VALUES: Readonly<Record<string, string>> = {
  items: 'Item',
  additionalProperties: 'Value',
  not: 'Not',
}
const ANY_KEY = '^.*$'
const REFERENCE = '#/components/schemas/'

export class SchemaComponents {
  readonly #names: ReadonlyMap<object, string>
  /** Name of a schema by its JSON text. Null if several named schemas have this text. */
  readonly #namesByText = new Map<string, string | null>()
  readonly #components = new Map<string, Json | null>()
  /** Generated names of objects that have no name in the source, each with the JSON text of its object. */
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
   * Returns a reference if the schema is named or an object, otherwise the schema itself. `place`: position
   * of the schema; the name of an object is derived from it.
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
      // The name is reserved before the parts of the schema are converted, because the parts can refer to the
      // schema.
      this.#components.set(name, null)
      this.#components.set(name, this.#translate(schema, name))
    }
    return { $ref: REFERENCE + name }
  }

  #unnamed(schema: object, place: string): unknown {
    const isObject = 'properties' in schema
    const isEnvelope = isObject && Object.hasOwn(schema.properties as object, 'page_count')
    // If a response is either an array or an object, the object is an envelope for the items of the array. It
    // is named accordingly.
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

  /** A nullable schema has a single alternative apart from null, so its name needs no number. */
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
  // If a schema allows only keys that match the pattern, it describes a map.
  if (schema['additionalProperties'] === false && !('properties' in schema)) {
    return { ...rest, propertyNames: { type: 'string', pattern }, additionalProperties: value }
  }
  return schema
}

/**
 * Converts the name prefix of an object in a query to a pattern. This object represents all parameters whose
 * names begin with the prefix.
 */
function withPrefixedNames(schema: Json): Json {
  const { [NAME_PREFIX]: prefix, ...rest } = schema
  if (prefix === undefined) return schema
  return { ...rest, propertyNames: { type: 'string', pattern: `^${String(prefix)}.` } }
}

/**
 * Removes properties that the service accepts but that are not documented. The resulting schema allows
 * additional properties.
 */
function withoutUndescribed(schema: Json): Json {
  const properties = Object.entries((schema['properties'] as Json | undefined) ?? {})
  const described = properties.filter(([, part]) => Reflect.get(part as object, UNDESCRIBED) !== true)
  if (described.length === properties.length) return schema
  return { ...schema, properties: Object.fromEntries(described), additionalProperties: true }
}
