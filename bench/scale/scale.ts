/**
 * Simulates a fleet for 10^9 facts and 10^6 checks per second, with measured rates. The results are the
 * tables in docs/design. Before they are printed, the simulation is compared with queueing theory, with its
 * inputs and with measurements.
 *
 *     npm run bench -- scale
 */
import { readFileSync } from 'node:fs'
import { climb } from './ladder.ts'
import { checkPropagation, compareWithInputs } from './properties.ts'
import { compareWithLadder, compareWithTheory, isOff, type MeasuredRung } from './verification.ts'
import { printChecks } from './check-tables.ts'
import { printDesigns } from './design-tables.ts'
import { ms, percent, printTable } from './tables.ts'
import { printWrites } from './write-tables.ts'

const RUNGS = [1, 4, 8, 16, 64]

function resultsOf(name: string) {
  return JSON.parse(
    readFileSync(new URL(`../results/intel-xeon/${name}.json`, import.meta.url), 'utf8'),
  ) as unknown
}

const { raw } = resultsOf('latency') as { raw: { rungs: Record<string, MeasuredRung> } }
checkPropagation((resultsOf('redis-propagation') as { figures: [] }).figures)
const theory = compareWithTheory()
const comparisons = [...theory, ...compareWithLadder(raw.rungs), ...compareWithInputs()]
const off = comparisons.filter(isOff)
if (off.length > 0) throw new Error(`the simulation is off: ${JSON.stringify(off)}`)
const means = theory.filter(({ what }) => what.includes('mean'))
const worst = Math.max(...means.map(({ expected, found }) => Math.abs(found / expected - 1)))
process.stdout.write(
  `${comparisons.length} comparisons hold; of means with theory the worst is off by ${percent(worst)}\n`,
)

printTable(
  'The bench of latency, measured and simulated',
  ['Connections', 'Checks/s', 'simulated', 'p50', 'simulated', 'p99', 'simulated', 'p99.9', 'simulated'],
  RUNGS.map(connections => {
    const { requestsPerSecond, p50, p99, p999 } = raw.rungs[connections]!
    const { checksPerSecond, latencies } = climb(connections, 6)
    const pairs = [
      [p50, 0.5],
      [p99, 0.99],
      [p999, 0.999],
    ] as const
    return [
      connections,
      Math.round(requestsPerSecond),
      Math.round(checksPerSecond),
      ...pairs.flatMap(([measured, share]) => [ms(measured / 1e3), ms(latencies.at(share))]),
    ]
  }),
)
printChecks()
printWrites()
printDesigns()
