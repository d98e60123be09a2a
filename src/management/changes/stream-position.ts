/**
 * Position of a change-stream reader: a revision and a mark of its commit, `<epoch>.<sequence>.<mark>`. A
 * history that was rewound and continued has the same revisions again; the mark distinguishes the two. A
 * plain revision, as in a management response, is accepted without a mark.
 */
import { AuthzError } from '#model/errors.ts'
import { formatRevision, parseRevision, type Revision } from '#model/revision.ts'
import type { LogEntry } from '#store/ledger.ts'

export interface StreamPosition extends Revision {
  /** Mark of the commit; null if it is unknown. */
  readonly mark: string | null
}

const MARK_BYTES = 4
const FORM = /^([^.]+\.\d+)(?:\.([0-9a-f]{8}))?$/u

function markOf(commitId: Uint8Array): string {
  return Buffer.from(commitId.buffer, commitId.byteOffset, MARK_BYTES).toString('hex')
}

export function positionOf({ revision, id }: LogEntry): StreamPosition {
  return { ...revision, mark: markOf(id) }
}

export function formatPosition(position: StreamPosition): string {
  const revision = formatRevision(position)
  return position.mark === null ? revision : `${revision}.${position.mark}`
}

/**
 * Parses a position. Throws `INVALID_SHAPE` if the text is not a position. `loc` is its location in the
 * request.
 */
export function parsePosition(text: string, loc: readonly string[]): StreamPosition {
  const [, revisionText = '', mark = null] = FORM.exec(text) ?? []
  const revision = parseRevision(revisionText)
  if (revision) return { ...revision, mark }
  const msg = 'must be the id of an event, or a revision: <epoch>.<sequence>'
  throw new AuthzError('INVALID_SHAPE', `${loc.join('.')}: ${msg}`, {
    detail: [{ loc, msg, type: 'pattern' }],
  })
}
