/**
 * The attributes and the context that a question brings along (conditions, section 4), in both dialects. They are merged and measured
 * when a condition first asks for one of them: most questions are decided before that.
 */
import type { Circumstances, JsonObject, SentAttributes } from '#model/decision.ts'
import { AuthzError } from '#model/errors.ts'
import { SENT_ATTRIBUTES_BYTES_MAX, SENT_ATTRIBUTES_DEPTH_MAX } from '#model/limits.ts'
import { mergedObjects } from '#model/merged-objects.ts'
import { attributesOfUser } from '#model/user-attributes.ts'
import type { AllowedQuery } from '#model/wire/decision.ts'

type Sent = JsonObject | null | undefined

/** Of a native question. Its own context counts before that of its resource. */
export class NativeCircumstances implements Circumstances {
  readonly readAt: number
  readonly #question: AllowedQuery
  #sent: SentAttributes | null = null

  /** `readAt`: when the request was read, in milliseconds since 1970. */
  constructor(question: AllowedQuery, readAt: number) {
    this.#question = question
    this.readAt = readAt
  }

  /** Throws `LIMIT_EXCEEDED`. O(attributes), once. */
  sent(): SentAttributes {
    return (this.#sent ??= this.#read())
  }

  #read(): SentAttributes {
    const { user, resource, context } = this.#question
    measure([user.attributes, resource.attributes, context, resource.context])
    return {
      user: attributesOfUser({
        attributes: user.attributes ?? null,
        email: user.email ?? null,
        firstName: user.first_name ?? user.firstName ?? null,
        lastName: user.last_name ?? user.lastName ?? null,
      }),
      resource: resource.attributes ?? null,
      tenant: null,
      context: merged(context, resource.context),
    }
  }
}

/** The parts of an AuthZEN evaluation that say attributes, checked as far as they are its own. */
export interface EvaluationParts {
  readonly subject: { readonly properties?: Sent }
  readonly action: { readonly properties?: Sent }
  readonly resource: { readonly properties?: Sent }
  readonly context?: Sent
}

/** Of an AuthZEN evaluation. Properties of its action are `context.action`, before a member of that name (conditions, section 4.2). */
export class AccessCircumstances implements Circumstances {
  readonly readAt: number
  readonly #parts: EvaluationParts
  #sent: SentAttributes | null = null

  constructor(parts: EvaluationParts, readAt: number) {
    this.#parts = parts
    this.readAt = readAt
  }

  /** Throws `LIMIT_EXCEEDED`. O(attributes), once. */
  sent(): SentAttributes {
    return (this.#sent ??= this.#read())
  }

  #read(): SentAttributes {
    const { subject, action, resource, context } = this.#parts
    // Empty ones say nothing, like absent ones: a body without attributes is read from its bytes.
    const ofAction = isEmpty(action.properties) ? null : action.properties
    measure([subject.properties, ofAction, resource.properties, context])
    return {
      user: subject.properties ?? null,
      resource: resource.properties ?? null,
      tenant: null,
      context: merged(ofAction ? { action: ofAction } : null, context),
    }
  }
}

function isEmpty(sent: Sent): boolean {
  for (const _ in sent) return false
  return true
}

function merged(above: Sent, below: Sent): JsonObject | null {
  if (above && below) return mergedObjects(above, below)
  return above ?? below ?? null
}

/** What JSON writes at most for a character, and for any value that is no text. */
const CHARACTER_BYTES_MAX = 6
const VALUE_BYTES_MAX = 26

/** Throws `LIMIT_EXCEEDED` for values that are too long together, or too deep. O(`SENT_ATTRIBUTES_BYTES_MAX`), whatever there is. */
function measure(values: readonly Sent[]): void {
  const walk = new MeasuringWalk()
  for (const value of values) if (value) walk.add(value, 1)
  if (walk.most <= SENT_ATTRIBUTES_BYTES_MAX) return
  const bytes = values.reduce((sum, value) => sum + (value ? Buffer.byteLength(JSON.stringify(value)) : 0), 0)
  if (bytes > SENT_ATTRIBUTES_BYTES_MAX) throw tooLong()
}

/** Counts without writing: what is inherited by the items of a batch is measured for each. */
class MeasuringWalk {
  /** No more than the bytes of the JSON, and no less. */
  #least = 0
  most = 0

  add(value: unknown, depth: number): void {
    if (typeof value === 'string') this.#count(value.length + 2, CHARACTER_BYTES_MAX * value.length + 2)
    else if (typeof value !== 'object' || value === null) this.#count(1, VALUE_BYTES_MAX)
    else {
      if (depth > SENT_ATTRIBUTES_DEPTH_MAX) throw tooDeep()
      this.#count(2, 2)
      if (Array.isArray(value)) {
        for (const item of value) {
          this.#count(1, 1)
          this.add(item, depth + 1)
        }
        return
      }
      // Not by entries, which would be made of all members before the first is looked at.
      for (const name in value) {
        this.#count(name.length + 4, CHARACTER_BYTES_MAX * name.length + 4)
        this.add((value as Record<string, unknown>)[name], depth + 1)
      }
    }
  }

  #count(least: number, most: number): void {
    this.#least += least
    this.most += most
    // A separator too many is counted for each list, so that the count may be too high, but never twice what it should be.
    if (this.#least > 2 * SENT_ATTRIBUTES_BYTES_MAX) throw tooLong()
  }
}

function tooLong(): AuthzError {
  return new AuthzError(
    'LIMIT_EXCEEDED',
    `the attributes and the context of one question have at most ${SENT_ATTRIBUTES_BYTES_MAX} bytes as JSON; send those that conditions read, or store them`,
    { limit: 'attributes' },
  )
}

function tooDeep(): AuthzError {
  return new AuthzError(
    'LIMIT_EXCEEDED',
    `the attributes and the context of one question are nested at most ${SENT_ATTRIBUTES_DEPTH_MAX} levels deep`,
    { limit: 'attributes' },
  )
}
