/** Ledger contract of commits: requirements, conflicts, and exactly-once execution. */
import { expect, test } from 'vitest'
import type { ConflictError } from '#model/errors.ts'
import { COMMIT_ROWS_MAX } from '#model/limits.ts'
import type { Requirement } from '#store/ledger.ts'
import type { Exceptions, OpenLedger } from './ledger-under-test.ts'
import {
  allRows,
  bytes,
  commitId,
  commitOf,
  everyone,
  everything,
  group,
  logged,
  scannedKeys,
  text,
} from './toy-rows.ts'

export function describeCommits(start: OpenLedger, exceptions: Exceptions): void {
  test('a new ledger is at sequence 0 of a new epoch', async () => {
    const [one, other] = [await start(), await start()]
    const [first, second] = [await one.ledger.head(), await other.ledger.head()]
    expect(first.sequence).toBe(0)
    expect(first.epoch).toMatch(/^[A-Za-z0-9-]{1,64}$/)
    expect(second.epoch).not.toBe(first.epoch)
    expect(await allRows(one.ledger)).toEqual([])
  })

  test('each commit advances the head by one, including a commit without rows', async () => {
    const { ledger } = await start()
    const { epoch } = await ledger.head()
    expect(await ledger.commit(commitOf({ put: { alice: 'ar' } }))).toEqual({ epoch, sequence: 1 })
    expect(
      await ledger.commit(commitOf({ changes: [{ kind: 'user-put', user: 'alice', attributes: null }] })),
    ).toEqual({ epoch, sequence: 2 })
    expect(await ledger.head()).toEqual({ epoch, sequence: 2 })
  })

  test('the feed contains the changes of the first of several concurrent commits with one id', async () => {
    const { ledger } = await start()
    const before = await ledger.head()
    const id = commitId()
    const meant = (user: string) =>
      commitOf({ id, put: { alice: 'ar' }, changes: [{ kind: 'user-removed', user }] })
    const [first, second] = await Promise.all([ledger.commit(meant('first')), ledger.commit(meant('second'))])
    expect(second).toEqual(first)
    const feed = ledger.feed(before)[Symbol.asyncIterator]()
    expect((await feed.next()).value?.changes).toEqual(meant('first').changes)
    await feed.return?.()
  })

  test.skipIf(exceptions.onApplied)('a commit reports its visibility and blocking time', async () => {
    const { ledger, ...subject } = await start()
    const view = await subject.view()
    const told: { readonly shown: boolean; readonly blockedMs: number }[] = []
    const watch = (blockedMs: number) =>
      void told.push({ shown: view.get(bytes('alice')) !== undefined, blockedMs })
    await ledger.commit(commitOf({ put: { alice: 'ar' } }), watch)
    expect(told).toEqual([{ shown: true, blockedMs: expect.any(Number) }])
    expect(told[0]!.blockedMs).toBeGreaterThan(0)
    const refused = commitOf({ require: [{ key: bytes('alice'), absent: true }], put: { bob: 'ar' } })
    await expect(ledger.commit(refused, watch)).rejects.toThrow()
    expect(told).toHaveLength(1)
  })

  // Each kind of requirement is met in one case, and not in another. Commits 1 and 2 have written alice.
  const none = new Uint8Array(0)
  const alice = bytes('alice')
  const created = 1 * (COMMIT_ROWS_MAX + 1)
  const requirements: [string, Requirement, boolean][] = [
    ['an absent row is absent', { key: bytes('nobody'), absent: true }, true],
    ['a present row is absent', { key: alice, absent: true }, false],
    ['a row has its current version', { key: alice, version: 2 }, true],
    ['a row has its former version', { key: alice, version: 1 }, false],
    ['an absent row has a version', { key: bytes('nobody'), version: 2 }, false],
    ['a row was created by that commit', { key: alice, created }, true],
    ['a row was created by a later commit', { key: alice, created: created + 1 }, false],
    ['an absent row was created by that commit', { key: bytes('nobody'), created }, false],
    ['the head is the last commit', { key: none, head: 2 }, true],
    ['the head is the commit before the last one', { key: none, head: 1 }, false],
    ['the head is a later commit', { key: none, head: 3 }, false],
  ]
  for (const [claim, requirement, holds] of requirements) {
    test(`a commit that requires that ${claim} is ${holds ? 'done' : 'refused and writes nothing'}`, async () => {
      const subject = await start()
      await subject.ledger.commit(commitOf({ put: { alice: 'ar' } }))
      await subject.ledger.commit(commitOf({ put: { alice: 'bg' } }))
      const before = await everything(subject)
      const commit = commitOf({ require: [requirement], delete: ['alice'], put: { bob: 'ar', carol: 'br' } })
      if (holds) {
        expect(await subject.ledger.commit(commit)).toMatchObject({ sequence: 3 })
        expect(scannedKeys(await subject.view(), everyone)).toEqual(['bob', 'carol'])
      } else {
        await expect(subject.ledger.commit(commit)).rejects.toMatchObject({ code: 'REVISION_CONFLICT' })
        expect(await everything(subject)).toEqual(before)
      }
    })
  }

  test('a conflict names the first row that does not meet its requirement', async () => {
    const { ledger } = await start()
    await ledger.commit(commitOf({ put: { alice: 'ar', bob: 'ar' } }))
    const require = ['carol', 'bob', 'alice'].map(key => ({ key: bytes(key), absent: true }) as const)
    const conflict = await ledger
      .commit(commitOf({ require }))
      .catch((error: unknown) => error as ConflictError)
    expect(text((conflict as ConflictError).key)).toBe('bob')
  })

  test('if 200 concurrent commits create the same row, exactly one commit succeeds, and the other commits change nothing', async () => {
    const subject = await start()
    const outcomes = await Promise.allSettled(
      Array.from({ length: 200 }, (_, writer) => {
        const require = [{ key: bytes('seat'), absent: true }] as const
        const put = { [`first-${writer}`]: 'ar', [`second-${writer}`]: 'bg', seat: 'ag' }
        return subject.ledger.commit(commitOf({ require, put })).then(() => writer)
      }),
    )
    const winners = outcomes.flatMap(outcome => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    expect(winners).toHaveLength(1)
    const view = await subject.view()
    expect(scannedKeys(view, everyone)).toEqual([`first-${winners[0]}`, `second-${winners[0]}`, 'seat'])
    expect([view.count(everyone), view.count(group('a')), view.count(group('b'))]).toEqual([3, 2, 1])
    expect(await logged(subject.ledger)).toHaveLength(1)
  })

  test('a refused commit does not affect concurrent commits', async () => {
    const subject = await start()
    const refused = { key: bytes('nobody'), version: 7 }
    const outcomes = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) => {
        const isOdd = index % 2 === 1
        return subject.ledger.commit(
          commitOf({ require: isOdd ? [refused] : [], put: { [`row-${index}`]: 'ar' } }),
        )
      }),
    )
    expect(outcomes.map(({ status }) => status === 'fulfilled')).toEqual(
      outcomes.map((_, index) => index % 2 === 0),
    )
    expect((await subject.view()).count(everyone)).toBe(20)
  })
}

