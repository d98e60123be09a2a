/** Requests of the operations page: the list of nodes, and the recent figures of this node. */
import { hostname } from 'node:os'
import { describe, expect, test } from 'vitest'
import { pause } from '#testing/processes/pause.ts'
import { VERSION } from '#model/version.ts'
import type { NodeList, RecentFigures, RecentSample } from '#model/wire/node.ts'
import {
  ADMIN_KEY,
  type Client,
  neighbourOf,
  question,
  revisionOf,
  startedService,
} from '#testing/processes/running-service.ts'
import { refusal } from '../../support/calls/refusals.ts'

const RECENT = '/v2/nodes/this/recent'

/** The first sample that matches. Requests that are sent together can be in two samples. */
async function sampled(verdict: Client, matches: (sample: RecentSample) => boolean): Promise<RecentSample> {
  for (;;) {
    const found = (await verdict.done<RecentFigures>('GET', RECENT)).samples.find(matches)
    if (found) return found
    await pause()
  }
}

function listed(verdict: Client, key?: string): Promise<NodeList> {
  return verdict.done('GET', '/v2/nodes', undefined, key)
}

describe('the list of nodes', () => {
  test('contains only this node on a store that is not shared', async () => {
    const verdict = await startedService({ httpThreads: 2 })
    const { nodes, ...rest } = await listed(verdict, ADMIN_KEY)
    expect(rest).toEqual({ is_complete: true, missing: null })
    expect(nodes).toEqual([
      {
        id: expect.stringMatching(/^[\da-f-]{36}$/),
        name: hostname(),
        version: VERSION,
        started_at: expect.any(String),
        seen_at: expect.any(String),
        is_this: true,
        ready: true,
        fresh: true,
        stale_ms: 0,
        http_threads: 2,
        revision: null,
      },
    ])
    expect(nodes[0]!.seen_at > nodes[0]!.started_at).toBe(true)
  })

  test("shows the revision of the key's environment, and of no other environment", async () => {
    const verdict = await startedService()
    const neighbour = await neighbourOf(verdict, 'staging')
    const made = await verdict.post('/v2/facts/default/default/users', { key: 'alice' })
    const [own, other] = [await listed(verdict), await listed(verdict, neighbour)]
    expect(own.nodes[0]!.revision).toBe(revisionOf(made))
    const read = await verdict.send('GET', '/v2/facts/default/staging/users', { key: neighbour })
    expect(other.nodes[0]!.revision).toBe(revisionOf(read))
    expect(JSON.stringify(other)).not.toContain(revisionOf(made).split('.')[0])
  })
})

describe('the recent figures of a node', () => {
  test('reflect the requests of its clients', async () => {
    const verdict = await startedService({ httpThreads: 2 })
    await verdict.createViewer('alice', 'document:d1')
    const [yes, no] = [question('alice', 'read', 'document:d1'), question('alice', 'update', 'document:d1')]
    await verdict.post(
      '/allowed/bulk',
      Array.from({ length: 300 }, (_, n) => (n % 3 === 0 ? yes : no)),
    )
    await verdict.send('POST', '/allowed', { text: '{' })
    const decided = await sampled(verdict, ({ checks_per_second: checks }) => checks!.allow > 0)
    expect(decided.checks_per_second!.deny / decided.checks_per_second!.allow).toBeCloseTo(2, 1)
    const rejected = await sampled(verdict, ({ refused_per_second: rate }) => rate! > 0)
    expect(rejected.requests_per_second!.decisions).toBeGreaterThanOrEqual(rejected.refused_per_second!)
    expect(rejected.connections).toBeGreaterThan(0)
    expect(rejected.loop_delay_p99_ms.main).toBeGreaterThan(0)
    expect(rejected.loop_delay_p99_ms.http).toBeGreaterThan(0)
    const answered = await sampled(verdict, ({ latency_ms: latency }) => latency !== null)
    expect(answered.latency_ms!.p50).toBeGreaterThan(0)
    expect(answered.latency_ms!.p99).toBeGreaterThanOrEqual(answered.latency_ms!.p50)
    await sampled(verdict, ({ commits_per_second: rate }) => rate > 0)
    await sampled(verdict, ({ requests_per_second: rates }) => rates!.management > 0)
  })

  test('require a key of the organization if METRICS_TOKEN is set', async () => {
    const verdict = await startedService({ metricsToken: 'token-of-the-scraper' })
    const made = await verdict.createKey({ project_id: 'default' })
    expect(refusal(await verdict.get(RECENT))).toEqual([403, 'FORBIDDEN_ACCESS'])
    const asProject = await verdict.send('GET', RECENT, { key: made.secret })
    expect(refusal(asProject)).toEqual([403, 'FORBIDDEN_ACCESS'])
    expect((await verdict.admin('GET', RECENT)).status).toBe(200)
    // The list of nodes reveals no other environment, so all keys can read it.
    expect((await verdict.get('/v2/nodes')).status).toBe(200)
  })

  test('require a key, name the node, and contain null for requests with METRICS=off', async () => {
    const verdict = await startedService({ metrics: 'off' })
    for (const path of ['/v2/nodes', RECENT])
      expect((await verdict.send('GET', path, { key: null })).status).toBe(401)
    const { node, interval_seconds } = (await verdict.get<RecentFigures>(RECENT)).body
    const [self] = (await listed(verdict)).nodes
    expect([node, interval_seconds]).toEqual([{ id: self!.id, name: self!.name }, 5])
    const first = await sampled(verdict, () => true)
    expect(first).toMatchObject({ requests_per_second: null, latency_ms: null, connections: null })
  })
})
