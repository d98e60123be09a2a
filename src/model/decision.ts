/** The question every other question comes down to, in the callers' keys (native.md A.2). */
export interface Query {
  readonly user: string
  readonly action: string
  readonly type: string
  /** The instance asked about; `null` asks about the type as a whole, where only tenant roles count. */
  readonly key: string | null
  /** `null`: the tenant of the instance if it is known, else `DEFAULT_TENANT` (native.md D-15). */
  readonly tenant: string | null
  /** What conditions may ask for beside what is stored. Absent: nothing was sent, and nobody knows the time. */
  readonly circumstances?: Circumstances
  /**
   * Set where it was read while its environment had no rules, and nothing was kept of what it says. A rule that has come since does not
   * decide it: it would find attributes missing that were sent.
   */
  readonly asksRules?: false
}

/** Looked at only where a condition asks, so that a question that roles allow never costs more. */
export interface Circumstances {
  /** When the request was read, in milliseconds since 1970. */
  readonly readAt: number
  /** Set where it is known that nothing was sent. */
  readonly isBare?: true
  /** What the caller says of the question (conditions.md 4.1). Throws what a body that cannot be read throws. */
  sent(): SentAttributes
}

/** Objects of JSON; `null` where nothing was sent. */
export interface SentAttributes {
  /** With e-mail address and names among them, where they were sent beside. */
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

/** Of a question of which nothing but its texts was kept. */
export const BEFORE_RULES = Object.freeze({ asksRules: false as const })

/** Of a question that says nothing but its texts. */
export function withoutAttributes(readAt: number): Circumstances {
  return { readAt, isBare: true, sent: () => NOTHING_SENT }
}

/** The tenant every environment starts with, and the one a question without a tenant falls back to. */
export const DEFAULT_TENANT = 'default'
