/**
 * Sends 200,000 hostile requests to a service in a separate process, and counts the responses by status.
 * Fails if a response is neither the specified error nor correct, and if the service hangs or crashes. Does
 * not measure speed.
 *
 *     node bench/http/hostile-bodies.ts [seed]
 */
import { HostileCaller, HostileJudge, describe } from '#testing/hostile/hostile-judge.ts'
import { HostileRequests, WORLD } from '#testing/hostile/hostile-requests.ts'
import { loadModel } from '#testing/requests/load-model.ts'
import { ServerProcess } from './server-process.ts'

const REQUESTS = 200_000
const CALLERS = 8
const API_KEY = 'bench-key-bench-key'
const PROGRESS_EVERY = 20_000

const say = (line: string) => process.stdout.write(`${line}\n`)

const seed = Number(process.argv[2] ?? Math.floor(Math.random() * 2 ** 31))
if (!Number.isSafeInteger(seed)) throw new Error(`the seed is a whole number, not ${process.argv[2]}`)
say(`seed ${seed}`)

const service = await ServerProcess.start(new URL('../../src/start.js', import.meta.url), {
  env: { PORT: '0', STORE_URL: 'memory:', API_KEY, HTTP_THREADS: '1', LOG_LEVEL: 'warn' },
})
const { address } = service

async function manage(method: string, path: string, body: unknown): Promise<void> {
  const headers = { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' }
  const response = await fetch(address + path, { method, headers, body: JSON.stringify(body) })
  if (response.status !== 200)
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
}

try {
  await loadModel(manage, WORLD)
  const requests = new HostileRequests(seed)
  const judge = new HostileJudge()
  const outcomes = new Map<string, number>()
  const startedAt = performance.now()
  let sent = 0
  const call = async () => {
    const caller = new HostileCaller(Number(new URL(address).port), API_KEY)
    while (sent < REQUESTS) {
      sent += 1
      if (sent % PROGRESS_EVERY === 0) say(`${sent} sent`)
      const id = `hostile ${sent}`
      const request = requests.next()
      const answer = await caller.send(request, id)
      const problem = judge.problem(request, id, answer)
      if (problem !== null) {
        throw new Error(`${problem}\n${describe(request)}\n→ ${JSON.stringify(answer).slice(0, 2_000)}`)
      }
      const outcome = answer === 'closed' ? 'closed, refused unread' : String(answer.status)
      for (const name of [outcome, `${request.path} ${outcome}`])
        outcomes.set(name, (outcomes.get(name) ?? 0) + 1)
    }
    caller.close()
  }
  await Promise.all(Array.from({ length: CALLERS }, call))
  const health = await fetch(`${address}/healthy`)
  if (health.status !== 200) throw new Error(`the service is not healthy afterwards: ${health.status}`)
  const seconds = (performance.now() - startedAt) / 1_000
  say(`${sent} requests in ${seconds.toFixed(0)} s, each answer judged, none wrong`)
  for (const [outcome, count] of [...outcomes].toSorted(([left], [right]) => (left < right ? -1 : 1))) {
    say(`${outcome.padEnd(40)} ${count}`)
  }
} finally {
  await service.stop()
}
