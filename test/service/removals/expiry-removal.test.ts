/** Removal of the rows of expired grants: when it runs, and which rows it removes by name. */
import { expect, onTestFinished, test } from 'vitest'
import { ExpiryRemoval, type ExpiryRemovalOptions } from '#management/environment/expiry-removal.ts'
import type { ListedPlace } from '#management/facts/expiry.ts'
import type { Change } from '#model/change.ts'
import { AuthzError, ConflictError } from '#model/errors.ts'

const PENDING_MAX = 100_000

function removalOf(n: number): Change {
  return { kind: 'assignment-removed', user: `user-${n}`, role: 'auditor', scope: { tenant: 'default' } }
}

function opened(options: Partial<ExpiryRemovalOptions>): ExpiryRemoval {
  const grants = new ExpiryRemoval({
    holdMs: 0,
    remove: async () => {},
    removeListed: async () => null,
    onFault: error => expect.unreachable(String(error)),
    ...options,
  })
  onTestFinished(() => grants.close())
  return grants
}

test.each([1, 2, 3])(
  'a grant that expires %i microtasks after a removal is also removed',
  async microtasks => {
    const done = Promise.withResolvers<void>()
    const removed: Change[] = []
    const grants = opened({
      remove: async ended => {
        removed.push(...ended.map(({ removal }) => removal))
        if (removed.length === 2) done.resolve()
        else void afterMicrotasks(microtasks).then(() => grants.add([removalOf(2)], 1))
      },
    })
    grants.add([removalOf(1)], 1)
    await done.promise
    expect(removed).toEqual([removalOf(1), removalOf(2)])
  },
)

test('expired grants above the limit of named removals are found by one scan of the lists, from start to end', async () => {
  const done = Promise.withResolvers<void>()
  const looks: (ListedPlace | null)[] = []
  let named = 0
  const grants = opened({
    remove: async ended => void (named += ended.length),
    removeListed: async from => {
      looks.push(from)
      if (looks.length < 3) return { kind: 'tuple', after: looks.length }
      done.resolve()
      return null
    },
  })
  grants.add(
    Array.from({ length: PENDING_MAX + 1 }, (_, n) => removalOf(n)),
    1,
  )
  await done.promise
  expect(named).toBe(PENDING_MAX)
  expect(looks).toEqual([null, { kind: 'tuple', after: 1 }, { kind: 'tuple', after: 2 }])
})

test('a scan of the lists waits for `holdMs`, and resumes at the same position after a failure', async () => {
  const done = Promise.withResolvers<void>()
  const looks: (ListedPlace | null)[] = []
  const holdMs = 40
  const grants = opened({
    holdMs,
    removeListed: async from => {
      looks.push(from)
      if (looks.length === 1) return { kind: 'assignment', after: 7 }
      if (looks.length === 2) throw new AuthzError('STORE_UNAVAILABLE', 'the store is away')
      done.resolve()
      return null
    },
  })
  const from = performance.now()
  grants.lookThroughLists()
  expect(looks).toEqual([])
  await done.promise
  expect(performance.now() - from).toBeGreaterThanOrEqual(holdMs)
  expect(looks).toEqual([null, { kind: 'assignment', after: 7 }, { kind: 'assignment', after: 7 }])
})

test('a grant whose removal always fails does not block other removals, and each grant keeps its expiration sequence', async () => {
  const done = Promise.withResolvers<void>()
  const removed: unknown[] = []
  const faults: string[] = []
  const grants = opened({
    firstPauseMs: 1,
    onFault: error => faults.push(String(error)),
    remove: async ended => {
      if (ended.some(({ removal }) => 'user' in removal && removal.user === 'user-2'))
        throw new Error('unreadable')
      removed.push(...ended.map(({ removal, sequence }) => [removal, sequence]))
      if (removed.length === 4) done.resolve()
    },
  })
  grants.add([removalOf(1), removalOf(2), removalOf(3)], 7)
  grants.add([removalOf(4), removalOf(5)], 9)
  await done.promise
  expect(removed).toEqual([
    [removalOf(1), 7],
    [removalOf(3), 7],
    [removalOf(4), 9],
    [removalOf(5), 9],
  ])
  expect(new Set(faults)).toEqual(new Set(['Error: unreadable']))
})

test.each([
  ['a conflict with another writer', () => new ConflictError(new Uint8Array(1))],
  ['an overload of the service', () => new AuthzError('OVERLOADED', 'too much at once')],
  ['an unavailable store', () => new AuthzError('STORE_UNAVAILABLE', 'the store is away')],
])('after several failures by %s, all expired grants are removed in one commit', async (_, failure) => {
  const done = Promise.withResolvers<void>()
  const batches: number[] = []
  const grants = opened({
    firstPauseMs: 1,
    onFault: error => done.reject(error),
    remove: async ended => {
      batches.push(ended.length)
      if (batches.length < 6) throw failure()
      done.resolve()
    },
  })
  grants.add([removalOf(1), removalOf(2)], 1)
  await done.promise
  expect(batches).toEqual([2, 2, 2, 2, 2, 2])
})

async function afterMicrotasks(count: number): Promise<void> {
  for (let n = 0; n < count; n++) await Promise.resolve()
}
