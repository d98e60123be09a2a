/** When indexes are handed to the threads that decide. */
import { expect, test } from 'vitest'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import type { Change } from '#model/change.ts'
import { SharedIndexes } from '#threads/shared-indexes.ts'
import { user } from '../engine/changes.ts'
import { SECRETS } from '../engine/shared-engine.ts'

const REVISION = { epoch: 'epoch', sequence: 1 }
const MANY = 100_000

function users(count: number): Change[] {
  return Array.from({ length: count }, (_, n) => user(`u${n}`))
}

test('an index of very many records is handed out after a rehearsal, the first one, and small ones without', async () => {
  const told: string[] = []
  const indexes = new SharedIndexes({
    createWriter: () => new SharedIndexWriter({ threadId: 1, secrets: SECRETS }),
    kept: null,
    attach: async environmentId => void told.push(environmentId),
    detach: () => Promise.resolve(),
    rehearsal: function* rehearsal() {
      told.push('begins')
      yield
      told.push('goes on')
      yield
      told.push('ends')
    },
  })
  const loads = { few: MANY - 1, many: MANY, 'as many': MANY, more: MANY }
  for (const [name, count] of Object.entries(loads)) await indexes.load(name, users(count), REVISION, null)
  await indexes.publish('few')
  expect(told).toEqual(['few'])
  await Promise.all([indexes.publish('many'), indexes.publish('as many')])
  await indexes.publish('more')
  expect(told).toEqual(['few', 'begins', 'goes on', 'ends', 'many', 'as many', 'more'])
})
