/** Decisions during continuous changes. `bench/engine/torn-reads.ts` tests the same for longer. */
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import { WriteMix, foundation } from '#testing/strain/write-mix.ts'
import type { TornReadsReport } from '#testing/strain/torn-reads-reader.ts'
import { QUESTIONS } from '#testing/strain/torn-searches.ts'
import { SECRETS } from '#testing/engines/shared-engine.ts'

const CHECKS = 150_000

test('a reader in another thread never decides wrongly on unchanged facts or sees half of a commit', async () => {
  const writer = new SharedIndexWriter({ threadId: 1, secrets: SECRETS })
  writer.apply(foundation())
  const workerData = { handle: writer.handle, threadId: 2, checks: CHECKS, seed: 1 }
  const worker = new Worker(new URL('../../../testing/strain/torn-reads-reader.ts', import.meta.url), {
    workerData,
  })
  const report = new Promise<TornReadsReport>((resolve, reject) => {
    worker.on('message', resolve)
    worker.on('error', reject)
  })
  const ended = { isTrue: false }
  const whenExpired = report.finally(() => (ended.isTrue = true))
  const writeMix = new WriteMix(2)
  while (!ended.isTrue) {
    for (let n = 0; n < 200; n++) writer.apply(writeMix.next())
    await new Promise(resolve => setImmediate(resolve))
  }
  const { checks, searches, wrong } = await whenExpired
  expect(wrong).toEqual([])
  expect(checks).toBeGreaterThanOrEqual(CHECKS)
  for (const kind of Object.keys(QUESTIONS)) expect(searches[kind], kind).toBeGreaterThan(50)
  expect(writeMix.commits).toBeGreaterThan(100)
})
