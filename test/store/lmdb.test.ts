/** The contracts for the lmdb adapter in a directory, and its large commits and damaged files. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type LargeWrites, ThreadLostError } from '#store/large-writes.ts'
import type { Commit } from '#store/ledger.ts'
import { LmdbTables } from '#store/lmdb/lmdb-tables.ts'
import { DurableMark, HandedCommits } from '#store/embedded/log-feed.ts'
import { LocalCopy } from '#store/redis/copy/local-copy.ts'
import { LARGE_ROWS, WriteThread } from '#store/large-writes/write-thread.ts'
import type { LedgerUnderTest } from './ledger-under-test.ts'
import { describeKind, onLmdb, openLedger } from './embedded-ledgers.ts'
import { writeThread } from './journal/journals.ts'
import { ownDirectory } from '../support/processes/temporary-directories.ts'
import { commitOf, toyRule } from './toy-rows.ts'

/** A thread that makes all commits, because each counts as large. */
const otherThread = writeThread(0)
const fromManyRows = writeThread()

describeKind(onLmdb('lmdb, where another thread makes the commits', otherThread))

/** Wraps `largeWrites`, and counts the commits that it makes. */
function counting(largeWrites: LargeWrites) {
  let commits = 0
  const counted: LargeWrites = {
    isLarge: commit => largeWrites.isLarge(commit),
    commit: (...args) => {
      commits += 1
      return largeWrites.commit(...args)
    },
    apply: (...args) => largeWrites.apply(...args),
    checkpoint: (...args) => largeWrites.checkpoint(...args),
  }
  return { largeWrites: counted, commits: () => commits }
}

async function openWith(largeWrites: LargeWrites): Promise<LedgerUnderTest> {
  const under = await openLedger(onLmdb('lmdb', largeWrites))
  onTestFinished(() => under.dispose())
  return under
}

const rows = (count: number, value = 'ar') =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`row ${n}`, value]))

test('a commit is made by another thread if its number of rows or bytes reaches a limit', async () => {
  const { largeWrites, commits } = counting(fromManyRows)
  const { ledger } = await openWith(largeWrites)
  await ledger.commit(commitOf({ put: rows(LARGE_ROWS - 1) }))
  expect(commits()).toBe(0)
  await ledger.commit(commitOf({ put: rows(LARGE_ROWS) }))
  expect(commits()).toBe(1)
  await ledger.commit(commitOf({ delete: Object.keys(rows(LARGE_ROWS)) }))
  expect(commits()).toBe(2)
  await ledger.commit(commitOf({ put: { one: 'a'.repeat(262_143) } }))
  expect(commits()).toBe(2)
  await ledger.commit(commitOf({ put: { one: 'a'.repeat(262_144) } }))
  expect(commits()).toBe(3)
})

test('if the thread that makes a commit exits, the calling thread makes the commit, and only once', async () => {
  const ending =
    "import { parentPort } from 'node:worker_threads'; parentPort.once('message', () => process.exit())"
  const thread = new WriteThread(new URL(`data:text/javascript,${encodeURIComponent(ending)}`), 0)
  const { largeWrites, commits } = counting(thread)
  const { ledger, view } = await openWith(largeWrites)
  const first = commitOf({ put: rows(3) })
  expect(await ledger.commit(first)).toMatchObject({ sequence: 1 })
  expect(await ledger.commit(first)).toMatchObject({ sequence: 1 })
  expect(commits()).toBe(2)
  expect((await view()).sequence()).toBe(1)
})

test('a large commit is made by the calling thread if no thread can be started', async () => {
  // This URL causes an error when the thread is started, as if the system refused a thread.
  const { ledger, view } = await openWith(new WriteThread(new URL('https://verdict.invalid/'), 0))
  expect(await ledger.commit(commitOf({ put: rows(3) }))).toMatchObject({ sequence: 1 })
  expect((await view()).sequence()).toBe(1)
})

test('large commits of several environments alternate, and a commit is packed only when it is next', async () => {
  const [one, other] = [await openWith(otherThread), await openWith(otherThread)]
  const order: string[] = []
  const commit = async ({ ledger }: LedgerUnderTest, name: string): Promise<void> => {
    const large: Commit = commitOf({ put: rows(2) })
    await ledger.commit({
      ...large,
      get require() {
        order.push(`${name} is packed`)
        return large.require
      },
    })
    order.push(`${name} is made`)
  }
  const names = ['one 1', 'one 2', 'one 3', 'one 4', 'other 1']
  await Promise.all(names.map(name => commit(name.startsWith('one') ? one : other, name)))
  // The first commit has already begun when the other commits arrive.
  const turns = ['one 1', 'one 2', 'other 1', 'one 3', 'one 4']
  expect(order.filter(each => each.endsWith('packed'))).toEqual(turns.map(name => `${name} is packed`))
  expect(order.indexOf('other 1 is packed')).toBeGreaterThan(order.indexOf('one 1 is made'))
})

