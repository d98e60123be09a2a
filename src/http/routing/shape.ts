/**
 * Validates values with a schema. Findings are reported in the format of the specification: location, message
 * and type (native.md B.1, status 422).
 *
 * Fields that the schema does not contain are ignored (native.md A.1, D-24). The value is passed on
 * unchanged, without conversions or defaults. Findings contain locations, keys and limits, but never values
 * from the request. The validation library reports the branches of a union separately; this file merges them
 * into one finding per location.
 */
import type { TSchema } from 'typebox'
import type { TLocalizedValidationError as Finding } from 'typebox/error'
import { Compile, type Validator } from 'typebox/schema'
import { AuthzError, type ErrorDetail } from '#model/errors.ts'
import { MOMENT_FORM, NULL_HINT } from '#model/wire/common-fields.ts'
import { keyFormsIn } from '#entities/key-forms.ts'
import { EXCERPT_PARTS_MAX, excerptOf, propertyNamesIn, type WrongItems, wrongItemsOf } from './excerpt.ts'

/** Part of a request that is validated. It is the first element of every `loc`. */
export type ShapePlace = 'body' | 'query' | 'path'

/**
 * Maximum number of reported findings. The validation library stops at eight findings, but each of them can
 * list many missing properties.
 */
export const DETAILS_MAX = 16

export class Shape {
  readonly schema: TSchema
  readonly #place: ShapePlace
  #compiled: Validator | null = null
  readonly #names: ReadonlySet<string>

  constructor(schema: TSchema, place: ShapePlace) {
    this.schema = schema
    this.#place = place
    this.#names = propertyNamesIn(schema)
  }

  /**
   * The schema is compiled at first use. A thread has 231 schemas, whose compilation takes 40 ms in total,
   * and most of them are never used.
   */
  get #validator(): Validator {
    return (this.#compiled ??= Compile(this.schema))
  }

