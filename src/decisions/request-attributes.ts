/**
 * Attributes and context of a query (conditions.md 4), in both dialects. They are merged and measured on
 * first use by a condition: most queries are decided without them.
 */
import type { QueryContext, JsonObject, SentAttributes } from '#model/decision.ts'
import { mergedObjects } from '#model/merged-objects.ts'
import { checkSent } from '#model/sent-ceilings.ts'
import { attributesOfUser } from '#model/user-attributes.ts'
import type { AllowedQuery } from '#model/wire/decision.ts'

type Sent = JsonObject | null | undefined

/** Values of a native query. Its own context takes precedence over the context of its resource. */
export class NativeQueryContext implements QueryContext {
  readonly readAt: number
  readonly #question: AllowedQuery
  #sent: SentAttributes | null = null

  /** `readAt`: time at which the request was read, in milliseconds since 1970. */
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
 * Parts of an AuthZEN evaluation that contain attributes. Their own members are validated; inherited ones
 * only by type.
 */
export interface EvaluationParts {
  readonly subject: { readonly properties?: Sent }
  readonly action: { readonly properties?: Sent }
  readonly resource: { readonly properties?: Sent }
  readonly context?: Sent
}

/**
 * Values of an AuthZEN evaluation. Properties of its action are available as `context.action` and take
 * precedence over a context member of that name (conditions.md 4.2).
 */
export class AccessQueryContext implements QueryContext {
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
    // Empty properties count as absent: a body without attributes is read directly from its bytes.
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