test('the thread for large writes refuses an entry for a replica without lists, which would only log the entry', async () => {
  const path = ownDirectory()
  const tables = new LmdbTables(path)
  const options = { listRule: toyRule, logEntriesMax: 10, isKeyedLater: () => false }
  const copy = new LocalCopy({ ...options, tables })
  onTestFinished(() => copy.close())
  await copy.begin('epoch')
  await copy.loaded({ epoch: 'epoch', sequence: 0 })
  const { id, delete: removed, changes } = commitOf({})
  const entry = { id, delete: removed, put: [], changes, revision: { epoch: 'epoch', sequence: 1 } }
  await expect(otherThread.apply(path, entry, 10)).rejects.toThrow(ThreadLostError)
  tables.refresh()
  expect(new LocalCopy({ ...options, tables }).position()).toMatchObject({ sequence: 0 })
})

test('the changes of a large commit are not kept in memory after the commit is durable', () => {
  const durable = new DurableMark(0)
  const handed = new HandedCommits(durable, 100)
  const commit = commitOf({ put: rows(1) })
  handed.add(1, commit)
  durable.advance(3)
  handed.add(2, commit)
  expect(handed.take(1)).toMatchObject({ id: commit.id })
  expect(handed.take(2)).toBeUndefined()
})

test('a ledger that closes waits for the commit that another thread is making', async () => {
  const { ledger, reopen } = await openWith(otherThread)
  const commit = ledger.commit(commitOf({ put: rows(2_000) }))
  const { view } = await reopen()
  expect(await commit).toMatchObject({ sequence: 1 })
  expect((await view()).sequence()).toBe(1)
})

test('concurrent small and large commits have one order, and the feed delivers all of them', async () => {
  const { ledger, view } = await openWith(fromManyRows)
  const heard: number[] = []
  const start = await ledger.head()
  const all = 24
  const following = (async () => {
    for await (const { revision, put } of ledger.feed(start)) {
      heard.push(put.length)
      if (revision.sequence === start.sequence + all) return
    }
  })()
  const commits = Array.from({ length: all }, (_, n) => {
    const put = n % 3 === 0 ? rows(LARGE_ROWS, n % 2 ? 'ar' : 'bg') : { [`small ${n}`]: 'ar' }
    return ledger.commit(commitOf({ put }))
  })
  const sequences = (await Promise.all(commits)).map(({ sequence }) => sequence)
  await following
  expect(sequences.toSorted((a, b) => a - b)).toEqual(Array.from({ length: all }, (_, n) => n + 1))
  for (const [n, sequence] of sequences.entries()) {
    expect(heard[sequence - 1]).toBe(n % 3 === 0 ? LARGE_ROWS : 1)
  }
  expect([...(await view()).batches()].flat()).toHaveLength(LARGE_ROWS + (all * 2) / 3)
})

// Without a check of the file, lmdb-js would end the process.
test.each([
  ['is all zeros', (file: Buffer) => Buffer.alloc(file.length)],
  ['has a wrong head', (file: Buffer) => Buffer.concat([file.subarray(0, 4_096), Buffer.alloc(8_192, 1)])],
])('a data file that %s is refused with its path', async (_, damaged) => {
  const path = ownDirectory()
  await new LmdbTables(path).close()
  const file = join(path, 'data.mdb')
  writeFileSync(file, damaged(readFileSync(file)))
  expect(() => new LmdbTables(path)).toThrow(
    expect.objectContaining({ code: 'STORE_UNAVAILABLE', message: expect.stringContaining(file) as string }),
  )
})

test('an empty data file, as left by a process that exited after creating it, is initialized', async () => {
  const path = ownDirectory()
  writeFileSync(join(path, 'data.mdb'), '')
  const tables = new LmdbTables(path)
  await tables.write(() => tables.table('rows').put(Uint8Array.of(1), Uint8Array.of(2)))
  expect([...tables.table('rows').get(Uint8Array.of(1))!]).toEqual([2])
  await tables.close()
})
