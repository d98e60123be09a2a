/**
 * Measures the cost of metrics: single checks with METRICS on and off. Two services share one core. One
 * client on the other core queries them alternately. The ratio of each pair of runs is reported. Every
 * decision is verified before the measurement.
 *
 *     taskset -c 1 node --disable-warning=ExperimentalWarning bench/http/metrics-cost.ts \
 *       [scale of W1 = 0.05] [pairs = 12]
 */
import { closedLoop } from '../lib/load-generator.ts'
import { atLeast, median, publish } from '../lib/measure.ts'
import { singleRequests } from './drive-questions.ts'
import { Stage } from './stage.ts'

const SECONDS = 2
const LOAD = { connections: 16, seconds: SECONDS }
const stage = new Stage(Number(process.argv[2] ?? 0.05))
const pairs = Number(process.argv[3] ?? 12)
const requests = singleRequests(stage.mixedQuestions)
const services = await Promise.all(
  (['on', 'off'] as const).map(async METRICS => {
    const { address } = await stage.service(METRICS, { METRICS })
    return { address, bursts: await stage.bursts(address, requests, 10) }
  }),
)
const rateOf = async (index: number) => {
  const { address, bursts } = services[index]!
  return (await closedLoop(address, bursts, LOAD)).requestsPerSecond
}
const rates: { readonly on: number; readonly off: number }[] = []
for (let pair = 0; pair < pairs; pair += 1) {
  // The order alternates, so that a change in the speed of the machine does not favor one of the services.
  const [first, second] = pair % 2 === 0 ? [0, 1] : [1, 0]
  const measured = new Map([[first, await rateOf(first)]])
  measured.set(second, await rateOf(second))
  rates.push({ on: measured.get(0)!, off: measured.get(1)! })
}
await stage.close()
publish(
  'metrics-cost',
  [
    atLeast(
      'single checks/s with METRICS=on, against off',
      median(rates.map(({ on, off }) => on / off)),
      0.97,
      '×',
    ),
  ],
  { rates },
)