export function describeCommitIds(start: OpenLedger): void {
  test('a repeated id resolves with the first revision and changes nothing', async () => {
    const subject = await start()
    const commit = commitOf({ require: [{ key: bytes('alice'), absent: true }], put: { alice: 'ar' } })
    const revision = await subject.ledger.commit(commit)
    await subject.ledger.commit(commitOf({ put: { alice: 'bg', bob: 'ar' } }))
    const before = await everything(subject)
    expect(await subject.ledger.commit(commit)).toEqual(revision)
    expect(await everything(subject)).toEqual(before)
  })

  test('a commit that is sent 20 times concurrently with the same id is committed only once', async () => {
    const subject = await start()
    const commit = commitOf({ put: { alice: 'ar' } })
    const revisions = await Promise.all(Array.from({ length: 20 }, () => subject.ledger.commit(commit)))
    expect(new Set(revisions.map(({ sequence }) => sequence))).toEqual(new Set([1]))
    expect(await subject.ledger.head()).toMatchObject({ sequence: 1 })
  })

  test('the id of a refused commit can be sent again', async () => {
    const { ledger } = await start()
    const commit = commitOf({ require: [{ key: bytes('alice'), version: 1 }], put: { alice: 'br' } })
    await expect(ledger.commit(commit)).rejects.toMatchObject({ code: 'REVISION_CONFLICT' })
    await ledger.commit(commitOf({ put: { alice: 'ar' } }))
    await expect(ledger.commit(commit)).resolves.toMatchObject({ sequence: 2 })
  })

  test('the ledger knows the id of a commit as long as the commit is in the log, and not longer', async () => {
    const { ledger } = await start({ logEntriesMax: 3 })
    const id = commitId()
    await ledger.commit(commitOf({ id }))
    await ledger.commit(commitOf({}))
    await ledger.commit(commitOf({}))
    expect(await ledger.commit(commitOf({ id }))).toMatchObject({ sequence: 1 })
    await ledger.commit(commitOf({}))
    expect(await ledger.commit(commitOf({ id }))).toMatchObject({ sequence: 5 })
  })
}
