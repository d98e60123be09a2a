/** Validates a model file with its schema and reports unexpected and missing content. */
import type { TLocalizedValidationError as SchemaError } from 'typebox/error'
import { Compile } from 'typebox/schema'
import { Settings } from 'typebox/system'
import { type Finding, suggestion } from './findings.ts'
import type { ModelSource } from './model-source.ts'
import type { ValuePath } from './located-value.ts'
import { ModelFile } from '#entities/model-file.ts'
import { MOMENT_FORM } from '#model/wire/common-fields.ts'
import { keyFormsIn } from '#entities/key-forms.ts'

/**
 * Maximum number of errors that the schema library reports. Several of these errors can be merged into one
 * finding.
 */
const ERRORS_MAX = 5_000
/** Names of JSON types in messages. */
const TYPE_WORDS: Readonly<Record<string, string>> = {
  array: 'a list',
  object: 'a map',
  string: 'a text',
  integer: 'a number',
  number: 'a number',
  boolean: 'true or false',
  null: 'nothing',
}

/** Returns the findings. The list is empty if the file has the form of a model file. O(file). */
export function formFindings(source: ModelSource): Finding[] {
  const validator = Compile(ModelFile)
  const { value } = source.root
  if (validator.Check(value)) return []
  return findingsOf(errorsOf(validator, value), source)
}

/**
 * Returns all errors. By default, the schema library stops after eight errors. This limit is a global setting
 * of the process. The function changes the setting and then restores it.
 */
function errorsOf(validator: ReturnType<typeof Compile>, value: unknown): readonly SchemaError[] {
  const { maxErrors } = Settings.Get()
  Settings.Set({ maxErrors: ERRORS_MAX })
  try {
    return validator.Errors(value)[1]
  } finally {
    Settings.Set({ maxErrors })
  }
}

/** All errors at one location of the file. */
interface PlacedErrors {
  readonly location: ValuePath
  /** Types that are valid at this location, in words. */
  readonly types: Set<string>
  /** Valid values at this location. */
  readonly values: Set<string>
  readonly messages: Finding[]
}

/**
 * Merges the errors into one finding per location. For a union, the schema library reports each branch that
 * does not match, and then the union itself.
 */
function findingsOf(errors: readonly SchemaError[], source: ModelSource): Finding[] {
  const places = new Map<string, PlacedErrors>()
  const placeOf = (location: ValuePath): PlacedErrors => {
    const name = JSON.stringify(location)
    const place = places.get(name) ?? { location, types: new Set(), values: new Set(), messages: [] }
    places.set(name, place)
    return place
  }
  for (const error of errors) {
    const location = locationOf(error.instancePath)
    switch (error.keyword) {
      case 'additionalProperties':
        for (const key of error.params.additionalProperties) {
          const message = extraMessage(schemaAt(error.schemaPath), key)
          placeOf([...location, key]).messages.push({
            location: [...location, key],
            message,
            isAboutKey: true,
          })
        }
        break
      case 'required':
        for (const key of error.params.requiredProperties) {
          placeOf(location).messages.push({ location, message: `${JSON.stringify(key)} is missing` })
        }
        break
      case 'type': {
        for (const type of [error.params.type].flat()) placeOf(location).types.add(TYPE_WORDS[type] ?? type)
        break
      }
      case 'const':
        placeOf(location).values.add(String(error.params.allowedValue))
        break
      case 'enum':
        for (const value of error.params.allowedValues) placeOf(location).values.add(String(value))
        break
      case 'pattern':
        placeOf(location).messages.push({ location, message: patternMessage(error, source, location) })
        break
      case 'format':
        placeOf(location).messages.push({
          location,
          message: `expected ${MOMENT_FORM}, got ${shown(source, location)}`,
        })
        break
      // These errors only state that no branch of a union matches, or that no value at all is valid.
      case 'anyOf':
      case 'boolean':
        break
      default:
        placeOf(location).messages.push({ location, message: error.message })
    }
  }
  const all = [...places.values()]
  // Errors about the type of a value are dropped if there are errors inside the value, because the latter are
  // more helpful.
  const withInner = new Set(
    all.flatMap(({ location }) => location.map((_, length) => JSON.stringify(location.slice(0, length)))),
  )
  return all.flatMap(({ location, types, values, messages }) => {
    if (messages.length > 0) return messages
    if (withInner.has(JSON.stringify(location))) return []
    if (values.size > 0) return [{ location, message: valueMessage(source, location, values) }]
    return types.size > 0 ? [{ location, message: typeMessage(source, location, types) }] : []
  })
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, unknown>>
  readonly patternProperties?: Readonly<Record<string, unknown>>
  readonly description?: string
}

/** Returns the part of the schema to which an error refers. */
function schemaAt(path: string): SchemaNode {
  const steps = path.split('/').slice(1)
  return steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], ModelFile) as SchemaNode
}

function extraMessage({ properties, patternProperties = {} }: SchemaNode, key: string): string {
  if (properties) return `is not a valid key here${suggestion(key, Object.keys(properties))}`
  return `is not a valid key here: expected ${keyFormsIn(patternProperties)}`
}

function patternMessage({ schemaPath }: SchemaError, source: ModelSource, location: ValuePath): string {
  const { description } = schemaAt(schemaPath)
  return `expected ${textOf(description)}, got ${shown(source, location)}`
}

/** Adapts a description of the schema for use within a sentence. */
function textOf(description = 'another text'): string {
  return description.replace(/\.$/, '').replace(/^[A-Z](?=[a-z ])/, first => first.toLowerCase())
}

function valueMessage(source: ModelSource, location: ValuePath, values: ReadonlySet<string>): string {
  return `there is no value ${shown(source, location)}${suggestion(String(valueAt(source, location)), values)}`
}

function typeMessage(source: ModelSource, location: ValuePath, types: ReadonlySet<string>): string {
  // The empty value is not suggested if other types are valid.
  const possible = types.size > 1 ? [...types].filter(type => type !== TYPE_WORDS['null']) : [...types]
  const unquoted = types.has(TYPE_WORDS['string']!) ? source.unquotedText(location) : null
  const hint = unquoted === null ? '' : `: write it in quotes, '${unquoted}'`
  return `expected ${possible.join(' or ')}, got ${shown(source, location)}${hint}`
}

/** Returns a short description of the value at a location. */
function shown(source: ModelSource, location: ValuePath): string {
  const value = valueAt(source, location)
  if (value === null || value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'object' ? 'a map' : (source.unquotedText(location) ?? JSON.stringify(value))
}

function valueAt(source: ModelSource, location: ValuePath): unknown {
  return location.reduce<unknown>(
    (at, step) => (at as Record<string, unknown> | null)?.[step],
    source.root.value,
  )
}

/** Parses a JSON pointer. */
function locationOf(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}
