/**
 * Where something derived from a view may be kept beside it, so that it need not be derived again: a directory that goes when
 * the view goes, and a mark in the view's own tables that says which one belongs to them.
 *
 * Why a mark: files and tables can come apart (one of them is restored from a backup, a history is rewound). Tables that carry a
 * mark come from the state in which it was set, with only commits in between; so do those that were copied with it. Whatever
 * carries another mark, or none, may have any past.
 */
import type { Tables } from './tables.ts'

const MARK = new TextEncoder().encode('snapshot')

export interface SnapshotPlace {
  readonly directory: string
  /** The mark set last; null when there is none. */
  mark(): string | null
  /** Resolves when it is durable. Throws `STORE_CLOSED` when the view is not in use any more. */
  setMark(mark: string): Promise<void>
}

/** Null for tables that are in no directory. */
export function snapshotPlaceIn(tables: Tables): SnapshotPlace | null {
  const { directory } = tables
  if (directory === null) return null
  const meta = tables.table('meta')
  return {
    directory,
    mark: () => {
      const mark = meta.get(MARK)
      return mark ? new TextDecoder().decode(mark) : null
    },
    setMark: mark => tables.write(() => meta.put(MARK, new TextEncoder().encode(mark))),
  }
}
