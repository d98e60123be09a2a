/** Time at which indexes are attached to the deciding threads: before or after a warm-up. */
import { expect, test } from 'vitest'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Change } from '#model/change.ts'
import { user } from '#testing/engines/changes.ts'
import { SECRETS } from '#testing/engines/shared-engine.ts'
import { sharedIndexes, type SharedIndexesOptions } from '../support/shared-indexes.ts'

const REVISION = { epoch: 'epoch', sequence: 1 }
const PLACE = { directory: '/nowhere', mark: () => null, setMark: () => Promise.resolve() }
const MANY = 100_000

/** Indexes with options. By default, every restore finds a snapshot of very many records. */
function indexesWith(options: Partial<SharedIndexesOptions>) {
  const read = async () => {
    const writer = new SharedIndexWriter({ threadId: 1, secrets: SECRETS })
    writer.apply(users(MANY))
    return { revision: REVISION, writer }
  }
  return sharedIndexes({ kept: { read, write: () => Promise.resolve() }, ...options }).indexes
}

function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}

function users(count: number): Change[] {
  return Array.from({ length: count }, (_, n) => user(`u${n}`))
}

test('a load fails if its warm-up fails, and the next load warms up again', async () => {
  let warmUps = 0
  const indexes = indexesWith({
    kept: null,
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

test('the first index of very many records is attached after a warm-up, and small indexes are attached without a warm-up', async () => {
  const told: string[] = []
  const indexes = indexesWith({
    kept: null,
    attach: async environmentId => void told.push(environmentId),
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

test('an index from a snapshot is attached immediately, and the warm-up follows', async () => {
  const told: string[] = []
  const ended = Promise.withResolvers<void>()
  const indexes = indexesWith({
    attach: async environmentId => void told.push(environmentId),
    warmUpWriter: function* warmUpWriter() {
      told.push('begins')
      yield
      told.push('ends')
      ended.resolve()
    },
  })
  for (const name of ['one', 'other']) {
    expect(await indexes.restore(name, PLACE, REVISION.epoch)).toEqual(REVISION)
    await indexes.publish(name)
    if (name === 'one') expect(told).toEqual(['one'])
  }
  await ended.promise
  expect(told.filter(word => word !== 'one' && word !== 'other')).toEqual(['begins', 'ends'])
})

test('an index from a snapshot continues to decide if the warm-up after it fails', async () => {
  const warmUps: string[] = []
  const failed = Promise.withResolvers<void>()
  const indexes = indexesWith({
    warmUpWriter: function* warmUpWriter() {
      warmUps.push('begun')
      failed.resolve()
      if (warmUps.length === 1) throw new RangeError('Array buffer allocation failed')
      yield
    },
  })
  await indexes.restore('kept', PLACE, REVISION.epoch)
  await indexes.publish('kept')
  await failed.promise
  await nextTurn()
  expect(indexes.look('kept')).toMatchObject({ records: MANY })
  await indexes.load('loaded', users(MANY), REVISION, null)
  expect(warmUps).toEqual(['begun', 'begun'])
})

test('a shutdown that saves the indexes does not wait for a warm-up', async () => {
  const begun = Promise.withResolvers<void>()
  const progress = { steps: 0 }
  const indexes = indexesWith({
    warmUpWriter: function* warmUpWriter() {
      begun.resolve()
      for (let n = 0; n < 1_000; n++) yield void progress.steps++
    },
  })
  await indexes.restore('kept', PLACE, REVISION.epoch)
  await indexes.publish('kept')
  await begun.promise
  await indexes.keep('kept', PLACE)
  await nextTurn()
  const { steps } = progress
  await nextTurn()
  expect(progress.steps).toBe(steps)
})
