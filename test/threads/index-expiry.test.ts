/** Expiring facts in an index on which threads decide. */
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import type { SavedIndex } from '#engine/shared-index/saved-index.ts'
import type { Change } from '#model/change.ts'
import { StalenessDeadline } from '#threads/indexes/staleness-deadline.ts'
import { assign, instance, resourceType, role, tenant, user } from '#testing/engines/changes.ts'
import { sharedIndexes, type SharedIndexesOptions } from '../support/shared-indexes.ts'

const ID = 'environment'
const READ = { user: 'alice', action: 'read', type: 'document', key: 'd', tenant: null }
const schema = [
  tenant('default'),
  resourceType('document', 'read'),
  role('document', 'viewer', { can: ['read'] }),
  user('alice'),
  instance('document:d'),
]
const granted = (expiresAt?: number): Change => ({
  ...assign('alice', 'viewer', 'document:d'),
  ...(expiresAt !== undefined && { expiresAt }),
})
const REMOVAL = {
  kind: 'assignment-removed',
  user: 'alice',
  role: 'viewer',
  scope: { instance: { type: 'document', key: 'd' } },
}

async function open(load: readonly Change[], now = Date.now, kept: SharedIndexesOptions['kept'] = null) {
  const told = Promise.withResolvers<number>()
  const ended: (readonly [readonly Change[], number])[] = []
  const { indexes, readers } = sharedIndexes({ kept, now })
  onTestFinished(() => indexes.remove(ID))
  indexes.whenExpired(ID, (removals, sequence) => {
    ended.push([removals, sequence])
    told.resolve(Date.now())
  })
  let sequence = 1
  await indexes.load(ID, load, { epoch: 'e', sequence }, null)
  await indexes.publish(ID)
  const commit = (...changes: Change[]): Promise<void> =>
    indexes.apply(ID, changes, { epoch: 'e', sequence: ++sequence })
  const decide = (): boolean => readers.engine(ID)!.evaluate(READ)
  return { indexes, readers, ended, whenTold: told.promise, commit, decide }
}

function decideOrCode(decide: () => boolean): boolean | string {
  try {
    return decide()
  } catch (error) {
    return (error as { code: string }).code
  }
}

/** Expects an allow, except on a slow machine on which the expiration time has passed. */
function expectAllowedBefore(expiresAt: number, decide: () => boolean): void {
  const isAllowed = decide()
  if (Date.now() < expiresAt) expect(isAllowed).toBe(true)
}

test('a grant that expired before the index is loaded is denied from the first decision on, and reported', async () => {
  const { decide, ended } = await open([...schema, granted(Date.now() - 1)])
  expect(decide()).toBe(false)
  expect(ended).toEqual([[[REMOVAL], 1]])
})

test('a grant expires at its time without a commit', async () => {
  const expiresAt = Date.now() + 60
  const { decide, whenTold } = await open([...schema, granted(expiresAt)])
  expectAllowedBefore(expiresAt, decide)
  expect(await whenTold).toBeGreaterThanOrEqual(expiresAt)
  expect(decide()).toBe(false)
})

test('an expired grant is never effective, even directly after its commit becomes visible', async () => {
  const { commit, decide, ended } = await open(schema)
  await commit(granted(Date.now() - 1))
  expect(decide()).toBe(false)
  expect(ended).toEqual([[[REMOVAL], 2]])
})

test('a thousand grants that expire together are removed in one event-loop iteration and short critical sections', async () => {
  let now = 1_000_000
  const ends = Array.from({ length: 1_000 }, (_, n) => [
    instance(`document:d${n}`),
    { ...assign('alice', 'viewer', `document:d${n}`), expiresAt: now + 100 },
  ]).flat()
  const { ended, indexes } = await open([...schema, ...ends], () => now)
  now += 100
  indexes.expireDue(ID)
  const sections = ended.map(([removals]) => removals.length)
  expect(sections.reduce((sum, each) => sum + each, 0)).toBe(1_000)
  expect(Math.max(...sections)).toBeLessThanOrEqual(128)
})

