/**
 * Streams 5,000 changes per second to 100 connections. Measures the delay until the readers receive a change,
 * and the latency of single decisions. The readers run in a separate process. Before the measurement, the
 * received events are compared with the written changes.
 *
 *     npm run bench -- changes [changes a second] [connections]
 *     npm run bench -- changes floods
 *
 * The second command measures large commits with many filters (`change-floods.ts`).
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '#testing/processes/free-port.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'
import { ChangeStream } from '#testing/requests/change-stream.ts'
import { measureFloods } from './change-floods.ts'

const [, , rateText = '5000', connectionsText = '100'] = process.argv
const CHANGES_PER_SECOND = Number(rateText)
const CONNECTIONS = Number(connectionsText)
const API_KEY = 'a-key-of-the-bench'
const FACTS = '/v2/facts/default/default'
const SCHEMA = '/v2/schema/default/default'
/**
 * Number of users. There are so many that, when a group is used again, its previous call has long been
 * completed. Otherwise concurrent calls would change the same rows.
 */
const USERS = 20_000
const USERS_A_CALL = 10_000
/** Changes in one commit. */
const BULK = 25
const WARM_MS = 3_000
const MEASURED_MS = 12_000
const ASKED_PER_SECOND = 200
/**
 * Counts the calls of all writers over all measurements. It determines whether a role is assigned or
 * unassigned: an assigned role must be unassigned next, because otherwise no event is sent.
 */
let nextTurn = 0

/** Report of the readers about one measurement. */
interface ReceivedEvents {
  readonly events: number
  readonly bytes: number
  readonly delays: readonly number[]
  readonly cpuSeconds: number
}

if (rateText === 'floods') {
  await measureFloods(say)
  process.exit()
}
/** Writes and checks use separate agents, so that a check does not wait for a write in this process. */
const [writers, askers] = [1, 2].map(() => new Agent({ keepAlive: true, maxSockets: 64 }))
const directory = mkdtempSync(join(tmpdir(), 'verdict-bench-changes-'))
const port = await freePort()
const service = new ServiceProcess({
  cwd: directory,
  env: {
    STORE_URL: 'lmdb:./data',
    API_KEY,
    PORT: String(port),
    HTTP_THREADS: '1',
    LOG_LEVEL: 'error',
    MAX_CHANGE_STREAMS_PER_KEY: '1000',
  },
})
try {
  const address = await service.address()
  await fill()
  await verify(address)
  say(
    `${CHANGES_PER_SECOND} changes a second, ${BULK} a commit, ${ASKED_PER_SECOND} decisions a second beside them`,
  )
  const alone = await measure(0)
  const read = await measure(CONNECTIONS)
  say(`decisions with no reader:           p50 ${ms(alone.asked, 0.5)}, p99 ${ms(alone.asked, 0.99)}`)
  say(`decisions with ${CONNECTIONS} readers:        p50 ${ms(read.asked, 0.5)}, p99 ${ms(read.asked, 0.99)}`)
  const seconds = MEASURED_MS / 1_000
  const { events, bytes, delays } = read.heard!
  say(
    `told: ${Math.round(events / CONNECTIONS / seconds)} events a second on each connection, ${Math.round(bytes / seconds / 1e6)} MB a second in all`,
  )
  say(
    `from the call of a change to its readers: p50 ${ms(delays, 0.5)}, p99 ${ms(delays, 0.99)} (at most 50 ms)`,
  )
  say(
    `p99 of decisions with readers: ${(quantile(read.asked, 0.99) / quantile(alone.asked, 0.99)).toFixed(2)} × (at most 2)`,
  )
} finally {
  for (const agent of [writers, askers]) agent!.destroy()
  await service.end('SIGTERM')
  rmSync(directory, { recursive: true, force: true })
}

async function fill(): Promise<void> {
  await service.call('POST', `${SCHEMA}/resources`, {
    key: 'document',
    name: 'Document',
    actions: { read: {} },
  })
  await service.call('POST', `${SCHEMA}/roles`, {
    key: 'reader',
    name: 'Reader',
    permissions: ['document:read'],
  })
  const users = Array.from({ length: USERS }, (_, n) => ({ key: `u${n}` }))
  for (let from = 0; from < USERS; from += USERS_A_CALL) {
    const operations = users.slice(from, from + USERS_A_CALL)
    await service.call('POST', `${FACTS}/bulk/users`, { operations })
  }
}

function assignments(turn: number) {
  const groups = USERS / BULK
  return Array.from({ length: BULK }, (_, n) => ({
    user: `u${(turn % groups) * BULK + n}`,
    role: 'reader',
    tenant: 'default',
  }))
}

