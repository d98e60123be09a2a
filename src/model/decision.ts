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
   * Data for conditions, in addition to stored data. If absent, the request contained no attributes, and its
   * time is not known.
   */
  readonly queryContext?: QueryContext
  /**
   * Set if the query was read while its environment had no rules. The attributes of such a query were not
   * kept. Therefore, rules that have been added since then do not apply to it: they would treat attributes as
   * missing that the client has sent.
   */
  readonly asksRules?: false
}

/**
 * Data for conditions. It is read only if a condition needs it, so a check that roles allow has no extra
 * cost.
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

/**
 * Marks a query that was read before its environment had rules, so that only its keys and terms were kept.
 */
export const BEFORE_RULES = Object.freeze({ asksRules: false as const })

/** Returns the query context of a query without attributes and context. */
export function withoutAttributes(readAt: number): QueryContext {
  return { readAt, isBare: true, sent: () => NOTHING_SENT }
}

/**
 * Key of the tenant that every environment has from the beginning. It is used for queries without a tenant.
 */
export const DEFAULT_TENANT = 'default'
