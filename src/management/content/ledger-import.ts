/**
 * The interface for importing content into a store, and an implementation that uses the ledger. An import
 * fills the store of an environment that is not open with the rows that lines of text describe.
 */
import { AuthzError } from '#model/errors.ts'
import { runInSlices } from '#scheduling/resumable.ts'
import { LONGEST_SLICE_MS } from '#scheduling/time-budget.ts'
import type { Revision } from '#model/revision.ts'
import type { Ledger, RowPut } from '#store/ledger.ts'
import type { Store } from '#store/store.ts'
import { type ContentCounts, ContentImport, type ContentImportOptions } from './import-rows.ts'
import { LineSplitter, type NumberedLine } from './line-splitter.ts'
import type { PieceSource } from './content-stream.ts'

export interface ContentLoader {
  /**
   * Resolves when all rows are durable. Throws `INVALID_INPUT` for incomplete or invalid content,
   * `LIMIT_EXCEEDED`, and errors of the store and the source. After an error, the caller must drop the rows
   * that were written.
   */
  load(environmentId: string, source: PieceSource): Promise<ContentCounts>
}

/**
 * Maximum number of rows in one commit, and of bytes of their values without the last. A shared ledger writes
 * them in a few milliseconds.
 */
const COMMIT_ROWS = 500
const COMMIT_BYTES = 1_048_576

/** Imports through the ledger, in this thread: for stores that no other thread can fill. */
export class LedgerLoader implements ContentLoader {
  readonly #store: Store
  readonly #newCommitId: () => Uint8Array
  readonly #options: () => ContentImportOptions

  /** `options` returns the options of one import. */
  constructor(store: Store, newCommitId: () => Uint8Array, options: () => ContentImportOptions) {
    this.#store = store
    this.#newCommitId = newCommitId
    this.#options = options
  }

  async load(environmentId: string, source: PieceSource): Promise<ContentCounts> {
    const { ledger } = await this.#store.environment(environmentId)
    const content = new ContentImport(this.#options())
    let put: RowPut[] = []
    let bytes = 0
    const keys = new Set<string>()
    /** Number of the line of the first of these rows. */
    let from = 0
    let newest: Revision | null = null
    const commit = async (): Promise<void> => {
      const rows = put
      put = []
      bytes = 0
      keys.clear()
      // The commit lists no changes, because an environment loads all rows when it is opened and has no
      // followers yet. If a row exists already, the file contains it twice.
      const require = rows.map(({ key }) => ({ key, absent: true as const }))
      try {
        newest = await ledger.commit({ id: this.#newCommitId(), require, delete: [], put: rows, changes: [] })
      } catch (error) {
        if (!(error instanceof AuthzError) || error.code !== 'REVISION_CONFLICT') throw error
        throw repeatedFact(from, content.line)
      }
    }
    for await (const line of linesFrom(source)) {
      // Other work also runs within a line, because this thread determines the freshness of its state and
      // serves other requests.
      for (const row of await runInSlices(content.takeInSlices(line))) {
        const name = Buffer.from(row.key).toString('latin1')
        if (keys.has(name)) throw repeatedFact(content.line, content.line)
        keys.add(name)
        if (put.length === 0) from = content.line
        put.push(row)
        bytes += row.value.length
        // A commit can also be made within a line: the first line after the schema returns all rows of the
        // schema.
        if (put.length >= COMMIT_ROWS || bytes >= COMMIT_BYTES) await commit()
      }
    }
    requireWhole(content)
    if (put.length > 0) await commit()
    if (newest !== null) await whenFollowed(ledger, newest)
    return content.counts
  }
}

/**
 * Resolves when the view contains that commit and the commit is on disk. An index is loaded from the view;
 * the feed does not send these rows.
 */
async function whenFollowed(ledger: Ledger, { epoch, sequence }: Revision): Promise<void> {
  for await (const { revision } of ledger.feed({ epoch, sequence: sequence - 1 })) {
    if (revision.sequence >= sequence) return
  }
}

/** The lines of all pieces, with an event-loop iteration after each slice. */
async function* linesFrom(source: PieceSource): AsyncIterable<NumberedLine> {
  const lines = new LineSplitter()
  let until = performance.now() + LONGEST_SLICE_MS.main
  for (let piece = await source.next(); piece !== null; piece = await source.next()) {
    for (const line of lines.take(piece)) {
      yield line
      if (performance.now() < until) continue
      await new Promise(resolve => setImmediate(resolve))
      until = performance.now() + LONGEST_SLICE_MS.main
    }
  }
  yield* lines.finish()
}

/** Checks that the content is complete. Throws `INVALID_INPUT` unless the last line has been read. */
export function requireWhole(content: ContentImport): void {
  if (content.isWhole) return
  throw new AuthzError(
    'INVALID_INPUT',
    `after line ${content.line}: the last line, {"kind":"end",…}, is missing`,
  )
}

export function repeatedFact(first: number, last: number): AuthzError {
  const place = first === last ? `line ${last}` : `between line ${first} and line ${last}`
  return new AuthzError('INVALID_INPUT', `${place}: duplicate fact`)
}
