/** A check, with the keys of callers (native.md A.2). All other decision requests are converted to checks. */
import type { JsonObject } from '#model/json-object.ts'
export interface Query {
  readonly user: string
  readonly action: string
  readonly type: string
  /** Key of the instance. `null` checks the type as a whole, for which only tenant roles count. */
  readonly key: string | null
  /**
   * Tenant of the check. If it is `null`, it is the tenant of the instance or, if the instance is not stored,
   * `DEFAULT_TENANT` (native.md D-15).
   */
  readonly tenant: string | null
  /**
   * Everything that the request says about the check beyond its names. If absent, the request contained no
   * attributes, and its time is not known.
   */
  readonly queryContext?: QueryContext
}

/**
 * Data of a request in addition to stored data. It is read only if a condition needs it, so a check that
 * roles allow has no extra cost.
 *
 * This is the place for further data that a request can carry, such as facts of the request, or the users for
 * whom the user acts. Add an optional member here. `AttributesInBytes` supplies it for bodies that are read
 * from their bytes, and `sendable` copies it for other threads.
 */
export interface QueryContext {
  /** Time at which the request was read, in milliseconds since 1970. */
  readonly readAt: number
  /** Set if it is known that the request contains no attributes. */
  readonly isBare?: true
  /**
   * Returns the attributes in the request (conditions.md 4.1). If the body cannot be read, throws its error.
   */
  sent(): SentAttributes
}

/** Attributes and context in a request, as JSON objects; `null` if the request does not contain them. */
export interface SentAttributes {
  /**
   * Attributes of the user, including the e-mail address and names that the request contains as separate
   * members.
   */
  readonly user: JsonObject | null
  readonly resource: JsonObject | null
  readonly tenant: JsonObject | null
  readonly context: JsonObject | null
}

export const NOTHING_SENT: SentAttributes = Object.freeze({
  user: null,
  resource: null,
  tenant: null,
  context: null,
})

/** Returns the query context of a query without attributes and context. */
export function withoutAttributes(readAt: number): QueryContext {
  return { readAt, isBare: true, sent: () => NOTHING_SENT }
}

/**
 * Key of the tenant that every environment has from the beginning. It is used for queries without a tenant.
 */
export const DEFAULT_TENANT = 'default'