  /** Throws `INVALID_SHAPE` with one detail per finding if the value does not match the schema. */
  check(value: unknown): void {
    const validator = this.#validator
    if (validator.Check(value)) return
    const wrong = wrongItemsOf(value, part => validator.Check(part), DETAILS_MAX)
    const [, found] = validator.Errors(excerptOf(wrong === null ? value : wrong.value, this.#names))
    const findings = wrong === null ? found : found.map(finding => inAll(finding, wrong))
    const detail = mergeUnions(findings).flatMap(finding =>
      describe(finding, this.#place, value, this.schema),
    )
    throw shapeError(detail.length > 0 ? detail.slice(0, DETAILS_MAX) : [this.#farBehind()])
  }

  #farBehind(): ErrorDetail {
    const msg = `has the wrong shape somewhere after its first ${EXCERPT_PARTS_MAX} parts`
    return { loc: [this.#place], msg, type: 'shape' }
  }
}

/** Creates the error for the findings. Its message contains all findings with their locations. */
export function shapeError(detail: readonly ErrorDetail[]): AuthzError {
  const message = detail.map(entry => `${placeName(entry.loc)}: ${entry.msg}`).join('; ')
  return new AuthzError('INVALID_SHAPE', message, { detail })
}

/**
 * Location as text, for example `user.key`, `roles[0].key` or `query.page`. The prefix `body` is written only
 * if the location is the body itself.
 */
function placeName(loc: ErrorDetail['loc']): string {
  const way = loc[0] === 'body' && loc.length > 1 ? loc.slice(1) : loc
  return way.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`)).join('')
}

/**
 * Corrects the location of a finding: replaces the index of an item in the reduced list by its index in the
 * original list.
 */
function inAll(finding: Finding, { list, places }: WrongItems): Finding {
  const inList = `${list}/`
  const { instancePath } = finding
  if (!instancePath.startsWith(inList)) return finding
  const [item, ...further] = instancePath.slice(inList.length).split('/')
  return { ...finding, instancePath: inList + [places[Number(item)], ...further].join('/') }
}

/**
 * Converts a finding to details. Missing properties become one detail each; any other finding becomes a
 * single detail.
 */
function describe(finding: Finding, place: ShapePlace, value: unknown, schema: TSchema): ErrorDetail[] {
  const loc = [place, ...pointerToWay(finding.instancePath, value)]
  if (finding.keyword === 'required') {
    return finding.params.requiredProperties.map(name => ({
      loc: [...loc, name],
      msg: 'is required',
      type: 'missing',
    }))
  }
  // For each invalid key of a map, the library has reported that no value at all is valid under this key.
  if (finding.keyword === 'additionalProperties') return []
  if (finding.keyword === 'boolean') {
    return [{ loc, msg: keyMessage(finding, schema), type: 'additionalProperties' }]
  }
  const hint = finding.keyword === 'type' ? nullHint(finding, value, schema) : null
  const msg = hint === null ? messageOf(finding) : `${messageOf(finding)}; ${hint}`
  return [{ loc, msg, type: finding.keyword }]
}

function keyMessage({ schemaPath }: Finding, schema: TSchema): string {
  const map = at(schema, schemaPath.replace(/^#/, '').replace(/\/additionalProperties$/, ''))
  const { patternProperties } = (map ?? {}) as { readonly patternProperties?: object }
  return `is not a valid key${patternProperties ? `: expected ${keyFormsIn(patternProperties)}` : ''}`
}

/** If the value is null, returns the hint of the schema about the value to send in its place. */
function nullHint({ instancePath, schemaPath }: Finding, value: unknown, schema: TSchema): string | null {
  if (at(value, instancePath) !== null) return null
  const refused = at(schema, schemaPath.replace(/^#/, '')) as { readonly [NULL_HINT]?: string } | undefined
  return refused?.[NULL_HINT] ?? null
}

function at(value: unknown, pointer: string): unknown {
  return pointerToWay(pointer, value).reduce<unknown>(
    (part, step) => (part as Record<string | number, unknown> | null | undefined)?.[step],
    value,
  )
}

function messageOf(finding: Finding): string {
  if (finding.keyword === 'const') return `must be ${JSON.stringify(finding.params.allowedValue)}`
  if (finding.keyword === 'enum') return `must be ${alternatives(finding.params.allowedValues)}`
  if (finding.keyword === 'format' && finding.params.format === 'date-time') return `must be ${MOMENT_FORM}`
  return finding.message
}

function alternatives(values: readonly unknown[]): string {
  return values.map(value => JSON.stringify(value)).join(' or ')
}

/** Splits a JSON pointer into its steps. Whether a step is an index or a name depends on the value. */
function pointerToWay(pointer: string, value: unknown): (string | number)[] {
  let current = value
  return pointer
    .split('/')
    .slice(1)
    .map(step => {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
      const key = Array.isArray(current) ? Number(name) : name
      current = (current as Record<string | number, unknown> | null | undefined)?.[key]
      return key
    })
}

/**
 * Merges the findings of each union into one finding per location. If no branch has the type of the value,
 * the finding lists the types of all branches ("must be string or null"). If a branch has this type but the
 * value fails deeper inside, only the deeper findings are kept. The library reports inner unions before outer
 * ones, so merging in this order works from the inside out.
 */
function mergeUnions(findings: readonly Finding[]): Finding[] {
  let merged: Finding[] = []
  for (const finding of findings) {
    if (finding.keyword !== 'anyOf') {
      merged.push(finding)
      continue
    }
    const isOfUnion = (other: Finding): boolean => other.schemaPath.startsWith(`${finding.schemaPath}/anyOf/`)
    const branches = merged.filter(isOfUnion)
    const deeper = branches.filter(branch => !isAboutKind(branch, finding.instancePath))
    merged = merged.filter(other => !isOfUnion(other))
    if (deeper.length > 0) merged.push(...deeper)
    else merged.push({ ...finding, message: messageOfUnion(branches) })
  }
  return merged
}

function isAboutKind(finding: Finding, instancePath: string): boolean {
  return finding.instancePath === instancePath && ['type', 'const', 'enum', 'anyOf'].includes(finding.keyword)
}

function messageOfUnion(branches: readonly Finding[]): string {
  const kinds = branches.map(branch => messageOf(branch).replace(/^must be /, ''))
  return kinds.length === 0
    ? 'must be one of the documented forms'
    : `must be ${[...new Set(kinds)].join(' or ')}`
}
