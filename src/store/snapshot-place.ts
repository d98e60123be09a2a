/**
 * Location for data that was derived from a view, so that it need not be derived again. It consists of a
 * directory that is removed with the view, and of a mark in the tables of the view. The mark identifies the
 * derived data that belongs to these tables.
 *
 * The mark is necessary because files and tables can diverge, for example if one of them is restored from a
 * backup or an epoch is rewound. If tables contain the mark of the derived data, only commits have changed
 * them since this mark was set. The same holds for copies of such tables and of their derived data. If tables
 * contain another mark or none, the derived data might not belong to them.
 */
import type { Tables } from './tables.ts'

const MARK = new TextEncoder().encode('snapshot')

export interface SnapshotPlace {
  readonly directory: string
  /** Returns the mark that was set last, or null if there is none. */
  mark(): string | null
  /** Resolves when it is durable. Throws `STORE_CLOSED` if the view is no longer in use. */
  setMark(mark: string): Promise<void>
}

/** Returns the location in the directory of the tables, or null for tables that are not in a directory. */
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
