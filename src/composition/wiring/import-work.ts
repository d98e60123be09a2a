/**
 * Runs the thread of an import. It fills the tables of an environment that is not open yet with rows made
 * from the lines of the text. The main thread sends the text in chunks, each after the previous one was
 * accepted. A `stop` message ends the import early.
 */
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { MessagePort } from 'node:worker_threads'
import { ContentShapes } from '#http/routing/content-shapes.ts'
import { ContentImport } from '#management/content/import-rows.ts'
import { LineSplitter, type NumberedLine } from '#management/content/line-splitter.ts'
import { repeatedFact, requireWhole } from '#management/content/ledger-import.ts'
import { errorToData } from '#model/errors.ts'
import { FreshRows } from '#store/bulk-load/fresh-rows.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import type { ImportThreadData, FromImportThread, ToImportThread } from '#threads/import-thread.ts'
import { TimeOrderedIds } from '#composition/process/time-ordered-ids.ts'

export class ImportWork {
  readonly #main: MessagePort
  readonly #directory: string
  readonly #tables: LmdbTables
  readonly #rows: FreshRows
  readonly #lines = new LineSplitter()
  readonly #content: ContentImport
  readonly #stop = new AbortController()
  /** Number of the line from which each row was made. */
  #rowLines = new Uint32Array(65_536)
  #rowCount = 0

  /** Accepts messages from now on. Closes the port at the end. */
  constructor(main: MessagePort, { directory, now, attributesBytesMax, heldBytesMax }: ImportThreadData) {
    const ids = new TimeOrderedIds(Date.now)
    this.#main = main
    this.#directory = directory
    // Does not flush after each write: waiting for the disk would take longer than everything else.
    this.#tables = new LmdbTables(directory, { isFlushed: false })
    this.#rows = new FreshRows(this.#tables, listRule)
    this.#content = new ContentImport({
      ...new ContentShapes(),
      now,
      newId: () => ids.next(),
      attributesBytesMax,
      heldBytesMax,
    })
    main.on('message', (message: ToImportThread) => void this.#receive(message))
  }

  async #receive(message: ToImportThread): Promise<void> {
    try {
      if (message.kind === 'piece') {
        this.#takeAll(this.#lines.take(message.bytes))
        await this.#rows.makeRoom(this.#stop.signal)
        this.#send({ kind: 'taken' })
      } else if (message.kind === 'end') {
        this.#takeAll(this.#lines.finish())
        requireWhole(this.#content)
        const { repeated } = await this.#rows.write(this.#stop.signal)
        if (repeated !== null) throw repeatedFact(this.#rowLines[repeated]!, this.#rowLines[repeated]!)
        await this.#end({ kind: 'done', counts: this.#content.counts })
      } else {
        this.#stop.abort()
        await this.#end(null)
      }
    } catch (error) {
      await this.#end(this.#stop.signal.aborted ? null : { kind: 'failed', error: errorToData(error) })
    }
  }

  /** Closes the files before it reports the end to the main thread. */
  async #end(last: FromImportThread | null): Promise<void> {
    await this.#tables.close()
    if (last?.kind === 'done') await flushAll(this.#directory)
    if (last) this.#send(last)
    this.#main.close()
  }

  #takeAll(taken: Iterable<NumberedLine>): void {
    for (const line of taken) {
      for (const row of this.#content.take(line)) {
        this.#rows.add(row)
        if (this.#rowCount === this.#rowLines.length) {
          const larger = new Uint32Array(2 * this.#rowLines.length)
          larger.set(this.#rowLines)
          this.#rowLines = larger
        }
        this.#rowLines[this.#rowCount++] = this.#content.line
      }
    }
  }

  #send(message: FromImportThread): void {
    this.#main.postMessage(message)
  }
}

/** Flushes all files of the directory, and the directory itself, which contains their names. */
async function flushAll(path: string): Promise<void> {
  for (const name of [...(await readdir(path)).map(file => join(path, file)), path]) {
    const file = await open(name, 'r')
    await file.sync()
    await file.close()
  }
}
