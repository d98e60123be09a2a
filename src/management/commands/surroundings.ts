/** What became of an attempt to commit: `conflict` lost to another writer. */
export type CommitOutcome = 'done' | 'conflict' | 'failed'

/** What the services take from the outside world, so that tests can turn the clock and the services stay free of I/O. */
export interface Surroundings {
  /** Milliseconds since 1970. */
  now(): number
  /** Milliseconds of a monotonic clock, with fractions: for how long something takes. */
  elapsedMs(): number
  /** A fresh UUID, preferably greater than all before: rows are stored by ids. */
  newId(): string
  /** 16 fresh random bytes. */
  newCommitId(): Uint8Array
  /** 32 fresh random bytes in lower-case hex. */
  newSecret(): string
  /** A secret of an environment, sealed under the organization's key for the thing of that id alone; null without such a key. */
  seal(ownerId: string, secret: string): Uint8Array | null
  /** Ceiling of the attributes of one thing, in bytes of JSON. */
  readonly attributesBytesMax: number
  /** What became of an attempt to commit, and how long the store took. `failed` comes with the reason. */
  onCommit(outcome: CommitOutcome, elapsedMs: number, error?: unknown): void
  /** Background work that failed; it is tried again at the next occasion. */
  onBackgroundFault(error: unknown): void
}
