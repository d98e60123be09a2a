/**
 * Fills the tables of an environment that nobody has open with the rows that lines of text mean. The main thread sends the text
 * piece by piece, each when the one before was taken; `stop` ends it before its time.
 */
import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { ContentShapes } from '#http/routing/content-shapes.ts'
import { ContentImport } from '#management/content/content-import.ts'
import { ContentLines, type NumberedLine } from '#management/content/content-lines.ts'
import { repeatedFact, requireWhole } from '#management/content/content-loader.ts'
import { assert } from '#model/assert.ts'
import { errorToData } from '#model/errors.ts'
import { FreshRows } from '#store/bulk-load/fresh-rows.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import type { ContentThreadData, FromContentThread, ToContentThread } from '#threads/content-thread.ts'
import { TimeOrderedIds } from '../src/composition/time-ordered-ids.ts'

assert(parentPort, 'this thread is started by the main thread')
const main = parentPort
const { directory, now, attributesBytesMax, heldBytesMax } = workerData as ContentThreadData
const ids = new TimeOrderedIds(Date.now)
// Waiting for the disk after every write would take longer than everything else.
const tables = new LmdbTables(directory, { isFlushed: false })
const rows = new FreshRows(tables, listRule)
const lines = new ContentLines()
const content = new ContentImport({
  ...new ContentShapes(),
  now,
  newId: () => ids.next(),
  attributesBytesMax,
  heldBytesMax,
})
const stop = new AbortController()
/** The line each row came from. */
let rowLines = new Uint32Array(65_536)
let rowCount = 0

main.on('message', (message: ToContentThread) => void receive(message))

async function receive(message: ToContentThread): Promise<void> {
  try {
    if (message.kind === 'piece') {
      takeAll(lines.take(message.bytes))
      send({ kind: 'taken' })
    } else if (message.kind === 'end') {
      takeAll(lines.finish())
      requireWhole(content)
      const { repeated } = await rows.write(stop.signal)
      if (repeated !== null) throw repeatedFact(rowLines[repeated]!, rowLines[repeated]!)
      await end({ kind: 'done', counts: content.counts })
    } else {
      stop.abort()
      await end(null)
    }
  } catch (error) {
    await end(stop.signal.aborted ? null : { kind: 'failed', error: errorToData(error) })
  }
}

/** What was written is on disk, the names of the files included. */
async function flushAll(path: string): Promise<void> {
  for (const name of [...(await readdir(path)).map(file => join(path, file)), path]) {
    const file = await open(name, 'r')
    await file.sync()
    await file.close()
  }
}

/** The files are closed when the main thread hears of the end. */
async function end(last: FromContentThread | null): Promise<void> {
  await tables.close()
  if (last?.kind === 'done') await flushAll(directory)
  if (last) send(last)
  main.close()
}

function takeAll(taken: Iterable<NumberedLine>): void {
  for (const line of taken) {
    for (const row of content.take(line)) {
      rows.add(row)
      if (rowCount === rowLines.length) {
        const larger = new Uint32Array(2 * rowLines.length)
        larger.set(rowLines)
        rowLines = larger
      }
      rowLines[rowCount++] = content.line
    }
  }
}

function send(message: FromContentThread): void {
  main.postMessage(message)
}
