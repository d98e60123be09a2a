/** A check with the keys of callers (native.md A.2). All other requests for decisions are reduced to it. */
export interface Query {
  readonly user: string
  readonly action: string
  readonly type: string
  /** The key of the instance. `null` checks the type as a whole, for which only tenant roles count. */
  readonly key: string | null
  /**
   * `null`: the tenant of the instance if the instance is stored, otherwise `DEFAULT_TENANT` (native.md
   * D-15).
   */
  readonly tenant: string | null
  /**
   * Data for conditions in addition to stored data. Absent: no attributes were sent, and the time is unknown.
   */
  readonly queryContext?: QueryContext
  /**
   * Set if the query was read while its environment had no rules, and its attributes were not kept. A rule
   * that was added since then does not apply to it: it would treat attributes as missing that the client has
   * sent.
   */
  readonly asksRules?: false
}

/** Read only if a condition needs them, so that a check that roles allow has no extra cost. */
export interface QueryContext {
  /** Time at which the request was read, in milliseconds since 1970. */
  readonly readAt: number
  /** Set if it is known that no attributes were sent. */
  readonly isBare?: true
  /**
   * The attributes that the client sent (conditions.md 4.1). Throws the errors of a body that cannot be read.
   */
  sent(): SentAttributes
}

/** JSON objects; `null` if nothing was sent. */
export interface SentAttributes {
  /** Includes e-mail address and names, if they were sent as separate members. */
  readonly user: JsonObject | null
  readonly resource: JsonObject | null
  readonly tenant: JsonObject | null
  readonly context: JsonObject | null
}

export type JsonObject = Readonly<Record<string, unknown>>

export const NOTHING_SENT: SentAttributes = Object.freeze({
  user: null,
  resource: null,
  tenant: null,
  context: null,
})

/** Marks a query of which only keys and terms were kept. */
export const BEFORE_RULES = Object.freeze({ asksRules: false as const })

/** For a query without attributes and context. */
export function withoutAttributes(readAt: number): QueryContext {
  return { readAt, isBare: true, sent: () => NOTHING_SENT }
}

/** The tenant that every environment starts with. Queries without a tenant use it. */
export const DEFAULT_TENANT = 'default'
