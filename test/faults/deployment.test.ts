/**
 * The topology of `docker-compose.yml` without Docker: Redis, nodes, and HAProxy with the shipped
 * configuration and a name server. Clients send requests while nodes and Redis fail.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { loopbackWithFree } from '../support/processes/loopback.ts'
import { startedRedis } from '../support/processes/redis-server.ts'
import { freePort } from '#testing/processes/free-port.ts'
import type { RedisProcess } from '#testing/processes/redis-process.ts'
import { type Answer, Client, FACTS, question } from '#testing/processes/running-service.ts'
import { type Balancer, startBalancer } from './support/balancer.ts'
import { NameServer } from './support/name-server.ts'
import { NodeProcess } from './support/node-process.ts'
import { STALE_MS_MAX, TIMING } from './support/nodes-on-wires.ts'
import { startCluster } from './topologies/cluster-process.ts'
import { startSentinels } from './topologies/sentinel-processes.ts'

const PASSWORD = 'lettersAndDigits1'
const CLIENTS = 16

interface Deployment {
  readonly client: Client
  readonly redis: RedisProcess | null
  readonly balancer: Balancer
  readonly nodes: readonly NodeProcess[]
  /** Starts another node and adds it to the name server. */
  add(): Promise<NodeProcess>
  /** Removes the node from the name server. */
  forget(node: NodeProcess): void
}

interface DeploymentOptions {
  /** By default a new server, as in `docker-compose.yml`. */
  readonly storeUrl?: string
  readonly settings?: Readonly<Record<string, string>>
}

async function deployed(count: number, options: DeploymentOptions = {}): Promise<Deployment> {
  const args = ['--requirepass', PASSWORD, '--appendonly', 'yes', '--appendfsync', 'always']
  const redis = options.storeUrl === undefined ? await startedRedis({ arguments: args }) : null
  const names = await NameServer.start()
  onTestFinished(() => names.close())
  const port = await freePort()
  const storeUrl = options.storeUrl ?? `redis://:${PASSWORD}@${redis!.host}:${redis!.port}`
  const hosts = new Map<NodeProcess, string>()
  const add = async (): Promise<NodeProcess> => {
    const host = await loopbackWithFree(port)
    const settings = { ...options.settings, HOST: host, PORT: String(port) }
    const node = await NodeProcess.start(`node-${hosts.size + 1}`, { storeUrl, settings })
    hosts.set(node, host)
    names.addresses.add(host)
    return node
  }
  const nodes: NodeProcess[] = []
  for (let index = 0; index < count; index += 1) nodes.push(await add())
  const balancer = await startBalancer({ nodes: `verdict:${port}`, nameServer: names.place })
  const forget = (node: NodeProcess) => void names.addresses.delete(hosts.get(node)!)
  return { client: Client.at(balancer.address), redis, balancer, nodes, add, forget }
}

interface Call {
  readonly kind: 'asked' | 'wrote'
  readonly from: number
  readonly to: number
  /** 0 if there was no response. */
  readonly status: number
  /** Body of a response without status 200, or the error of a request without a response. */
  readonly instead: string | null
  readonly retryAfter: string | null
}

/** Clients that make checks or changes continuously, each one request at a time. */
class Load {
  readonly calls: Call[] = []
  readonly #client: Client
  readonly #work: readonly Promise<void>[]
  #isOver = false
  #users = 0

  constructor(client: Client, clients: number) {
    this.#client = client
    this.#work = Array.from({ length: clients }, (_, index) => this.#run(index % 4 === 0 ? 'wrote' : 'asked'))
  }

  async hasDone(more: number): Promise<void> {
    const until = this.calls.length + more
    while (this.calls.length < until) await pause(10)
  }

  /** Resolves when a change that was sent after `at` has succeeded. */
  async hasWrittenSince(at: number): Promise<void> {
    const isDone = ({ kind, status, from }: Call) => kind === 'wrote' && status === 200 && from >= at
    while (!this.calls.some(isDone)) await pause(50)
  }

  async end(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#work)
  }

  async #run(kind: Call['kind']): Promise<void> {
    while (!this.#isOver) {
      const from = performance.now()
      const { status, body, headers } = await this.#call(kind).catch((error: unknown) => ({
        status: 0,
        body: String(error),
        headers: new Headers(),
      }))
      const instead = status === 200 ? null : JSON.stringify(body)
      const retryAfter = headers.get('retry-after')
      this.calls.push({ kind, from, to: performance.now(), status, instead, retryAfter })
      await pause(2)
    }
  }

  async #call(kind: Call['kind']): Promise<Answer> {
    if (kind === 'wrote') {
      this.#users += 1
      return this.#client.post(`${FACTS}/users`, { key: `user-${this.#users}` })
    }
    const answer = await this.#client.post<{ allow: boolean }>(
      '/allowed',
      question('alice', 'read', 'document:plan'),
    )
    if (answer.status === 200) expect(answer.body.allow).toBe(true)
    return answer
  }
}

/** Creates the model on one node and waits until every node has it. */
async function withPlan({ client, nodes }: Deployment): Promise<Client> {
  const first = nodes[0]!.client!
  await first.createDocumentModel()
  await first.user('alice')
  await first.assign('alice', 'viewer', 'document:plan')
  for (const node of nodes)
    while (!(await node.client!.allows('alice', 'read', 'document:plan'))) await pause(10)
  return client
}

