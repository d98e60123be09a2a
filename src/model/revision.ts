/**
 * Where a history stands: `epoch` names the history, `sequence` counts its commits from 0 (nothing committed).
 * Revisions of different epochs cannot be ordered; meeting a foreign epoch means the history was replaced.
 */
import { AuthzError } from './errors.ts'

export interface Revision {
  /** Random text that is new whenever a store starts a history. */
  readonly epoch: string
  /** Number of commits so far in this history. */
  readonly sequence: number
}

const WIRE = /^([A-Za-z0-9-]{1,64})\.(\d{1,15})$/

/** The wire form, `<epoch>.<sequence>`. */
export function formatRevision(revision: Revision): string {
  return `${revision.epoch}.${revision.sequence}`
}

/** Reads the wire form. Throws `INVALID_INPUT` when the text is not one. */
export function parseRevision(text: string): Revision {
  const match = WIRE.exec(text)
  if (!match) {
    throw new AuthzError('INVALID_INPUT', `a revision reads <epoch>.<sequence>, not ${JSON.stringify(text)}`)
  }
  return { epoch: match[1]!, sequence: Number(match[2]) }
}
