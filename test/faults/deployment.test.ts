/**
 * The topology of `docker-compose.yml` without Docker: a Redis, three nodes, HAProxy with the same configuration file, which
 * finds the nodes by their name. Nodes go and come under load, and clients notice as little as there is to notice.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { loopbackWithFree } from '../support/loopback.ts'
import { freePort, startRedis } from '../support/redis-process.ts'
import { Client, FACTS, question } from '../support/running-service.ts'
import { startBalancer } from './support/balancer.ts'
import { NameServer } from './support/name-server.ts'
import { NodeProcess } from './support/node-process.ts'

const PASSWORD = 'lettersAndDigits1'

interface Deployment {
  readonly client: Client
  readonly nodes: readonly NodeProcess[]
  /** Starts another node, which the balancer finds. */
  add(): Promise<NodeProcess>
  /** Its address is nobody's any more. */
  forget(node: NodeProcess): void
}

async function deployed(count: number): Promise<Deployment> {
  const redis = await startRedis({
    arguments: ['--requirepass', PASSWORD, '--appendonly', 'yes', '--appendfsync', 'always'],
  })
  onTestFinished(() => redis.stop())
  const names = await NameServer.start()
  onTestFinished(() => names.close())
  const port = await freePort()
  const storeUrl = `redis://:${PASSWORD}@${redis.host}:${redis.port}`
  const hosts = new Map<NodeProcess, string>()
  const add = async (): Promise<NodeProcess> => {
    const host = await loopbackWithFree(port)
    const settings = { HOST: host, PORT: String(port) }
    const node = await NodeProcess.start(`node-${hosts.size + 1}`, { storeUrl, settings })
    hosts.set(node, host)
    names.addresses.add(host)
    return node
  }
  const nodes: NodeProcess[] = []
  for (let index = 0; index < count; index += 1) nodes.push(await add())
  const address = await startBalancer({ nodes: `verdict:${port}`, nameServer: names.place })
  const forget = (node: NodeProcess) => void names.addresses.delete(hosts.get(node)!)
  return { client: Client.at(address), nodes, add, forget }
}

interface Call {
  readonly kind: 'asked' | 'wrote'
  readonly from: number
  readonly to: number
  /** 0: no answer. */
  readonly status: number
}

/** Asks and writes all the time, each of so many clients one call after the other. */
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

  async end(): Promise<void> {
    this.#isOver = true
    await Promise.all(this.#work)
  }

  async #run(kind: Call['kind']): Promise<void> {
    while (!this.#isOver) {
      const from = performance.now()
      const status = await this.#call(kind).catch(() => 0)
      this.calls.push({ kind, from, to: performance.now(), status })
      await pause(2)
    }
  }

  async #call(kind: Call['kind']): Promise<number> {
    if (kind === 'wrote') {
      this.#users += 1
      return (await this.#client.post(`${FACTS}/users`, { key: `user-${this.#users}` })).status
    }
    const answer = await this.#client.post<{ allow: boolean }>(
      '/allowed',
      question('alice', 'read', 'document:plan'),
    )
    if (answer.status === 200) expect(answer.body.allow).toBe(true)
    return answer.status
  }
}

async function withPlan({ client }: Deployment): Promise<Client> {
  await client.createDocumentModel()
  await client.user('alice')
  await client.assign('alice', 'viewer', 'document:plan')
  return client
}

test('a node is killed and one is added under load: nothing fails but changes in flight on the killed one', async () => {
  const deployment = await deployed(3)
  const client = await withPlan(deployment)
  // Every node knows it before it is asked for.
  for (const node of deployment.nodes)
    while (!(await node.client!.allows('alice', 'read', 'document:plan'))) await pause(10)
  const load = new Load(client, 16)
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
  expect(failed.filter(call => call.kind === 'asked')).toEqual([])
  expect(failed.filter(call => !inFlight.includes(call))).toEqual([])
  expect(failed.length).toBeLessThanOrEqual(inFlight.length)
  expect(load.calls.length).toBeGreaterThan(2_000)

  // The balancer knows the one that was added.
  for (const node of deployment.nodes.slice(1)) await node.kill()
  while (!(await isAllowed(client))) expect(added.client).not.toBeNull()
})

async function isAllowed(client: Client): Promise<boolean> {
  return (await client.post('/allowed', question('alice', 'read', 'document:plan'))).status === 200
}
