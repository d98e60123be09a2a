/**
 * Requests a second of `/allowed` and `/allowed/bulk`, one HTTP thread and everything else of the service on one core,
 * against the floor server on the same core, in one run. Every body's answer is checked, over HTTP, before anything is
 * timed; a run with an error, or one in which the load generator's core was full, is void.
 *
 * Bulks are asked with `BULK_BYTES_PATH` on and off. A number asks bulks of that size only.
 *
 *     npm run bench:http [-- SIZE…]
 */
import { cpus } from 'node:os'
import autocannon from 'autocannon'
import { ServerProcess } from './server-process.ts'
import { SmallCompany } from './small-company.ts'

const SECONDS = 3
const ROUNDS = 3
const CONNECTIONS = 16
const PIPELINING = 10
const BULK_SIZES = [10, 100, 1_000, 10_000]
/** Larger ones are megabytes: pipelined, they would wait for each other for seconds. */
const PIPELINED_CHECKS_MAX = 1_000
const API_KEY = 'bench-key-bench-key'
/** Share of its core above which the load generator may have been the limit. */
const CLIENT_CPU_MAX = 0.9

interface Timing {
  readonly requestsPerSecond: number
  readonly latencyMsP99: number
  readonly clientCpu: number
}

interface Workload {
  readonly name: string
  readonly path: string
  readonly bodies: readonly string[]
  /** Checks in each body. */
  readonly checks: number
}

async function load(address: string, workload: Workload): Promise<Timing> {
  const cpuBefore = process.cpuUsage()
  const startedAt = performance.now()
  const result = await autocannon({
    url: address,
    connections: CONNECTIONS,
    pipelining: workload.checks > PIPELINED_CHECKS_MAX ? 1 : PIPELINING,
    duration: SECONDS,
    requests: workload.bodies.map(body => ({
      method: 'POST' as const,
      path: workload.path,
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
      body,
    })),
  })
  const cpu = process.cpuUsage(cpuBefore)
  if (result.errors > 0 || result.non2xx > 0) {
    throw new Error(`${workload.name}: ${result.errors} errors, ${result.non2xx} answers that are not 2xx`)
  }
  return {
    requestsPerSecond: result.requests.average,
    latencyMsP99: result.latency.p99,
    clientCpu: (cpu.user + cpu.system) / 1_000 / (performance.now() - startedAt),
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)]!
}

const say = (line: string) => process.stdout.write(`${line}\n`)

const company = new SmallCompany()
const sizes = process.argv.slice(2).map(Number)
const startService = (settings: Readonly<Record<string, string>>) =>
  ServerProcess.start(new URL('../../src/start.js', import.meta.url), {
    PORT: '0',
    STORE_URL: 'memory:',
    API_KEY,
    HTTP_THREADS: '1',
    LOG_LEVEL: 'warn',
    ...settings,
  })
const service = await startService({ BULK_BYTES_PATH: 'true' })
const parsing = await startService({ BULK_BYTES_PATH: 'false' })
const floor = await ServerProcess.start(new URL('./floor-server.ts', import.meta.url), {})
try {
  let verified = 0
  for (const { address } of [service, parsing]) {
    await company.create(address, API_KEY)
    verified += await company.verify(address, API_KEY)
  }
  say(
    `node ${process.versions.node}, ${cpus()[0]?.model}, ${cpus().length} cores; service on core 0, client on core 1`,
  )
  say(
    `${company.factCount} facts; ${verified} answers checked; median of ${ROUNDS} interleaved rounds of ${SECONDS} s`,
  )

  const workloads: Workload[] = [
    {
      name: '/allowed',
      path: '/allowed',
      bodies: company.checks.map(check => JSON.stringify(check.query)),
      checks: 1,
    },
    ...BULK_SIZES.map(size => ({
      name: `/allowed/bulk × ${size}`,
      path: '/allowed/bulk',
      bodies: company.bulks(size).map(bulk => JSON.stringify(bulk.map(check => check.query))),
      checks: size,
    })),
  ].filter(({ checks }) => sizes.length === 0 || sizes.includes(checks))
  for (const workload of workloads) {
    const servers = [
      { name: '', address: service.address, timings: [] as Timing[] },
      ...(workload.checks > 1
        ? [{ name: 'all parsed', address: parsing.address, timings: [] as Timing[] }]
        : []),
    ]
    const floorTimings: Timing[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { address, timings } of servers) timings.push(await load(address, workload))
      floorTimings.push(await load(floor.address, workload))
    }
    const floorRate = median(floorTimings.map(timing => timing.requestsPerSecond))
    for (const { name, timings } of servers) {
      const rate = median(timings.map(timing => timing.requestsPerSecond))
      const clientCpu = Math.max(...[...timings, ...floorTimings].map(timing => timing.clientCpu))
      const verdict =
        clientCpu > CLIENT_CPU_MAX ? 'void: the client was the limit' : (rate / floorRate).toFixed(2)
      say(
        `${`${workload.name} ${name}`.padEnd(34)} ${Math.round(rate * workload.checks)} checks/s, ` +
          `p99 ${median(timings.map(timing => timing.latencyMsP99))} ms, ` +
          `floor ${Math.round(floorRate * workload.checks)}, client CPU ${(clientCpu * 100).toFixed(0)} %, ` +
          `ratio ${verdict}`,
      )
    }
  }
} finally {
  await service.stop()
  await parsing.stop()
  await floor.stop()
}
