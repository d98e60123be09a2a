/** Ledger contract of the feed: order, completeness, and every way in which a feed can end. */
import { expect, test } from 'vitest'
import type { LogEntry } from '#store/ledger.ts'
import type { OpenLedger } from './ledger-under-test.ts'
import { commitOf, entriesAfter, logged, readableEntry } from './toy-rows.ts'

const sequences = (entries: readonly LogEntry[]): number[] => entries.map(entry => entry.revision.sequence)
const upTo = (last: number, first = 1): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index)

export function describeFeed(start: OpenLedger): void {
  const startAt = async (commits: number, logEntriesMax?: number) => {
    const subject = await start(logEntriesMax === undefined ? {} : { logEntriesMax })
    for (let index = 0; index < commits; index++) {
      await subject.ledger.commit(commitOf({ put: { [`row-${index}`]: 'ar' } }))
    }
    const { epoch } = await subject.ledger.head()
    return { ...subject, at: (sequence: number) => ({ epoch, sequence }) }
  }

  test('an entry of a feed contains everything that its commit changed', async () => {
    const { ledger, at } = await startAt(1)
    const commit = commitOf({
      delete: ['row-0', 'nobody'],
      put: { 'row-0': 'bg', bob: 'ar' },
      changes: [
        {
          kind: 'tenant-put',
          tenant: 'acme',
          attributes: { size: 3, tags: ['a', null], nested: { on: true } },
        },
        { kind: 'user-removed', user: 'späte Łilie' },
      ],
    })
    const revision = await ledger.commit(commit)
    const [entry] = await entriesAfter(ledger, at(1), 1)
    expect(entry!.revision).toEqual(revision)
    expect(readableEntry(entry!)).toEqual({
      sequence: 2,
      id: Buffer.from(commit.id).toString('hex'),
      delete: ['row-0', 'nobody'],
      put: [
        { key: 'row-0', value: 'bg', version: 2, created: 2 * 65_536 },
        { key: 'bob', value: 'ar', version: 2, created: 2 * 65_536 + 1 },
      ],
      changes: commit.changes,
    })
  })

  test('a feed starts after the given revision', async () => {
    const { ledger, at } = await startAt(5)
    expect(sequences(await entriesAfter(ledger, at(0), 5))).toEqual([1, 2, 3, 4, 5])
    expect(sequences(await entriesAfter(ledger, at(3), 2))).toEqual([4, 5])
  })

  test('a feed that has caught up delivers each commit as it happens', async () => {
    const { ledger, at } = await startAt(2)
    const feed = ledger.feed(at(2))[Symbol.asyncIterator]()
    for (const sequence of [3, 4, 5]) {
      const next = feed.next()
      await ledger.commit(commitOf({}))
      expect((await next).value?.revision.sequence).toBe(sequence)
    }
    await feed.return!()
  })

  test('a replay delivers the same entries as a feed, regardless of their sizes, and also each later commit', async () => {
    const { ledger, at } = await startAt(3)
    const many = Object.fromEntries(Array.from({ length: 1_200 }, (_, n) => [`many-${n}`, 'ar']))
    const changes = [{ kind: 'user-removed', user: 'ann' } as const]
    await ledger.commit(commitOf({ put: many, changes }))
    const attributes = { text: 'x'.repeat(200_000) }
    await ledger.commit(commitOf({ changes: [{ kind: 'tenant-put', tenant: 'acme', attributes }] }))
    for (let n = 0; n < 20; n++) await ledger.commit(commitOf({ put: { small: 'ar' } }))
    const fed = await entriesAfter(ledger, at(0), 25)
    for (const after of [0, 3, 4, 5]) {
      const replay = ledger.replay(at(after))[Symbol.asyncIterator]()
      for (const entry of fed.slice(after)) {
        const { value } = await replay.next()
        expect(readableEntry(value as LogEntry)).toEqual(readableEntry(entry))
      }
      await replay.return!()
    }
    const replay = ledger.replay(at(25))[Symbol.asyncIterator]()
    const next = replay.next()
    const { sequence } = await ledger.commit(commitOf({}))
    expect((await next).value?.revision.sequence).toBe(sequence)
    await replay.return!()
  })

  test('a feed that passes from the log to live commits loses and repeats nothing', async () => {
    const { ledger, at } = await startAt(50)
    const writing = (async () => {
      for (let round = 0; round < 40; round++) {
        await Promise.all(Array.from({ length: 10 }, () => ledger.commit(commitOf({ put: { busy: 'ar' } }))))
      }
    })()
    const fromStart = entriesAfter(ledger, at(0), 450)
    const fromMiddle = entriesAfter(ledger, at(25), 425)
    await writing
    expect(sequences(await fromStart)).toEqual(upTo(450))
    expect(sequences(await fromMiddle)).toEqual(upTo(450, 26))
  })

  test('a hundred concurrent feeds receive every commit', async () => {
    const { ledger, at } = await startAt(0)
    const feeds = Array.from({ length: 100 }, () => entriesAfter(ledger, at(0), 20))
    for (let index = 0; index < 20; index++) await ledger.commit(commitOf({}))
    for (const feed of feeds) expect(sequences(await feed)).toEqual(upTo(20))
  })

  test('overlapping calls of next on a feed are answered in order', async () => {
    const { ledger, at } = await startAt(2)
    const feed = ledger.feed(at(0))[Symbol.asyncIterator]()
    const answers = [feed.next(), feed.next(), feed.next()]
    await ledger.commit(commitOf({}))
    const entries = (await Promise.all(answers)).map(answer => answer.value as LogEntry)
    expect(sequences(entries)).toEqual([1, 2, 3])
    await feed.return!()
  })

  test('a feed from before the oldest log entry fails with REVISION_TOO_OLD, and a feed from this entry does not', async () => {
    const { ledger, at } = await startAt(20, 5)
    await expect(entriesAfter(ledger, at(14), 1)).rejects.toMatchObject({ code: 'REVISION_TOO_OLD' })
    await expect(entriesAfter(ledger, at(0), 1)).rejects.toMatchObject({ code: 'REVISION_TOO_OLD' })
    expect(sequences(await entriesAfter(ledger, at(15), 5))).toEqual(upTo(20, 16))
    expect(sequences(await logged(ledger, 20))).toEqual([])
  })

  test('a feed whose next entry was trimmed from the log fails with REVISION_TOO_OLD and then ends', async () => {
    const { ledger, at } = await startAt(2, 5)
    const feed = ledger.feed(at(0))[Symbol.asyncIterator]()
    await feed.next()
    await feed.next()
    for (let index = 0; index < 10; index++) await ledger.commit(commitOf({}))
    await expect(feed.next()).rejects.toMatchObject({ code: 'REVISION_TOO_OLD' })
    expect(await feed.next()).toEqual({ done: true, value: undefined })
  })

  test('a feed from another epoch or ahead of the head fails with STORE_RESET', async () => {
    const { ledger, at } = await startAt(2)
    const foreign = { epoch: 'another-history', sequence: 1 }
    await expect(entriesAfter(ledger, foreign, 1)).rejects.toMatchObject({ code: 'STORE_RESET' })
    await expect(entriesAfter(ledger, at(3), 1)).rejects.toMatchObject({ code: 'STORE_RESET' })
  })

  test('a consumer can end its feed, even while the feed waits', async () => {
    const { ledger, at } = await startAt(1)
    const feed = ledger.feed(at(1))[Symbol.asyncIterator]()
    const waiting = feed.next()
    // After one event-loop iteration, the feed has reached the end of the log and waits.
    await new Promise(setImmediate)
    await feed.return!()
    expect(await waiting).toEqual({ done: true, value: undefined })
    await ledger.commit(commitOf({}))
    expect(await feed.next()).toEqual({ done: true, value: undefined })
  })

  test('closing the ledger ends every feed normally', async () => {
    const { ledger, at, dispose } = await startAt(3)
    const live = ledger.feed(at(3))[Symbol.asyncIterator]()
    const waiting = live.next()
    const behind = ledger.feed(at(0))[Symbol.asyncIterator]()
    await behind.next()
    await new Promise(setImmediate)
    await dispose()
    expect(await waiting).toEqual({ done: true, value: undefined })
    expect(await behind.next()).toEqual({ done: true, value: undefined })
  })
}
