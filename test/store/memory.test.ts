/** The contracts for the memory adapter, and the visibility of commits that are not durable yet. */
import { expect, test } from 'vitest'
import { EmbeddedLedger } from '#store/embedded/embedded-ledger.ts'
import { MemoryTables } from '#store/memory/memory-tables.ts'
import { TableView } from '#store/embedded/table-view.ts'
import { describeLedger } from './contract.ts'
import { openLedger, type TablesKind } from './embedded-ledgers.ts'
import { describeTables } from './tables-contract.ts'
import { bytes, commitOf, everyone, toyRule } from './toy-rows.ts'

const memory: TablesKind = { name: 'memory', openTables: () => new MemoryTables() }
describeTables('memory', async () => {
  const tables = new MemoryTables()
  return { tables, dispose: () => tables.close() }
})
describeLedger('memory', options => openLedger(memory, options), {
  durability: 'memory does not outlive its ledger',
})

/** Tables on a slow disk: a write is visible immediately, and durable when the test releases it. */
class SlowTables extends MemoryTables {
  readonly #held: (() => void)[] = []
  #arrival = Promise.withResolvers<void>()

  override async write<T>(action: () => T): Promise<T> {
    const result = await super.write(action)
    await new Promise<void>(release => {
      this.#held.push(release)
      this.#arrival.resolve()
      this.#arrival = Promise.withResolvers()
    })
    return result
  }

  /** Waits until the next write is visible. The returned function makes the write durable. */
  async held(): Promise<() => void> {
    while (this.#held.length === 0) await this.#arrival.promise
    return this.#held.shift()!
  }
}

test('a commit appears in the feed and the head only when it is durable, even if the view already has it', async () => {
  const tables = new SlowTables()
  const view = new TableView(tables, toyRule)
  const opening = EmbeddedLedger.open({ tables, view })
  const releaseOpening = await tables.held()
  releaseOpening()
  const ledger = await opening
  const start = await ledger.head()

  const answered: string[] = []
  const feed = ledger.feed(start)[Symbol.asyncIterator]()
  const next = feed.next()
  void next.then(() => answered.push('feed'))
  const committed = ledger.commit(commitOf({ put: { alice: 'ar' } }))
  void committed.then(() => answered.push('commit'))
  const release = await tables.held()
  expect(view.count(everyone)).toBe(1)
  expect(await ledger.head()).toEqual(start)
  // This feed starts at the sequence of the view, which is ahead of the head. It must not fail.
  const behindView = ledger.feed({ ...start, sequence: view.sequence() })
  const nextBehindView = behindView[Symbol.asyncIterator]().next()
  void nextBehindView.then(() => answered.push('feed behind the view'))
  await new Promise(setImmediate)
  expect(answered).toEqual([])

  // A second commit becomes visible. When the first commit is durable, the feed delivers only that commit.
  void ledger.commit(commitOf({ put: { bob: 'ar' } })).then(() => answered.push('second commit'))
  const releaseSecond = await tables.held()
  const second = feed.next()
  void second.then(() => answered.push('feed, second'))
  release()
  expect(await committed).toEqual({ ...start, sequence: 1 })
  expect((await next).value?.revision.sequence).toBe(1)
  await new Promise(setImmediate)
  expect(answered.toSorted()).toEqual(['commit', 'feed'])
  releaseSecond()
  expect((await second).value?.revision.sequence).toBe(2)
  expect((await nextBehindView).value?.revision.sequence).toBe(2)
})

test('tables with the format of another release are refused', async () => {
  const tables = new MemoryTables()
  await tables.write(() => tables.table('meta').put(bytes('format'), bytes('999')))
  const opening = EmbeddedLedger.open({ tables, view: new TableView(tables, toyRule) })
  await expect(opening).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: 'the store has format 999, but this release reads format 3: start the release that wrote it',
  })
})
