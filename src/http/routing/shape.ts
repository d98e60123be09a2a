/**
 * A schema, compiled once if at all, and its findings in the words of the specification: where, what, and of
 * which type (native.md B.1, status 422).
 *
 * Validation is open: fields a schema does not name are ignored (native.md A.1, D-24), and the value is
 * passed on as it came, neither converted nor completed. Findings name places, keys and limits, never the
 * values that were sent. The library reports a union once per branch; callers get one finding per place
 * instead.
 */
import type { TSchema } from 'typebox'
import type { TLocalizedValidationError as Finding } from 'typebox/error'
import { Compile, type Validator } from 'typebox/schema'
import { AuthzError, type ErrorDetail } from '#model/errors.ts'
import { MOMENT_FORM, NULL_HINT } from '#model/wire/building-blocks.ts'
import { EXCERPT_PARTS_MAX, excerptOf, propertyNamesIn, type WrongItems, wrongItemsOf } from './excerpt.ts'

/** The part of a request a schema is about; the first element of every `loc`. */
export type ShapePlace = 'body' | 'query' | 'path'

/** Findings reported at most; the library itself stops at eight, but one may name many missing properties. */
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

  /** Compiled when the first value comes: a thread has 231 shapes, which take 40 ms together, and most never see one. */
  get #validator(): Validator {
    return (this.#compiled ??= Compile(this.schema))
  }

  /** Throws `INVALID_SHAPE` with one detail per finding unless the value has this shape. */
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
    const msg = `has the wrong shape somewhere behind its first ${EXCERPT_PARTS_MAX} parts`
    return { loc: [this.#place], msg, type: 'shape' }
  }
}

/** The error for shape findings; its message lists them all, each with its place. */
export function shapeError(detail: readonly ErrorDetail[]): AuthzError {
  const message = detail.map(entry => `${placeName(entry.loc)}: ${entry.msg}`).join('; ')
  return new AuthzError('INVALID_SHAPE', message, { detail })
}

/** `user.key`, `roles[0].key`, `query.page`: the body goes without saying, unless the body itself is meant. */
function placeName(loc: ErrorDetail['loc']): string {
  const way = loc[0] === 'body' && loc.length > 1 ? loc.slice(1) : loc
  return way.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`)).join('')
}

/** The finding at the place that an item has among all. */
function inAll(finding: Finding, { list, places }: WrongItems): Finding {
  const inList = `${list}/`
  const { instancePath } = finding
  if (!instancePath.startsWith(inList)) return finding
  const [item, ...further] = instancePath.slice(inList.length).split('/')
  return { ...finding, instancePath: inList + [places[Number(item)], ...further].join('/') }
}

/** What one finding means: itself, or one entry for each property that is missing. */
function describe(finding: Finding, place: ShapePlace, value: unknown, schema: TSchema): ErrorDetail[] {
  const loc = [place, ...pointerToWay(finding.instancePath, value)]
  if (finding.keyword === 'required') {
    return finding.params.requiredProperties.map(name => ({
      loc: [...loc, name],
      msg: 'is required',
      type: 'missing',
    }))
  }
  const hint = finding.keyword === 'type' ? nullHint(finding, value, schema) : null
  const msg = hint === null ? messageOf(finding) : `${messageOf(finding)}; ${hint}`
  return [{ loc, msg, type: finding.keyword }]
}

/** What the schema says to send in place of null, if that is what was found. */
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

/** Unescapes a JSON pointer; whether a step is an index or a name, only the value itself can tell. */
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
 * One finding per place for every union. Where the value fits no branch by its kind, the kinds are listed ("must be
 * string or null"); where it fits one and fails further in, only the deeper findings remain.
 * Inner unions are reported before outer ones, so merging in order merges from the inside out.
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
