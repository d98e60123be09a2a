/**
 * Runs in the thread of `write-thread.ts`: makes each write like the main thread, on tables that it opens for
 * the write.
 */
import type { MessagePort } from 'node:worker_threads'
import { assert } from '#model/assert.ts'
import { ConflictError, errorToData } from '#model/errors.ts'
import { EmbeddedLedger } from '#store/embedded/embedded-ledger.ts'
import { unpackCommit } from '#store/embedded/packed-commit.ts'
import { TableView } from '#store/embedded/table-view.ts'
import { applySegment } from '#store/journal/replay.ts'
import { requireDataFile } from '#store/lmdb/check-data-file.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { LocalCopy } from '#store/redis/copy/local-copy.ts'
import type { ListRule } from '#store/view.ts'
import { type FromWriteThread, isRefusal, type ToWriteThread } from './write-thread.ts'

export function serveWrites(port: MessagePort, listRule: ListRule): void {
  // The main thread sends the next write after the response to this one.
  port.on('message', (message: ToWriteThread) => {
    void answerTo(message, listRule).then(answer => port.postMessage(answer))
  })
}

async function answerTo(message: ToWriteThread, listRule: ListRule): Promise<FromWriteThread> {
  try {
    return { kind: 'done', sequence: await WRITES[message.kind](message, listRule) }
  } catch (error) {
    if (error instanceof ConflictError) return { kind: 'conflict', key: Uint8Array.from(error.key) }
    if (isRefusal(error)) return { kind: 'refused', error: errorToData(error) }
    return { kind: 'failed', reason: String(error) }
  }
}

type Write = (message: ToWriteThread, listRule: ListRule) => Promise<number>
const WRITES: Readonly<Record<ToWriteThread['kind'], Write>> = { commit, apply, checkpoint }

async function commit({ directory, logEntriesMax, packed }: ToWriteThread, listRule: ListRule) {
  // The main thread has the tables open. If a file is missing here, it was removed while in use.
  requireDataFile(directory)
  const tables = new LmdbTables(directory)
  try {
    const view = new TableView(tables, listRule)
    const ledger = await EmbeddedLedger.open({ tables, view, logEntriesMax, mayBegin: false })
    return (await ledger.commit(unpackCommit(packed!))).sequence
  } finally {
    await tables.close()
  }
}

async function apply({ directory, logEntriesMax, packed, sequence }: ToWriteThread, listRule: ListRule) {
  const tables = new LmdbTables(directory)
  try {
    const copy = new LocalCopy({ tables, listRule, logEntriesMax, isKeyedLater: () => false })
    // An incomplete replica would only log the entry, but a large write must also update the lists. Even if
    // the main thread has just completed the replica, this completion might not be on disk yet.
    assert(copy.isComplete, 'a large entry is written to a complete replica')
    const { put, ...entry } = unpackCommit(packed!)
    const rows = put.map(row => ({ ...row, version: sequence }))
    await copy.apply({ ...entry, put: rows, revision: { epoch: copy.epoch, sequence } })
    return sequence
  } finally {
    await tables.close()
  }
}

async function checkpoint({ directory, sequence, endBytes }: ToWriteThread) {
  requireDataFile(directory)
  const tables = new LmdbTables(directory)
  try {
    await applySegment(tables, directory, { generation: sequence, endBytes })
    return sequence
  } finally {
    await tables.close()
  }
}
