/**
 * Verifies decisions during concurrent writes: reader threads check known decisions while a writer changes
 * the graph without pause.
 *
 *     node bench/engine/torn-reads.ts [checks = 10,000,000] [reader threads = 1] [rules]
 *
 * Each of the following describes what the writer changes and which results must be correct at any moment:
 * - One commit moves the only grant from document a to document b, or back. Exactly one of the two documents
 *   is allowed, both in a batch and in a search or list. A document that keeps its grant is always allowed.
 * - Subtrees move between two folders that both grant a role, or between two folders that never do. The
 *   decisions on the documents in these subtrees are constant.
 * - Instances, users and groups are created and removed. This makes tables rehash, regions grow and blocks be
 *   reused.
 * - The set of a rule, its parent and the attributes that they test change together. A user with all
 *   attributes is allowed, and a user with only some of them is denied.
 * - Roles without effect are put and removed, so that schemas are published continuously.
 */
import { Worker } from 'node:worker_threads'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import { WriteMix, foundation } from '#testing/strain/write-mix.ts'
import type { TornReadsReport } from '#testing/strain/torn-reads-reader.ts'

const checks = Number(process.argv[2] ?? 10_000_000)
const readers = Number(process.argv[3] ?? 1)
/** Whether only rules are changed and checked. */
const isOfRules = process.argv[4] === 'rules'

const writer = new SharedIndexWriter({
  threadId: 1,
  secrets: { start: 0x3c6ef372, multiplier: 0x2545f491 },
})
writer.apply(foundation())
const workers = Array.from({ length: readers }, (_, n) => {
  const workerData = { handle: writer.handle, threadId: n + 2, checks: checks / readers, seed: n, isOfRules }
  return new Worker(new URL('../../testing/strain/torn-reads-reader.ts', import.meta.url), { workerData })
})
const results = workers.map(
  worker =>
    new Promise<TornReadsReport>((resolve, reject) => {
      worker.on('message', resolve)
      worker.on('error', reject)
    }),
)
const ended = { count: 0, error: null as unknown }
for (const result of results) {
  result
    .catch((error: unknown) => (ended.error = error))
    .finally(() => (ended.count += 1))
    .catch(() => {})
}
const writeMix = new WriteMix(1)
const start = performance.now()
while (ended.count < readers) {
  for (let n = 0; n < 2_000; n++) writer.apply(isOfRules ? writeMix.nextOfRules() : writeMix.next())
  await new Promise(resolve => setImmediate(resolve))
}
if (ended.error) throw ended.error
const reports = await Promise.all(results)
const total = reports.reduce((sum, report) => sum + report.checks, 0)
const wrong = reports.flatMap(report => report.wrong)
const searches: Record<string, number> = {}
for (const report of reports) {
  for (const [kind, count] of Object.entries(report.searches)) searches[kind] = (searches[kind] ?? 0) + count
}
const seconds = (performance.now() - start) / 1000
process.stdout.write(
  `${total} checks in ${seconds.toFixed(0)} s against ${writeMix.commits} commits: ${wrong.length} wrong\n` +
    `${Object.entries(searches)
      .map(([kind, count]) => `${count} ${kind}`)
      .join(', ')}\n` +
    `${Math.round(writer.bytes().total / 1024)} KiB in the end\n${wrong.slice(0, 10).join('\n')}`,
)
process.exitCode = wrong.length === 0 ? 0 : 1
