/**
 * Position in a history: `epoch` identifies the history, `sequence` counts its commits from 0 (no commits).
 * Revisions of different epochs have no order; an unknown epoch means that the history was replaced.
 */
export interface Revision {
  /** Random text that is new whenever a store starts a history. */
  readonly epoch: string
  /** Number of commits so far in this history. */
  readonly sequence: number
}

const WIRE_FORM = /^([A-Za-z0-9-]{1,64})\.(0|[1-9]\d{0,14})$/

/** Parses a revision; null if the text is not valid. */
export function parseRevision(text: string): Revision | null {
  const match = WIRE_FORM.exec(text)
  return match && { epoch: match[1]!, sequence: Number(match[2]) }
}

/** The wire form, `<epoch>.<sequence>`. */
export function formatRevision(revision: Revision): string {
  return `${revision.epoch}.${revision.sequence}`
}
