/**
 * Where a reader of the stream stands: a revision, and behind it a mark of the commit there, `<epoch>.<sequence>.<mark>`. A history that
 * was rewound and written on has the same revisions; the mark tells the two apart. A bare revision, as an answer of management has it, is
 * taken as it is.
 */
import { AuthzError } from '#model/errors.ts'
import { formatRevision, parseRevision, type Revision } from '#model/revision.ts'
import type { Entry } from '#store/ledger.ts'

export interface StreamPosition extends Revision {
  /** Null: it is not known. */
  readonly mark: string | null
}

const MARK_BYTES = 4
const FORM = /^([^.]+\.\d+)(?:\.([0-9a-f]{8}))?$/u

function markOf(commitId: Uint8Array): string {
  return Buffer.from(commitId.buffer, commitId.byteOffset, MARK_BYTES).toString('hex')
}

export function positionOf({ revision, id }: Entry): StreamPosition {
  return { ...revision, mark: markOf(id) }
}

export function formatPosition(position: StreamPosition): string {
  const revision = formatRevision(position)
  return position.mark === null ? revision : `${revision}.${position.mark}`
}

/** Throws `INVALID_SHAPE` for a text that is none. `loc` is where it was sent. */
export function parsePosition(text: string, loc: readonly string[]): StreamPosition {
  const [, revisionText = '', mark = null] = FORM.exec(text) ?? []
  const revision = parseRevision(revisionText)
  if (revision) return { ...revision, mark }
  const msg = 'must be the id of an event, or a revision: <epoch>.<sequence>'
  throw new AuthzError('INVALID_SHAPE', `${loc.join('.')}: ${msg}`, {
    detail: [{ loc, msg, type: 'pattern' }],
  })
}
