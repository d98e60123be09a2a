/** Memory that a batch with rules needs is released with its result, not by the next batch. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { NOTHING_SENT, type Query } from '#model/decision.ts'
import { ruleOf, conditionSet, resourceType, tenant } from '#testing/engines/changes.ts'
import { SharedEngine } from '#testing/engines/shared-engine.ts'
import { evaluateAll } from '#testing/engines/packed.ts'

const USERS = 128
const TEXT_BYTES = 60_000
const KEPT_BYTES_MAX = 1_000_000

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function keptBytes(): number {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

function engineWith(long: string): SharedEngine {
  return SharedEngine.with([
    resourceType('document', 'read'),
    tenant('default'),
    conditionSet('long', { 'user.long': { contains: 'y' } }),
    ruleOf('long'),
    ...Array.from({ length: USERS }, (_, n) => {
      return {
        kind: 'user-put',
        user: `u${n}`,
        attributes: { long: `${long}${n % 2 === 0 ? 'y' : 'n'}` },
      } as const
    }),
  ])
}

const question = (n: number, more: Partial<Query> = {}): Query => {
  return { user: `u${n}`, action: 'read', type: 'document', key: null, tenant: null, ...more }
}

const RIGHT = Array.from({ length: USERS }, (_, n) => n % 2 === 0)

test('memory for stored attributes is released after a batch with rules', async () => {
  const engine = engineWith('x'.repeat(TEXT_BYTES))
  // The first batch allocates the memory that is kept.
  expect(evaluateAll(engine, [question(0), question(1)])).toEqual([true, false])
  const before = keptBytes()
  const all = Array.from({ length: USERS }, (_, n) => question(n))
  expect(evaluateAll(engine, all)).toEqual(RIGHT)
  // Buffers are freed by another thread, soon after the collection.
  await expect.poll(() => keptBytes() - before).toBeLessThan(KEPT_BYTES_MAX)
})

test('memory for request attributes is released after a batch with rules', async () => {
  const engine = engineWith('')
  const ask = (): void => {
    const queries = Array.from({ length: USERS }, (_, n) => {
      const text = Buffer.alloc(TEXT_BYTES, `${n}-`).toString('latin1')
      const sent = { ...NOTHING_SENT, user: { long: text + (n % 2 === 0 ? 'y' : 'n') } }
      return question(n, { queryContext: { readAt: 0, sent: () => sent } })
    })
    expect(evaluateAll(engine, queries)).toEqual(RIGHT)
  }
  const before = keptBytes()
  ask()
  // Buffers are freed by another thread, soon after the collection.
  await expect.poll(() => keptBytes() - before).toBeLessThan(KEPT_BYTES_MAX)
})
