/**
 * What counting costs: single checks with METRICS on and off, two services on one core, asked in turn by one client on the
 * other core, in pairs; the pair's ratio is what is told. Every answer is checked before anything is timed.
 *
 *     taskset -c 1 node --disable-warning=ExperimentalWarning bench/http/metrics-cost.ts [ROUNDS]
 */
import autocannon from 'autocannon'
import { ServerProcess } from './server-process.ts'
import { SmallCompany } from './small-company.ts'

const SECONDS = 2
const API_KEY = 'bench-key-bench-key'
const rounds = Number(process.argv[2] ?? 12)
const company = new SmallCompany()

async function started(METRICS: string): Promise<ServerProcess> {
  const service = await ServerProcess.start(new URL('../../src/start.js', import.meta.url), {
    PORT: '0',
    STORE_URL: 'memory:',
    API_KEY,
    HTTP_THREADS: '1',
    LOG_LEVEL: 'warn',
    STOP_DELAY_MS: '0',
    METRICS,
  })
  await company.create(service.address, API_KEY)
  await company.verify(service.address, API_KEY)
  return service
}

async function rateOf(address: string): Promise<number> {
  const result = await autocannon({
    url: address,
    connections: 16,
    pipelining: 10,
    duration: SECONDS,
    requests: company.checks.map(({ query }) => ({
      method: 'POST' as const,
      path: '/allowed',
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify(query),
    })),
  })
  if (result.errors > 0 || result.non2xx > 0) throw new Error('an answer that is not 2xx')
  return result.requests.average
}

const [on, off] = [await started('on'), await started('off')]
try {
  const ratios: number[] = []
  const rates: [number, number][] = []
  for (let round = 0; round < rounds; round += 1) {
    // Who goes first takes turns, so that a drift of the machine favours neither.
    const order = round % 2 === 0 ? [on, off] : [off, on]
    const measured = new Map<ServerProcess, number>()
    for (const service of order) measured.set(service, await rateOf(service.address))
    rates.push([measured.get(on)!, measured.get(off)!])
    ratios.push(measured.get(on)! / measured.get(off)!)
  }
  const sorted = ratios.toSorted((left, right) => left - right)
  const median = (sorted[Math.floor((rounds - 1) / 2)]! + sorted[Math.ceil((rounds - 1) / 2)]!) / 2
  const last = rates.at(-1)!
  process.stdout.write(
    `on/off ${median.toFixed(4)} (median of ${rounds} pairs, ${sorted[0]!.toFixed(3)} to ${sorted.at(-1)!.toFixed(3)}); ` +
      `last pair ${Math.round(last[0])} and ${Math.round(last[1])} checks/s\n`,
  )
} finally {
  await on.stop()
  await off.stop()
}
