/**
 * Measures the latency of single decisions in one environment during the most expensive requests of another
 * environment: the longest lists, explanations and action searches. Prints the p99 without other requests and
 * the p99 during each request, and the result of the request.
 *
 *     node --disable-warning=ExperimentalWarning bench/hostile/with-lists.ts [scale]
 *
 * At full size, the other environment has 100,000 instances with 1,000 actions, and 1,000 roles over a chain
 * of 20,000 folders. The bench takes several minutes and gigabytes of memory.
 */
import { request } from 'node:http'
import { createLog } from '#telemetry/log.ts'
import { readConfig } from '../../src/config/read-config.ts'
import { startService } from '../../src/composition/wiring/service.ts'
import { type HostileModel, longWays, wideLists } from '#testing/hostile/models.ts'

const KEYS = { API_KEY: 'hostile-environment', ADMIN_API_KEY: 'organization-of-the-bench' }
const DECISIONS = 3_000
const scale = Number(process.argv[2] ?? 1)
const sized = (count: number): number => Math.max(1, Math.round(count * scale))
const models: readonly HostileModel[] = [
  wideLists({ instances: sized(100_000), actions: sized(1_000), users: sized(100_000) }),
  longWays({ roles: sized(1_000), folders: sized(20_000), wide: sized(1_000), aside: sized(10_000) }),
]

const config = readConfig({ ...KEYS, STORE_URL: 'memory:', PORT: '0', LOG_LEVEL: 'error', ...process.env })
const service = await startService(config, createLog('error'), {
  onDeath: error => {
    throw error
  },
  onThreads: () => {},
})

/** Returns the status and the length of the response, or null if the request was canceled. */
function send(
  method: string,
  path: string,
  body: unknown,
  { key = KEYS.API_KEY, signal }: { readonly key?: string; readonly signal?: AbortSignal } = {},
): Promise<{ status: number; text: string } | null> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const sent = request(service.address + path, { method, headers, ...(signal && { signal }) }, answer => {
      const pieces: Buffer[] = []
      answer.on('data', (piece: Buffer) => pieces.push(piece))
      answer.on('end', () => {
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(pieces).toString() })
      })
      answer.on('error', () => resolve(null))
    })
    sent.on('error', error => (signal?.aborted ? resolve(null) : reject(error)))
    sent.end(JSON.stringify(body))
  })
}

async function done(method: string, path: string, body: unknown, key?: string): Promise<string> {
  const answer = await send(method, path, body, key === undefined ? {} : { key })
  if (answer?.status !== 200) throw new Error(`${method} ${path}: ${answer?.status} ${answer?.text}`)
  return answer.text
}

/** Returns the p99 latency, in milliseconds, of the decisions of the well-behaved environment. */
async function p99(key: string): Promise<number> {
  const waits: number[] = []
  const question = { user: { key: 'polite' }, action: 'read', resource: { type: 'document', key: 'd' } }
  for (let count = 0; count < DECISIONS; count++) {
    const from = performance.now()
    await done('POST', '/allowed', question, key)
    waits.push(performance.now() - from)
  }
  return waits.toSorted((left, right) => left - right)[Math.floor(DECISIONS * 0.99)]!
}

try {
  const made = { key: 'polite', name: 'polite' }
  await done('POST', '/v2/projects/default/envs', made, KEYS.ADMIN_API_KEY)
  const fetched = await done('GET', '/v2/api-key/default/polite', undefined, KEYS.ADMIN_API_KEY)
  const polite = (JSON.parse(fetched) as { secret: string }).secret
  for (const { calls } of models) {
    for (const { method, path, body } of calls()) await done(method, path, body)
  }
  const alone = [await p99(polite), await p99(polite)].at(-1)!
  process.stdout.write(`alone                p99 ${alone.toFixed(2)} ms\n`)
  for (const [name, { path, body }] of models.flatMap(({ questions }) => Object.entries(questions))) {
    const end = new AbortController()
    let asked = 0
    let last = 'none was answered'
    const asking = (async () => {
      while (!end.signal.aborted) {
        const answer = await send('POST', path, body, { signal: end.signal })
        if (answer === null) return
        asked += 1
        last = `${answer.status}, ${answer.text.length} characters`
      }
    })()
    const during = await p99(polite)
    end.abort()
    await asking
    const ratio = (during / alone).toFixed(2)
    process.stdout.write(
      `${name.padEnd(20)} p99 ${during.toFixed(2)} ms, ${ratio} of alone; ${asked} answers, the last ${last}\n`,
    )
  }
} finally {
  await service.close()
}
