/** When indexes are handed to the threads that decide. */
import { expect, test } from 'vitest'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Change } from '#model/change.ts'
import { SharedIndexes } from '#threads/indexes/shared-indexes.ts'
import { user } from '#testing/engines/changes.ts'
import { SECRETS } from '#testing/engines/shared-engine.ts'

const REVISION = { epoch: 'epoch', sequence: 1 }
const MANY = 100_000

function users(count: number): Change[] {
  return Array.from({ length: count }, (_, n) => user(`u${n}`))
}

test('a warm-up that fails is one load that fails; the next one warms up again', async () => {
  let warmUps = 0
  const indexes = new SharedIndexes({
    createWriter: () => new SharedIndexWriter({ threadId: 1, secrets: SECRETS }),
    kept: null,
    attach: () => Promise.resolve(),
    detach: () => Promise.resolve(),
    onFault: () => {},
    warmUpWriter: function* warmUpWriter() {
      yield
      warmUps++
      if (warmUps === 1) throw new RangeError('Array buffer allocation failed')
    },
  })
  const load = () => indexes.load('many', users(MANY), REVISION, null)
  await expect(load()).rejects.toThrow('Array buffer allocation failed')
  expect(indexes.look('many')).toBeNull()
  await load()
  await load()
  expect(warmUps).toBe(2)
})

test('an index of very many records is handed out after a warm-up, the first one, and small ones without', async () => {
  const told: string[] = []
  const indexes = new SharedIndexes({
    createWriter: () => new SharedIndexWriter({ threadId: 1, secrets: SECRETS }),
    kept: null,
    attach: async environmentId => void told.push(environmentId),
    detach: () => Promise.resolve(),
    onFault: () => {},
    warmUpWriter: function* warmUpWriter() {
      told.push('begins')
      yield
      told.push('goes on')
      yield
      told.push('ends')
    },
  })
  const load = (name: string, count: number) => indexes.load(name, users(count), REVISION, null)
  await load('few', MANY - 1)
  await indexes.publish('few')
  expect(told).toEqual(['few'])
  await Promise.all([load('many', MANY), load('as many', MANY)])
  await load('more', MANY)
  for (const name of ['many', 'as many', 'more']) await indexes.publish(name)
  expect(told).toEqual(['few', 'begins', 'goes on', 'ends', 'many', 'as many', 'more'])
})
