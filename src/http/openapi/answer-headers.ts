/** Response headers in the OpenAPI document. Each header is a component that several responses share. */
import type { HeaderField } from '#http/message/header-fields.ts'
import type { Json, SchemaComponents } from './schema-components.ts'

export class HeaderComponents {
  readonly #schemas: SchemaComponents
  readonly #components = new Map<string, Json>()

  constructor(schemas: SchemaComponents) {
    this.#schemas = schemas
  }

  /** References to the headers, by name. */
  of(headers: readonly HeaderField[]): Json {
    return Object.fromEntries(headers.map(header => [header.name, this.#refer(header)]))
  }

  /** All headers that were referenced so far, by name. */
  all(): Json {
    return Object.fromEntries(this.#components)
  }

  #refer({ name, description, schema, isOccasional = false }: HeaderField): Json {
    const required = !isOccasional
    this.#components.set(name, { description, required, schema: this.#schemas.refer(schema, name) })
    return { $ref: `#/components/headers/${name}` }
  }
}
