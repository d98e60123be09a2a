/**
 * A writer is killed. Acknowledged commits are complete, no commit is partial, and the lock is released. Loss
 * of power is not tested.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openStore } from '#store/open/open-store.ts'
import { TableView } from '#store/embedded/table-view.ts'
import { MemoryTables } from '#store/memory/memory-tables.ts'
import { LARGE_ROWS } from '#store/large-writes/write-thread.ts'
import { ROWS_PER_COMMIT } from './crash-writer.ts'
import { bytes, logged, readable, shown, text, toyRule } from '../../store/toy-rows.ts'

const WRITER = join(import.meta.dirname, 'crash-writer.ts')

let directory: string
let url: string
const writers: ChildProcess[] = []

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'verdict-crash-'))
  url = `lmdb:${join(directory, 'data')}`
})
afterEach(() => {
  for (const writer of writers.splice(0)) writer.kill('SIGKILL')
  rmSync(directory, { recursive: true })
})

function startWriter(
  name: string,
  rows = ROWS_PER_COMMIT,
  checkpointBytes: number | null = null,
): { readonly writer: ChildProcess; readonly lines: AsyncIterable<string> } {
  const argv = ['--disable-warning=ExperimentalWarning', WRITER, url, name, String(rows)]
  if (checkpointBytes !== null) argv.push(String(checkpointBytes))
  const writer = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
  writers.push(writer)
  return { writer, lines: createInterface({ input: writer.stdout! }) }
}

/** Kills a writer after `count` acknowledged commits and returns all sequences that it printed. */
async function writeAndKill(
  name: string,
  rows: number,
  count: number,
  checkpointBytes: number | null,
): Promise<number[]> {
  const { writer, lines } = startWriter(name, rows, checkpointBytes)
  const exited = once(writer, 'exit')
  const acknowledged: number[] = []
  for await (const line of lines) {
    acknowledged.push(Number(line))
    // Keeps reading, because the pipe can contain further lines about acknowledged commits.
    if (acknowledged.length === count) writer.kill('SIGKILL')
  }
  expect(await exited).toEqual([null, 'SIGKILL'])
  return acknowledged
}

test.each([
  { by: 'the main thread', rows: ROWS_PER_COMMIT, checkpointBytes: null, rounds: 5, perRound: 100 },
  { by: 'the thread of large writes', rows: LARGE_ROWS, checkpointBytes: null, rounds: 3, perRound: 8 },
  // With continuous checkpoints, most kills interrupt a checkpoint.
  {
    by: 'both threads with small checkpoints',
    rows: ROWS_PER_COMMIT,
    checkpointBytes: 1,
    rounds: 6,
    perRound: 37,
  },
  {
    by: 'both threads with larger checkpoints',
    rows: ROWS_PER_COMMIT,
    checkpointBytes: 60_000,
    rounds: 6,
    perRound: 61,
  },
])(
  'killing a process during writes of $by loses no acknowledged commit and leaves no partial commit',
  async ({ rows, checkpointBytes, rounds, perRound }) => {
    const acknowledged: number[] = []
    for (let round = 0; round < rounds; round++) {
      acknowledged.push(...(await writeAndKill(`run-${round}`, rows, perRound, checkpointBytes)))
      const store = await openStore(url, toyRule)
      const { ledger, view } = await store.environment('default')
      const entries = await logged(ledger)
      const sequences = new Set(entries.map(entry => entry.revision.sequence))
      expect(acknowledged.filter(sequence => !sequences.has(sequence))).toEqual([])

      // Replaying the log must give the stored rows, secondary indexes and counts.
      const tables = new MemoryTables()
      const replayed = new TableView(tables, toyRule)
      await tables.write(() => entries.forEach(entry => replayed.apply(entry)))
      expect(shown(view)).toEqual(shown(replayed))
      for (const entry of entries) {
        expect(entry.put).toHaveLength(rows + 1)
        const counter = entry.put.at(-1)!
        expect(text(counter.key)).toMatch(/^run-\d+$/)
      }
      const stored = view.get(bytes(`run-${round}`))!
      expect(readable(stored)).toMatchObject({ version: entries.at(-1)!.revision.sequence })
      await store.close()
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(rounds * perRound)
  },
)

test('a second process cannot open a data directory until the first process has died', async () => {
  const first = startWriter('first')
  await once(first.writer.stdout!, 'data')
  const second = startWriter('second')
  const answers: string[] = []
  for await (const line of second.lines) answers.push(line)
  expect(answers).toEqual(['STORE_LOCKED'])

  const refused = await openStore(url, toyRule).catch((error: unknown) => error as Error)
  expect((refused as Error).message).toContain(join(directory, 'data'))
  expect((refused as Error).message).toContain('in use by another process: stop that process')

  const exited = once(first.writer, 'exit')
  first.writer.kill('SIGKILL')
  await exited
  const store = await openStore(url, toyRule)
  await store.close()
})
