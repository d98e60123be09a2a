/**
 * Parameters of operations in the path, query and headers. The first parameter with a name becomes a
 * component that operations share.
 */
import type { TObject, TSchema } from 'typebox'
import { MIN_REVISION, REQUEST_ID } from '#http/message/header-fields.ts'
import type { Route } from '#http/routing/route.ts'
import type { Json, SchemaComponents } from './schema-components.ts'

export class ParameterComponents {
  readonly #schemas: SchemaComponents
  readonly #hasStrictHeaders: boolean
  readonly #components = new Map<string, Json>()

  /** `hasStrictHeaders`: whether the service rejects requests without a required header. */
  constructor(schemas: SchemaComponents, hasStrictHeaders: boolean) {
    this.#schemas = schemas
    this.#hasStrictHeaders = hasStrictHeaders
  }

  /**
   * References to the parameters of a route. If a parameter differs from the component with the same name,
   * the operation contains the parameter itself.
   */
  of(route: Route): Json[] {
    return [...this.#ofPath(route), ...this.#ofQuery(route), ...this.#ofHeaders(route)].map(parameter =>
      this.#share(parameter),
    )
  }

  /** All parameters that were referenced so far, by name. */
  all(): Json {
    return Object.fromEntries(this.#components)
  }

  #ofPath({ paramNames, params }: Route): Json[] {
    const schemas = propertiesOf(params?.schema)
    return paramNames.map(name => this.#parameter(name, 'path', true, schemas[name] ?? { type: 'string' }))
  }

  #ofQuery({ query }: Route): Json[] {
    const required = new Set(query?.schema.required ?? [])
    return Object.entries(propertiesOf(query?.schema)).map(([name, schema]) =>
      this.#parameter(name, 'query', required.has(name), schema),
    )
  }

  #ofHeaders({ headers, access }: Route): Json[] {
    const hasRequestId = headers.some(({ name }) => name === REQUEST_ID.name)
    const all = hasRequestId ? headers : [...headers, REQUEST_ID]
    const ofDecisions = access === 'environment' ? [MIN_REVISION] : []
    return [...all, ...ofDecisions].map(({ name, description, schema, required }) => {
      const isRequired = required === 'always' || (required === 'strictly' && this.#hasStrictHeaders)
      return this.#parameter(name, 'header', isRequired, schema, description)
    })
  }

  #parameter(name: string, place: string, required: boolean, schema: TSchema, description?: string): Json {
    const described = description ?? (schema as { description?: string }).description
    return {
      name,
      in: place,
      ...(described !== undefined && { description: described }),
      ...(required && { required }),
      schema: this.#schemas.refer(schema, name),
    }
  }

  #share(parameter: Json): Json {
    const { name, in: place, required = false } = parameter
    // The prefix is necessary because a parameter must not have the same name as a schema.
    const isRequiredHeader = place === 'header' && required === true
    const key = `${String(place)}.${String(name)}${isRequiredHeader ? '.required' : ''}`
    const shared = this.#components.get(key) ?? parameter
    this.#components.set(key, shared)
    if (JSON.stringify(shared) !== JSON.stringify(parameter)) return parameter
    return { $ref: `#/components/parameters/${key}` }
  }
}

function propertiesOf(schema: TSchema | undefined): Readonly<Record<string, TSchema>> {
  return (schema as TObject | undefined)?.properties ?? {}
}
