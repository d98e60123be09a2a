/**
 * What counting costs: single checks with METRICS on and off, two services on one core, asked in turn by one client on the
 * other core, in pairs. What is compared is the processor time of the service for a check, not the rate, which others on
 * the machine share in. Every answer is checked before anything is timed.
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

/** Seconds of processor time the service has had, as it says itself. */
async function cpuSecondsOf(address: string): Promise<number> {
  const text = await (await fetch(`${address}/metrics`)).text()
  return Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)![1])
}

/** Microseconds of processor time for a check. */
async function cpuOf(address: string): Promise<number> {
  const before = await cpuSecondsOf(address)
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
  return (((await cpuSecondsOf(address)) - before) * 1_000_000) / result.requests.total
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right)
  return (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.ceil((sorted.length - 1) / 2)]!) / 2
}

const [on, off] = [await started('on'), await started('off')]
try {
  const measured = new Map([on, off].map(service => [service, [] as number[]]))
  for (let round = 0; round < rounds; round += 1) {
    // Who goes first takes turns, so that a drift of the machine favours neither.
    for (const service of round % 2 === 0 ? [on, off] : [off, on]) {
      measured.get(service)!.push(await cpuOf(service.address))
    }
  }
  const [withMetrics, without] = [measured.get(on)!, measured.get(off)!]
  const ratios = withMetrics.map((value, round) => value / without[round]!)
  process.stdout.write(
    `processor time of a check: ${median(withMetrics).toFixed(3)} µs on, ${median(without).toFixed(3)} µs off; ` +
      `on/off ${median(ratios).toFixed(4)}, the median of ${rounds} pairs ` +
      `(${Math.min(...ratios).toFixed(3)} to ${Math.max(...ratios).toFixed(3)})\n`,
  )
} finally {
  await on.stop()
  await off.stop()
}
