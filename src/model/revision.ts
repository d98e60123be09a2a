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

const WIRE_FORM = /^([A-Za-z0-9-]{1,64})\.(0|[1-9]\d{0,14})$/

/** The revision a text stands for, null when it is none. */
export function parseRevision(text: string): Revision | null {
  const match = WIRE_FORM.exec(text)
  return match && { epoch: match[1]!, sequence: Number(match[2]) }
}

/** The wire form, `<epoch>.<sequence>`. */
export function formatRevision(revision: Revision): string {
  return `${revision.epoch}.${revision.sequence}`
}
