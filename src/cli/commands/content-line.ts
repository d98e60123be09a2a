/** Parses and validates lines of an export. */
import { Compile } from 'typebox/schema'
import { parsedJson } from '#model/text/json-numbers.ts'
import { CONTENT_LINES, type ContentKind, type ContentLine } from '#entities/environment-content.ts'

/** Thrown if a line is not a valid line of an export. The message contains the reason. */
export class ContentLineError extends Error {
  override readonly name = 'ContentLineError'
}

const KINDS = Object.keys(CONTENT_LINES) as ContentKind[]
/**
 * Validators by kind of line. Each is compiled when the first line of its kind is read, because a file can
 * have millions of lines but has few kinds.
 */
const VALIDATORS = new Map<ContentKind, ReturnType<typeof Compile>>()

/** Parses a line. Throws `ContentLineError`. */
export function contentLineOf(text: string): ContentLine {
  const value = parsed(text)
  const kind = KINDS.find(each => each === value?.kind)
  if (!kind) throw new ContentLineError(`expected a "kind" among ${KINDS.join(', ')}`)
  const validator = VALIDATORS.get(kind) ?? Compile(CONTENT_LINES[kind])
  VALIDATORS.set(kind, validator)
  if (validator.Check(value)) return value as ContentLine
  // Fields with null are removed, because many programs write null for absent fields. The API also treats
  // null as absent.
  const fields = Object.fromEntries(Object.entries(value!).filter(([, field]) => field !== null))
  if (validator.Check(fields)) return fields as ContentLine
  const [, [finding]] = validator.Errors(value)
  throw new ContentLineError(`${finding?.instancePath} ${finding?.message}`)
}

function parsed(text: string): { readonly kind?: unknown } | null {
  try {
    return parsedJson(text) as { readonly kind?: unknown } | null
  } catch (error) {
    throw new ContentLineError((error as Error).message)
  }
}
