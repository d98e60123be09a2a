/**
 * Position in a history. `epoch` identifies the history, and `sequence` is the number of its commits so far.
 * Revisions of different epochs have no order. An unknown epoch means that the history was replaced.
 */
export interface Revision {
  /** Random text. A store chooses a new one whenever it starts a history. */
  readonly epoch: string
  /** Number of commits in this history up to this position. */
  readonly sequence: number
}

const WIRE_FORM = /^([A-Za-z0-9-]{1,64})\.(0|[1-9]\d{0,14})$/

/** Parses a revision. Returns null if the text is not valid. */
export function parseRevision(text: string): Revision | null {
  const match = WIRE_FORM.exec(text)
  return match && { epoch: match[1]!, sequence: Number(match[2]) }
}

/** Returns the form that is used in requests and responses: `<epoch>.<sequence>`. */
export function formatRevision(revision: Revision): string {
  return `${revision.epoch}.${revision.sequence}`
}
