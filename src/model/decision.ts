/** The question every other question comes down to, in the callers' keys (contract A.2). */
export interface Query {
  readonly user: string
  readonly action: string
  readonly type: string
  /** The instance asked about; `null` asks about the type as a whole, where only tenant roles count. */
  readonly key: string | null
  /** `null`: the tenant of the instance if it is known, else `DEFAULT_TENANT` (contract D-15). */
  readonly tenant: string | null
}

/** The tenant every environment starts with, and the one a question without a tenant falls back to. */
export const DEFAULT_TENANT = 'default'
