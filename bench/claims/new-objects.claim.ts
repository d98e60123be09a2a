/**
 * Claim: limits for the work of the garbage collector of a service. They concern the objects that survive a
 * collection, and how often the collector runs.
 */
import { fileURLToPath } from 'node:url'
import autocannon from 'autocannon'
import { expect, onTestFinished, test } from 'vitest'
import { Scrape } from '#testing/requests/metrics.ts'
import { API_KEY, FACTS, SCHEMA, storeDirectory } from '#testing/processes/running-service.ts'
import { StoreLook } from '#testing/processes/store-look.ts'
import { ServiceProcess } from '#testing/processes/service-process.ts'

const START = fileURLToPath(new URL('../../src/start.js', import.meta.url))
const HOLDERS = 9_999
/** Number of bulks. Each bulk has `HOLDERS` checks. */
const BULKS = 3
/**
 * Maximum share of the objects allocated between two collections that survive the second one. The share is
 * 0.07 or more if V8 allocates some of the objects in the old generation.
 */
const SURVIVING_MAX = 0.04
const DECISIONS = 30_000
/**
 * Maximum number of bytes that an HTTP thread allocates between two collections. It would be 840,000 bytes if
 * V8 waited until four fifths of its new space of 1 MB were full.
 */
const STEP_MAX = 300_000
/**
 * Maximum heap, in bytes, of an HTTP thread that waits for its first request. The heap has 16 MB. With the
 * garbage of loading modules, it would have 27 MB.
 */
const WAITING_HEAP_MAX = 19_000_000

function startTraced(cwd: string): ServiceProcess {
  const service = new ServiceProcess({
    cwd,
    env: { API_KEY, STORE_URL: `lmdb:${cwd}/data`, HTTP_THREADS: '1' },
    command: [process.execPath, '--disable-warning=ExperimentalWarning', '--trace-gc-nvp', START],
  })
  onTestFinished(async () => void (await service.end('SIGKILL')))
  return service
}

test('garbage of decisions is collected in small steps, because a client waits for each step', async () => {
  const service = startTraced(storeDirectory())
  const address = await service.address()
  const printedBefore = service.stdout.length
  const { non2xx } = await autocannon({
    url: `${address}/allowed`,
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ user: { key: 'ann' }, action: 'read', resource: { type: 'doc', key: 'a' } }),
    connections: 4,
    pipelining: 10,
    amount: DECISIONS,
  })
  expect(non2xx).toBe(0)
  const stepsOf = new Map<string, number[]>()
  for (const line of service.stdout.slice(printedBefore).split('\n')) {
    const [, thread, allocated] = /^\[(\S+)\].* gc=s .* allocated=(\d+)/.exec(line) ?? []
    if (thread !== undefined) stepsOf.set(thread, [...(stepsOf.get(thread) ?? []), Number(allocated)])
  }
  // The thread with the most steps is the decision thread, because it allocates by far the most.
  const steps = [...stepsOf.values()].toSorted((a, b) => b.length - a.length)[0]!.toSorted((a, b) => a - b)
  expect(steps.length).toBeGreaterThan(20)
  expect(steps[steps.length >> 1]).toBeLessThan(STEP_MAX)
})

test('an HTTP thread has collected the garbage of module loading before its first request', async () => {
  const service = startTraced(storeDirectory())
  const address = await service.address()
  const heap = async () => (await Scrape.of(address)).sum('verdict_thread_heap_bytes', { thread: 'http-1' })
  await expect.poll(heap).toBeGreaterThan(0)
  await expect.poll(heap).toBeLessThan(WAITING_HEAP_MAX)
})

test('almost no object of a purge survives a collection', async () => {
  const cwd = storeDirectory()
  const service = startTraced(cwd)
  await service.call('POST', `${SCHEMA}/roles`, { key: 'member', name: 'Member' })
  await service.call('POST', `${FACTS}/tenants`, { key: 'acme', name: 'Acme' })
  for (let bulk = 0; bulk < BULKS; bulk += 1) {
    const held = (n: number) => ({ user: `u${bulk}-${n}`, role: 'member', tenant: 'acme' })
    const body = Array.from({ length: HOLDERS }, (_, n) => held(n))
    await service.call('POST', `${FACTS}/role_assignments/bulk?missing_user_policy=create`, body)
  }
  const { environment_id } = await service.call<{ environment_id: string }>('GET', '/v2/api-key/scope')
  const look = new StoreLook(`${cwd}/data`, environment_id)
  onTestFinished(() => look.close())

  const assignments = look.count('assignment')
  await service.call('DELETE', `${FACTS}/tenants/acme`)
  await look.until(() => look.count('assignment') < assignments * 0.9)
  const printedBefore = service.stdout.length
  await look.until(() => look.count('purge') === 0)
  const [made, survived] = [/ allocated=(\d+)/, / promoted=(\d+)/].map(field =>
    service.stdout
      .slice(printedBefore)
      .split('\n')
      .filter(line => line.includes(' gc=s '))
      .reduce((sum, line) => sum + Number(field.exec(line)?.[1] ?? 0), 0),
  )
  expect(made).toBeGreaterThan(50_000_000)
  expect(survived! / made!).toBeLessThan(SURVIVING_MAX)
})