test('a grant that is repeated with another expiration time, or without an expiration time, expires as the last grant states', async () => {
  let now = 1_000_000
  const { commit, decide, ended, indexes } = await open([...schema, granted(now + 100)], () => now)
  await commit(granted(now + 5_000))
  now += 1_000
  indexes.expireDue(ID)
  expect(decide()).toBe(true)
  await commit(granted())
  now += 10_000
  await commit()
  expect([decide(), ended]).toEqual([true, []])
  await commit(granted(now + 1))
  now += 1
  await commit()
  expect([decide(), ended]).toEqual([false, [[[REMOVAL], 6]]])
})

test('a grant that the index received twice is reported only once when it expires', async () => {
  let now = 1_000_000
  const { commit, ended } = await open([...schema, granted(now + 5_000)], () => now)
  await commit(granted(now + 100))
  await commit(granted(now + 100))
  now += 100
  await commit()
  expect(ended).toEqual([[[REMOVAL], 4]])
})

test('a grant that is renewed after its expiration is effective again', async () => {
  let now = 1_000_000
  const { commit, decide } = await open([...schema, granted(now)], () => now)
  expect(decide()).toBe(false)
  await commit(granted(now + 1_000))
  expect(decide()).toBe(true)
  now += 1_000
  await commit()
  expect(decide()).toBe(false)
})

test('a grant that expires while its index is saved does not change the index', async () => {
  let now = 1_000_000
  const seen: Buffer[] = []
  const { indexes, ended } = await open([...schema, granted(now + 100)], () => now, {
    read: async () => null,
    write: async ({ saved }) => {
      const { header } = (saved as SavedIndex).parts
      seen.push(Buffer.from(header))
      now += 1_000
      indexes.expireDue(ID)
      seen.push(Buffer.from(header))
    },
  })
  await indexes.keep(ID, { directory: '/nowhere', mark: () => null, setMark: async () => {} })
  expect(seen[1]!.equals(seen[0]!)).toBe(true)
  expect(ended).toEqual([])
})

test('while the thread that removes expired grants is busy, no check is allowed by an expired grant', async () => {
  const expiresAt = Date.now() + 100
  const { decide } = await open([...schema, granted(expiresAt)])
  const seen: (boolean | string)[] = []
  // Blocks this thread, so that no timer runs.
  while (Date.now() < expiresAt + 200) {
    const at = Date.now()
    const outcome = decideOrCode(decide)
    if (at >= expiresAt + 50) seen.push(outcome)
    else if (Date.now() < expiresAt) expect(outcome).toBe(true)
  }
  expect(new Set(seen)).toEqual(new Set(['NOT_READY']))
})

test('an index removes expired grants until its replacement is published', async () => {
  const expiresAt = Date.now() + 100
  const { decide, indexes, whenTold } = await open([...schema, granted(expiresAt)])
  await indexes.load(ID, schema, { epoch: 'another', sequence: 1 }, null)
  expectAllowedBefore(expiresAt, decide)
  expect(await whenTold).toBeGreaterThanOrEqual(expiresAt)
  expect(decide()).toBe(false)
  await indexes.publish(ID)
  expect(decide()).toBe(false)
})

test('a thread that is paused just after it reads the clock does not allow a check by a grant that expires during the pause', async () => {
  const expiresAt = Date.now() + 60
  let stops = 1
  const { decide } = await open([...schema, granted(expiresAt)], () => {
    const at = Date.now()
    if (stops-- > 0) while (Date.now() < expiresAt + 100);
    return at
  })
  expect(decideOrCode(decide)).not.toBe(true)
})

test('an index whose expired grants cannot be removed is not attached', async () => {
  const opening = open([...schema, granted(Date.now() + 60_000)], () => {
    throw new Error('there is no clock')
  })
  await expect(opening).rejects.toThrow('there is no clock')
})

test('a thread waits if the deadline has just passed, and continues as soon as the deadline is moved', () => {
  const deadline = new StalenessDeadline()
  deadline.set(0)
  expect(deadline.waitWhileOver(5)).toBe(true)
  const mover = new Worker(new URL('./deadline-mover.ts', import.meta.url), { workerData: deadline.handle })
  onTestFinished(async () => void (await mover.terminate()))
  expect(deadline.waitWhileOver(60_000)).toBe(false)
})
