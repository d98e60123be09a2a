/**
 * Runs the benches of the service, which share one stage. For each bench, prints a table and writes its
 * results. At the end, draws the plots.
 *
 *     npm run bench -- NAME…
 *
 * BENCH_SCALE=0.1 uses a tenth of the dataset. `single` and `latency` need wrk.
 */
import { measureSizes } from './engine/sizes.ts'
import { measureWithWrites } from './http/with-writes.ts'
import { measureBesideHostiles } from './hostile/beside-hostiles.ts'
import { measureAfterBulks } from './http/after-bulks.ts'
import { measureWithBulks, measureLatency } from './http/latency.ts'
import { measurePlans } from './http/plans.ts'
import { measurePool } from './http/pool.ts'
import { measureRuledBulk } from './http/ruled-bulk.ts'
import { Stage } from './http/stage.ts'
import { measureBulk, measureEvaluations, measureSingle, type Result } from './http/throughput.ts'
import { publish } from './lib/measure.ts'
import { measurePeers } from './peers/compare.ts'
import { measureConditionPeers } from './peers/conditions.ts'

const BENCHES: Record<string, (stage: Stage) => Promise<Result> | Result> = {
  single: measureSingle,
  bulk: measureBulk,
  evaluations: measureEvaluations,
  latency: measureLatency,
  pool: measurePool,
  'with-bulks': measureWithBulks,
  plans: measurePlans,
  'after-bulks': measureAfterBulks,
  'with-writes': measureWithWrites,
  'beside-hostiles': measureBesideHostiles,
  facts: measureSizes,
  peers: measurePeers,
  'condition-peers': measureConditionPeers,
  'ruled-bulk': measureRuledBulk,
}

const names = process.argv.slice(2)
for (const name of names) {
  if (!BENCHES[name])
    throw new Error(`no bench is called ${name}; there are ${Object.keys(BENCHES).join(', ')}`)
}
const stage = new Stage(Number(process.env['BENCH_SCALE'] ?? 1))
try {
  for (const name of names) {
    const startedAt = performance.now()
    const { figures, raw } = await BENCHES[name]!(stage)
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    publish(name, figures, { dataset: stage.dataset, seconds, ...raw })
  }
} finally {
  await stage.close()
}
await import('./plots.ts')