test('when a node is killed and another one is added, only changes that the killed node was processing fail', async () => {
  const deployment = await deployed(3)
  const client = await withPlan(deployment)
  const load = new Load(client, CLIENTS)
  await load.hasDone(500)
  const [killed] = deployment.nodes as [NodeProcess]
  const killedFrom = performance.now()
  await killed.kill()
  const killedTo = performance.now()
  deployment.forget(killed)
  await load.hasDone(500)
  const added = await deployment.add()
  await load.hasDone(1_000)
  await load.end()

  const failed = load.calls.filter(({ status }) => status !== 200)
  const inFlight = load.calls.filter(({ from, to }) => from <= killedTo && to >= killedFrom)
  const log = `killed at ${killedFrom}\n${deployment.balancer.log()}`
  expect(failed.filter(call => call.kind === 'asked').slice(0, 3), log).toEqual([])
  expect(failed.filter(call => !inFlight.includes(call)).slice(0, 3)).toEqual([])
  expect(failed.length).toBeLessThanOrEqual(inFlight.length)
  expect(load.calls.length).toBeGreaterThan(2_000)

  // The balancer has found the added node.
  for (const node of deployment.nodes.slice(1)) await node.kill()
  while (!(await isAllowed(client))) expect(added.client).not.toBeNull()
})

/** Runs the load during an outage of Redis, and until changes succeed again. */
async function loadedThrough(client: Client, outage: () => Promise<void>): Promise<readonly Call[]> {
  const load = new Load(client, CLIENTS)
  await load.hasDone(500)
  await outage()
  const backAt = performance.now()
  await load.hasWrittenSince(backAt)
  await load.end()
  return load.calls
}

/** Expects that no check failed and that failed changes received 503 with `Retry-After`. */
function expectDecided(calls: readonly Call[], { balancer }: Deployment): void {
  const failed = calls.filter(({ status }) => status !== 200)
  expect(failed.filter(({ kind }) => kind === 'asked').slice(0, 3), balancer.log()).toEqual([])
  const refusals = new Set(failed.map(({ status, retryAfter }) => `${status} ${retryAfter}`))
  expect([...refusals].filter(refusal => refusal !== '503 1')).toEqual([])
  expect(calls.filter(({ kind }) => kind === 'asked').length).toBeGreaterThan(1_000)
}

const OUTAGES = {
  'is down for 20 s': [20_000, 'kill', 'start'],
  'is frozen for 50 s': [50_000, 'freeze', 'thaw'],
} as const

test.each(Object.entries(OUTAGES))(
  'with the default settings, no decision fails while Redis %s',
  async (_name, [ms, take, give]) => {
    const deployment = await deployed(2)
    const client = await withPlan(deployment)
    const calls = await loadedThrough(client, async () => {
      await deployment.redis![take]()
      await pause(ms)
      await deployment.redis![give]()
    })
    expectDecided(calls, deployment)
    expect(calls.some(({ kind, status }) => kind === 'wrote' && status === 503)).toBe(true)
  },
)

test('no decision fails during a failover by Sentinel', async () => {
  const system = await startSentinels()
  onTestFinished(() => system.stop())
  // These sentinels fail over after a short time, so the nodes must become stale after a short time.
  const deployment = await deployed(2, { storeUrl: system.url(), settings: { STALE_AFTER_MS: '500' } })
  const client = await withPlan(deployment)
  await system.hasSynced()
  const calls = await loadedThrough(client, async () => {
    await system.primary.kill()
    await system.hasFailedOver()
  })
  expectDecided(calls, deployment)
})

test('no decision fails while the servers of a cluster are down for 20 s', async () => {
  const cluster = await startCluster()
  onTestFinished(() => cluster.stop())
  const deployment = await deployed(2, { storeUrl: cluster.url() })
  const client = await withPlan(deployment)
  const calls = await loadedThrough(client, async () => {
    for (const server of cluster.nodes) await server.kill()
    await pause(20_000)
    for (const server of cluster.nodes) await server.start()
  })
  expectDecided(calls, deployment)
})

test('after MAX_STALE_MS without Redis, every check receives 503 with Retry-After until Redis is back', async () => {
  const deployment = await deployed(2, { settings: TIMING })
  const client = await withPlan(deployment)
  const load = new Load(client, CLIENTS)
  await load.hasDone(500)
  const frozenAt = performance.now()
  deployment.redis!.freeze()
  while (await isAllowed(client));
  await pause(STALE_MS_MAX)
  const thawedAt = performance.now()
  deployment.redis!.thaw()
  while (!(await isAllowed(client)));
  await load.hasWrittenSince(performance.now())
  await load.end()

  const asked = load.calls.filter(({ kind }) => kind === 'asked')
  const allowed = asked.filter(({ status }) => status === 200)
  // A late decision could have used a revoked grant.
  const late = allowed.filter(({ from }) => from > frozenAt + STALE_MS_MAX && from < thawedAt - 1_000)
  expect(late).toEqual([])
  const refused = asked.filter(({ status }) => status !== 200)
  // If HAProxy removes its last node, it drops the requests that it was about to send to another node.
  const answered = refused.filter(({ status }) => status !== 0)
  expect(refused.length - answered.length).toBeLessThanOrEqual(CLIENTS)
  expect(new Set(answered.map(({ status, retryAfter }) => `${status} ${retryAfter}`))).toEqual(
    new Set(['503 1']),
  )
  expect(Math.min(...refused.map(({ from }) => from)) - frozenAt).toBeGreaterThan(3_000)
})

async function isAllowed(client: Client): Promise<boolean> {
  return (await client.post('/allowed', question('alice', 'read', 'document:plan'))).status === 200
}
