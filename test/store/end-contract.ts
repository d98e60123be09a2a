/** Ledger contract of limits, invalid calls, shutdown and reopening. */
import { expect, test } from 'vitest'
import type { AuthzError } from '#model/errors.ts'
import { COMMIT_ROWS_MAX } from '#model/limits.ts'
import type { Exceptions, OpenLedger } from './ledger-under-test.ts'
import { allRows, bytes, commitOf, everything } from './toy-rows.ts'

export function describeEnds(start: OpenLedger, exceptions: Exceptions): void {
  test('a commit takes as many rows as the limit and not one more', async () => {
    const { ledger, view } = await start()
    const row = (index: number) => ({ key: bytes(`row-${String(index).padStart(5, '0')}`), value: bytes('') })
    const full = Array.from({ length: COMMIT_ROWS_MAX }, (_, index) => row(index))
    const overfull = ledger.commit({ ...commitOf({ delete: ['one'] }), put: full })
    await expect(overfull).rejects.toMatchObject({ code: 'LIMIT_EXCEEDED' })
    expect(await ledger.head()).toMatchObject({ sequence: 0 })

    await ledger.commit({ ...commitOf({}), put: full })
    await ledger.commit(commitOf({ put: { next: '' } }))
    const last = (await view()).get(full.at(-1)!.key)!
    expect(last.created).toBeLessThan((await view()).get(bytes('next'))!.created)
  })

  test('a key put twice in one commit is an error of the caller', async () => {
    const { ledger } = await start()
    const put = [bytes('alice'), bytes('alice')].map(key => ({ key, value: bytes('ar') }))
    await expect(ledger.commit({ ...commitOf({}), put })).rejects.toMatchObject({ name: 'InvariantError' })
    expect(await ledger.head()).toMatchObject({ sequence: 0 })
  })

  test('a closed ledger refuses commits, and completes the commits in progress', async () => {
    const { ledger, dispose } = await start()
    const underWay = ledger.commit(commitOf({ put: { alice: 'ar' } }))
    const disposed = dispose()
    await expect(underWay).resolves.toMatchObject({ sequence: 1 })
    await disposed
    const closed = (error: unknown): unknown => (error as AuthzError).code
    expect(await ledger.commit(commitOf({})).catch(closed)).toBe('STORE_CLOSED')
    expect(await ledger.head().catch(closed)).toBe('STORE_CLOSED')
    expect(await allRows(ledger).catch(closed)).toBe('STORE_CLOSED')
  })

  test('a load that is interrupted by closing the ledger fails, and does not end as complete', async () => {
    const { ledger, dispose } = await start()
    const keys = Array.from({ length: 1_500 }, (_, index) => `row-${index}`)
    await ledger.commit(commitOf({ put: Object.fromEntries(keys.map(key => [key, 'ar'])) }))
    const load = ledger.rows()[Symbol.asyncIterator]()
    await load.next()
    await dispose()
    await expect(load.next()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
  })

  test.skipIf(exceptions.durability)('committed rows exist after closing and reopening', async () => {
    const subject = await start()
    const commit = commitOf({
      put: { alice: 'ar', bob: 'bg' },
      changes: [{ kind: 'user-put', user: 'alice', attributes: null }],
    })
    const revision = await subject.ledger.commit(commit)
    await subject.ledger.commit(commitOf({ delete: ['bob'], put: { carol: 'ag' } }))
    const before = await everything(subject)

    const again = await subject.reopen()
    expect(await everything(again)).toEqual(before)
    expect(await again.ledger.head()).toEqual({ epoch: revision.epoch, sequence: 2 })
    expect(await again.ledger.commit(commit)).toEqual(revision)
    expect(await again.ledger.commit(commitOf({ put: { dave: 'ar' } }))).toMatchObject({ sequence: 3 })
    await again.dispose()
  })
}
