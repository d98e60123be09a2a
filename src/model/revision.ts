/**
 * Where a history stands: `epoch` names the history, `sequence` counts its commits from 0 (nothing committed).
 * Revisions of different epochs cannot be ordered; meeting a foreign epoch means the history was replaced.
 */
export interface Revision {
  /** Random text that is new whenever a store starts a history. */
  readonly epoch: string
  /** Number of commits so far in this history. */
  readonly sequence: number
}

/** The wire form, `<epoch>.<sequence>`. */
export function formatRevision(revision: Revision): string {
  return `${revision.epoch}.${revision.sequence}`
}