/** Verifies that a stream delivers some commits completely and in the right order. */
async function verify(address: string): Promise<void> {
  const stream = await ChangeStream.opened(address, { key: API_KEY })
  await stream.next()
  const wanted: string[] = []
  for (const [method, verb] of [
    ['POST', 'created'],
    ['DELETE', 'deleted'],
  ] as const) {
    for (let turn = 0; turn < 4; turn++) {
      await service.call(method, `${FACTS}/role_assignments/bulk`, assignments(turn))
      wanted.push(...assignments(turn).map(({ user }) => `${verb} ${user}`))
    }
  }
  for (const expected of wanted) {
    const event = (await stream.next())!
    const heard = `${event.event.split('.')[1]} ${event.value.item.user}`
    if (heard !== expected) throw new Error(`heard ${heard} where ${expected} was written`)
  }
  stream.close()
  say(`verified: ${wanted.length} changes, each heard once, in order`)
}

async function measure(
  connections: number,
): Promise<{ readonly asked: number[]; readonly heard: ReceivedEvents | null }> {
  const readers =
    connections === 0
      ? null
      : fork(new URL('change-readers.ts', import.meta.url), [String(port), API_KEY, String(connections)])
  if (readers) await once(readers, 'message')
  const stop = new AbortController()
  const writing = write(stop.signal)
  await pause(WARM_MS)
  readers?.send('begin')
  const cpuBefore = serviceSeconds()
  const ownBefore = process.cpuUsage()
  const asked: number[] = []
  const until = performance.now() + MEASURED_MS
  const asking: Promise<void>[] = []
  for (let at = performance.now(); at < until; at += 1_000 / ASKED_PER_SECOND) {
    if (at > performance.now()) await pause(at - performance.now())
    asking.push(ask().then(elapsed => void asked.push(elapsed)))
  }
  await Promise.all(asking)
  const serviceCpu = serviceSeconds() - cpuBefore
  const own = process.cpuUsage(ownBefore)
  stop.abort()
  await writing
  const cores = (cpu: number): string => (cpu / (MEASURED_MS / 1_000)).toFixed(2)
  say(`cores: service ${cores(serviceCpu)}, writers and askers ${cores((own.user + own.system) / 1e6)}`)
  if (!readers) return { asked, heard: null }
  readers.send('end')
  const [heard] = (await once(readers, 'message')) as [ReceivedEvents]
  readers.kill()
  say(`cores: readers ${cores(heard.cpuSeconds)}`)
  return { asked, heard }
}

/** Processor time in seconds that the service has used. */
function serviceSeconds(): number {
  const fields = readFileSync(`/proc/${service.pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  // User time and system time, in hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) / 100
}

/** Starts commits at a constant rate, even if earlier ones have not completed. */
async function write(signal: AbortSignal): Promise<void> {
  const everyMs = (1_000 * BULK) / CHANGES_PER_SECOND
  const groups = USERS / BULK
  const underWay = new Set<Promise<unknown>>()
  let last: Promise<unknown> = Promise.resolve()
  let at = performance.now()
  for (; !signal.aborted; at += everyMs) {
    if (at > performance.now()) await pause(at - performance.now())
    const turn = nextTurn++
    // One round assigns all roles, and the next round unassigns them. When a group is used again, its
    // previous call has long been completed.
    const method = Math.floor(turn / groups) % 2 === 0 ? 'POST' : 'DELETE'
    const call = send(method, `${FACTS}/role_assignments/bulk`, assignments(turn))
    underWay.add(call)
    last = call.finally(() => underWay.delete(call))
    last.catch(() => {})
  }
  await Promise.allSettled(underWay)
}

async function ask(): Promise<number> {
  const from = performance.now()
  await send(
    'POST',
    '/allowed',
    {
      user: 'u1',
      action: 'read',
      resource: { type: 'document', tenant: 'default' },
    },
    askers,
  )
  return performance.now() - from
}

function send(method: string, path: string, body: unknown, agent = writers): Promise<void> {
  const text = JSON.stringify(body)
  const headers = {
    authorization: `Bearer ${API_KEY}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
  }
  return new Promise((resolve, reject) => {
    const sent = request({ port, method, path, headers, agent }, response => {
      response.resume()
      response.on('end', resolve)
    })
    sent.on('error', reject)
    sent.end(text)
  })
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

function ms(values: readonly number[], share: number): string {
  return `${quantile(values, share).toFixed(1)} ms`
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
