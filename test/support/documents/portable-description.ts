/**
 * Checks an OpenAPI document for constructs that are valid, but with which code generators fail or produce
 * colliding declarations.
 */
type Json = Readonly<Record<string, unknown>>

interface Place {
  readonly node: Json
  /** Path from the root: `components`, `schemas`, `User`, … */
  readonly steps: readonly string[]
}

/** Every object of the document, with its path. */
function* placesIn(node: unknown, steps: readonly string[] = []): Iterable<Place> {
  if (typeof node !== 'object' || node === null) return
  if (!Array.isArray(node)) yield { node: node as Json, steps }
  for (const [key, part] of Object.entries(node)) yield* placesIn(part, [...steps, key])
}

function found(document: Json, isFault: (place: Place) => boolean): string[] {
  return [...placesIn(document)].filter(isFault).map(({ steps }) => `/${steps.join('/')}`)
}

/** The name as generators normalize it: `first_name`, `first-name` and `firstName` are the same name. */
function spelt(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase()
}

function twice(names: readonly string[]): string[] {
  const spellings = names.map(spelt)
  return names.filter((_, index) => spellings.indexOf(spellings[index]!) !== index)
}

function componentsOf(document: Json, kind: string): Json {
  return ((document['components'] as Json | undefined)?.[kind] as Json | undefined) ?? {}
}

function propertiesOf(node: unknown): Json {
  const properties = (node as Json | null)?.['properties']
  return typeof properties === 'object' && properties !== null ? (properties as Json) : {}
}

/** The texts of an enumeration, or an empty list for other schemas. */
function textsOf(schema: unknown): string[] {
  const values = (schema as Json | null)?.['enum']
  return Array.isArray(values) ? values.filter(value => typeof value === 'string') : []
}

/** Returns true if generators declare a separate type for the schema and name it after its place. */
function getsTypeOfItsOwn(schema: Json): boolean {
  return 'properties' in schema || Array.isArray(schema['enum']) || schema['type'] === 'object'
}

export const portability: Readonly<Record<string, (document: Json) => string[]>> = {
  'two spellings of a member': document =>
    [...placesIn(document)].flatMap(({ node, steps }) =>
      steps.at(-1) === 'properties'
        ? []
        : twice(Object.keys(propertiesOf(node))).map(name => `/${steps.join('/')}: ${name}`),
    ),

  'null as a separate type, except next to a reference': document =>
    found(document, ({ node, steps }) => {
      if (node['type'] !== 'null') return false
      return steps.at(-2) !== 'anyOf' || steps.at(-1) !== '1'
    }),

  'an object without a name': document =>
    found(document, ({ node, steps }) => {
      const isComponent = steps.length === 3 && steps[1] === 'schemas'
      return node['type'] === 'object' && 'properties' in node && !isComponent
    }),

  'schemas with the same name': document => twice(Object.keys(componentsOf(document, 'schemas'))),

  'a schema with the name that a generator derives for a member': document => {
    const schemas = componentsOf(document, 'schemas')
    const taken = new Set(Object.keys(schemas).map(spelt))
    return Object.entries(schemas).flatMap(([name, schema]) =>
      Object.entries(propertiesOf(schema))
        .filter(([, member]) => getsTypeOfItsOwn(member as Json))
        .map(([member]) => `${name}.${member}`)
        .filter(made => taken.has(spelt(made))),
    )
  },

  // The Go client of openapi-generator declares a constant per value, without the name of the enumeration.
  'a value in two named enumerations': document => {
    const values = Object.entries(componentsOf(document, 'schemas')).flatMap(([name, schema]) =>
      textsOf(schema).map(value => ({ name, value })),
    )
    const taken = new Set(twice(values.map(({ value }) => value)).map(spelt))
    return values.filter(({ value }) => taken.has(spelt(value))).map(({ name, value }) => `${name}: ${value}`)
  },

  'a parameter, header or response with the name of a schema': document => {
    const schemas = Object.keys(componentsOf(document, 'schemas')).map(spelt)
    const others = ['parameters', 'responses'].flatMap(kind => Object.keys(componentsOf(document, kind)))
    return [...others.filter(name => schemas.includes(spelt(name))), ...twice(others)]
  },

  'operations with the same name': document =>
    twice(
      Object.values((document['paths'] as Json | undefined) ?? {})
        .flatMap(item => Object.values(item as Json))
        .map(operation => String((operation as Json)['operationId'])),
    ),

  'a constant': document =>
    found(document, ({ node, steps }) => 'const' in node && steps.at(-1) !== 'properties'),

  'alternatives other than references, lists and plain values': document =>
    found(document, ({ node, steps }) => {
      if (!['anyOf', 'oneOf'].includes(steps.at(-2) ?? '')) return false
      return 'properties' in node || 'enum' in node || 'anyOf' in node || node['type'] === 'object'
    }),

  'an object without defined properties as one of several alternatives': document => {
    const schemas = componentsOf(document, 'schemas')
    return found(document, ({ node }) => {
      const alternatives = [node['anyOf'] ?? node['oneOf'] ?? []].flat() as Json[]
      const values = alternatives.filter(({ type }) => type !== 'null')
      if (values.length < 2) return false
      return values
        .map(({ $ref, ...rest }) => (schemas[String($ref).split('/').at(-1)!] as Json | undefined) ?? rest)
        .some(value => value['type'] === 'object' && Object.keys(propertiesOf(value)).length === 0)
    })
  },

  'several types, except for one type and null': document =>
    found(document, ({ node, steps }) => {
      if (!Array.isArray(node['type']) || steps.at(-1) === 'properties') return false
      return node['type'].length !== 2 || node['type'][1] !== 'null'
    }),
}
