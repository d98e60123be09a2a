/** Result of a commit attempt; `conflict` means that another writer was first. */
export type CommitOutcome = 'done' | 'conflict' | 'failed'

/**
 * Services that the management code gets from outside: clock, ids and randomness. Tests can replace them.
 * They do no I/O.
 */
export interface RuntimeServices {
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds of a monotonic clock, with fractions. For measuring durations. */
  elapsedMs(): number
  /** A new UUID, preferably greater than all before, because rows are stored by ids. */
  newId(): string
  /** 16 new random bytes. */
  newCommitId(): Uint8Array
  /** 32 new random bytes in lower-case hex. */
  newSecret(): string
  /**
   * Encrypts a secret of an environment with the key of the organization, for the entity with that id only.
   * Returns null if the organization has no encryption key.
   */
  seal(ownerId: string, secret: string): Uint8Array | null
  /** Maximum size of the attributes of one entity, in bytes of JSON. */
  readonly attributesBytesMax: number
  /** Reports the result of a commit attempt and how long the store took. `failed` includes the error. */
  onCommit(outcome: CommitOutcome, elapsedMs: number, error?: unknown): void
  /** Reports a failure of background work, which is retried later. */
  onBackgroundFault(error: unknown): void
}
