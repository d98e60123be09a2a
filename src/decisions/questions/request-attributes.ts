/**
 * Attributes and context of a query (conditions.md 4), for both APIs. They are merged, and their size is
 * checked, when a condition first needs them. Most queries are decided without them.
 */
import type { QueryContext, SentAttributes } from '#model/decision.ts'
import type { JsonObject } from '#model/json-object.ts'
import { mergedObjects } from '#model/merged-objects.ts'
import { checkSent } from '#model/sent-ceilings.ts'
import { attributesOfUser } from '#model/user-attributes.ts'
import type { AllowedQuery } from '#model/wire/decisions/decision.ts'

type Sent = JsonObject | null | undefined

/** Values of a native query. The context of the query takes precedence over the context of its resource. */
export class NativeQueryContext implements QueryContext {
  readonly readAt: number
  readonly #question: AllowedQuery
  #sent: SentAttributes | null = null

  /** `readAt` is the time at which the request was read, in milliseconds since 1970. */
  constructor(question: AllowedQuery, readAt: number) {
    this.#question = question
    this.readAt = readAt
  }

  /**
   * Returns the attributes and the context. The first call takes O(attributes). Throws `LIMIT_EXCEEDED` if
   * the attributes are too large.
   */
  sent(): SentAttributes {
    return (this.#sent ??= this.#read())
  }

  #read(): SentAttributes {
    const { user, resource, context } = this.#question
    checkSent([user.attributes, resource.attributes, context, resource.context])
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

/**
 * Parts of an AuthZEN evaluation that contain attributes. The item's own members have been validated. Only
 * the JSON type of inherited members has been validated.
 */
export interface EvaluationParts {
  readonly subject: { readonly properties?: Sent }
  readonly action: { readonly properties?: Sent }
  readonly resource: { readonly properties?: Sent }
  readonly context?: Sent
}

/**
 * Values of an AuthZEN evaluation. The properties of its action are available as `context.action`. They take
 * precedence over a member of the context with that name (conditions.md 4.2).
 */
export class AccessQueryContext implements QueryContext {
  readonly readAt: number
  readonly #parts: EvaluationParts
  #sent: SentAttributes | null = null

  constructor(parts: EvaluationParts, readAt: number) {
    this.#parts = parts
    this.readAt = readAt
  }

  /**
   * Returns the attributes and the context. The first call takes O(attributes). Throws `LIMIT_EXCEEDED` if
   * the attributes are too large.
   */
  sent(): SentAttributes {
    return (this.#sent ??= this.#read())
  }

  #read(): SentAttributes {
    const { subject, action, resource, context } = this.#parts
    // Empty properties count as absent. The fast path for bodies without attributes, which reads the bytes
    // directly, does the same.
    const ofAction = isEmpty(action.properties) ? null : action.properties
    checkSent([subject.properties, ofAction, resource.properties, context])
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
