/**
 * Measures the memory and speed of the index of one environment: bytes per fact, loaded facts per second,
 * applied commits per second, and saved and restored bytes per second.
 */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { SavedIndexFiles } from '../../src/composition/process/saved-index-files.ts'
import { SharedIndexReader } from '#engine/shared-index/reader.ts'
import type { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Change, InstanceKey } from '#model/change.ts'
import { IdTable } from '#replica/id-table.ts'
import { ask, assignment, instancePut } from '#testing/data/dataset.ts'
import { Drive } from '../data/drive.ts'
import { loadShared } from '../engine/loading.ts'

const SCALE = Number(process.env['BENCH_SCALE'] ?? 1)
const COMMITS = 20_000
const QUESTIONS = 2_000
const THINGS = 1_000_000
const WRITER_THREAD = 1
const REVISION = { epoch: 'bench', sequence: 1 }

export interface IndexRates {
  readonly facts: number
  readonly graphBytesPerFact: number
  readonly closureBytesPerFact: number
  /** Facts that are loaded per second, together with their entities and all closures. */
  readonly loadedPerSecond: number
  /**
   * Commits per second that the writer thread applies while readers can be active. A commit consists of an
   * instance and a role on it.
   */
  readonly commitsPerSecond: number
  /** V8 heap in bytes per user or instance while an index is built from rows. */
  readonly heapBytesPerThing: number
  /** Bytes of the index that are written to disk and flushed per second. */
  readonly keptBytesPerSecond: number
  /** Bytes of the index that are read per second. The files are in the page cache of the kernel. */
  readonly readBytesPerSecond: number
}

/** Measures all rates. Throws if a decision is wrong before or after the index was saved. */
export async function measureIndex(): Promise<IndexRates> {
  const drive = new Drive('W1', SCALE)
  const [{ writer, reader, facts }, loadSeconds] = timed(() => loadShared(drive))
  const { graph, closures } = writer.bytes()
  const [, commitSeconds] = timed(() => commit(writer, drive))
  judge(reader, drive)
  while (writer.collect(1_000));
  const questions = [...drive.candidates(QUESTIONS, 'allowed'), ...drive.candidates(QUESTIONS, 'denied')]
  const answers = questions.map(query => reader.evaluate(query))
  if (new Set(answers).size < 2) throw new Error('all of these questions have one answer')
  const kept = await keep(writer)
  const again = new SharedIndexReader(kept.writer.handle, { threadId: 2 })
  judge(again, drive)
  if (questions.some((query, nth) => again.evaluate(query) !== answers[nth]))
    throw new Error('the kept index answers otherwise')
  return {
    facts,
    graphBytesPerFact: graph / facts,
    closureBytesPerFact: closures / facts,
    loadedPerSecond: facts / loadSeconds,
    commitsPerSecond: COMMITS / commitSeconds,
    heapBytesPerThing: heapOfThings(),
    keptBytesPerSecond: kept.bytes / kept.writeSeconds,
    readBytesPerSecond: kept.bytes / kept.readSeconds,
  }
}

/** Measures the heap of the data that a load keeps per instance: its ID, type and key (`load-changes.ts`). */
function heapOfThings(): number {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc') as () => void
  const table = new IdTable<InstanceKey>()
  collectGarbage()
  const before = process.memoryUsage().heapUsed
  for (let nth = 0; nth < THINGS; nth++) {
    const key = Buffer.from(`document-${nth}`).toString('utf8')
    table.set(randomBytes(16), 0, { type: 'document', key })
  }
  collectGarbage()
  const bytes = (process.memoryUsage().heapUsed - before) / THINGS
  if ([...table.values()].length !== THINGS) throw new Error('the table has lost some')
  return bytes
}

const userOf = (nth: number, { users }: Drive) => `user-${nth % users}`
const documentOf = (nth: number) => `written-${nth}`

function commit(writer: SharedIndexWriter, drive: Drive): void {
  for (let nth = 0; nth < COMMITS; nth++) {
    const document = documentOf(nth)
    const changes: Change[] = [
      instancePut('document', document),
      assignment(userOf(nth, drive), 'viewer', 'document', document),
    ]
    writer.apply(changes)
  }
}

/** Throws unless each user can read the document that was granted to them and cannot read the next one. */
function judge(reader: SharedIndexReader, drive: Drive): void {
  for (let nth = 0; nth < COMMITS; nth += 10) {
    const asked = (user: number) =>
      reader.evaluate(ask(userOf(user, drive), 'read', 'document', documentOf(nth)))
    if (!asked(nth) || asked(nth + 1)) throw new Error(`commit ${nth} does not decide as it says`)
  }
}

/** Saves and restores the index with the same files as a node that stops and starts. */
async function keep(writer: SharedIndexWriter) {
  const directory = mkdtempSync(join(tmpdir(), 'verdict-bench-'))
  let mark: string | null = null
  const place = {
    directory,
    mark: () => mark,
    setMark: async (next: string) => void (mark = next),
  }
  try {
    const saved = writer.save()
    if (saved === null) throw new Error('the index is not at rest')
    const bytes = Object.values(saved.parts).reduce((sum, part) => sum + part.byteLength, 0)
    const log = { info: () => {}, warn: (_: object, text: string) => fail(text) }
    const files = new SavedIndexFiles(WRITER_THREAD, log)
    const kept = { environmentId: 'bench', revision: REVISION, saved }
    const [, writeSeconds] = await timedAsync(() => files.write(kept, place, Infinity))
    const [found, readSeconds] = await timedAsync(() => files.read('bench', place, REVISION.epoch))
    if (found === null) throw new Error('the kept index was not found')
    return { bytes, writeSeconds, readSeconds, writer: found.writer }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

function fail(reason: string): never {
  throw new Error(reason)
}

function timed<Result>(work: () => Result): [Result, number] {
  const from = performance.now()
  const result = work()
  return [result, (performance.now() - from) / 1_000]
}

async function timedAsync<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const from = performance.now()
  const result = await work()
  return [result, (performance.now() - from) / 1_000]
}
