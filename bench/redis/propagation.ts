/**
 * How soon a change that one node answered is decided by on another: two nodes and a Redis, 500 writes a second to the first
 * at fixed moments, whether the former ones are answered or not. Some of the writes are watched: from the moment their answer
 * is there, the other node is asked, one question after the other, until it decides by it. The floor beside it: how long one
 * such question takes.
 *
 *     node --disable-warning=ExperimentalWarning bench/redis/propagation.ts
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startRedis } from '../../test/support/redis-process.ts'
import { atLeast, atMost, percentile, publish } from '../lib/measure.ts'
import { NodeProcess } from './node-process.ts'

const FACTS = '/v2/facts/default/default'
const WRITES_PER_SECOND = 500
const SECONDS = 20
const WARM_UP_SECONDS = 4
const USERS = 1_000
/** Every so many writes one is watched: some 30 a second, so that the questions are no load of their own. */
const WATCHED = 17

async function arrange(node: NodeProcess): Promise<void> {
  await node.done('POST', '/v2/schema/default/default/resources', {
    key: 'document',
    name: 'Document',
    actions: { read: {} },
    roles: { viewer: { name: 'Viewer', permissions: ['read'] } },
  })
  const users = Array.from({ length: USERS }, (_, index) => ({ key: `user-${index}` }))
  await node.done('POST', `${FACTS}/bulk/users`, { operations: users })
  await node.done('POST', `${FACTS}/resource_instances`, {
    resource: 'document',
    key: 'plan',
    tenant: 'default',
  })
}

async function allows(node: NodeProcess, user: string): Promise<boolean> {
  const resource = { type: 'document', key: 'plan' }
  const { body } = await node.done('POST', '/allowed', { user: { key: user }, action: 'read', resource })
  return (body as { allow: boolean }).allow
}

/** The role that a user has been given, or not, and is about to get or lose. */
async function write(
  node: NodeProcess,
  index: number,
): Promise<{ readonly user: string; readonly isGranted: boolean }> {
  const user = `user-${index % USERS}`
  const isGranted = Math.floor(index / USERS) % 2 === 0
  const assignment = { user, role: 'viewer', resource_instance: 'document:plan', tenant: 'default' }
  await node.done(isGranted ? 'POST' : 'DELETE', `${FACTS}/role_assignments`, assignment)
  return { user, isGranted }
}

const redis = await startRedis()
const directory = mkdtempSync(join(tmpdir(), 'verdict-bench-'))
const storeUrl = redis.url()
const [one, other] = (await Promise.all(
  ['one', 'other'].map(name => NodeProcess.start({ storeUrl, directory: join(directory, name) })),
)) as [NodeProcess, NodeProcess]
try {
  await arrange(one)
  const lags: number[] = []
  const writeTimes: number[] = []
  const floors: number[] = []
  const pending: Promise<void>[] = []
  const failure = Promise.withResolvers<never>()
  const total = WRITES_PER_SECOND * (SECONDS + WARM_UP_SECONDS)
  const startedAt = performance.now()
  for (let index = 0; index < total; index += 1) {
    const dueAt = startedAt + (index * 1_000) / WRITES_PER_SECOND
    while (performance.now() < dueAt) await pause(1)
    const isTimed = index >= WRITES_PER_SECOND * WARM_UP_SECONDS
    pending.push(
      (async () => {
        const { user, isGranted } = await write(one, index)
        const answeredAt = performance.now()
        if (isTimed) writeTimes.push(answeredAt - dueAt)
        if (!isTimed || index % WATCHED !== 0) return
        while ((await allows(other, user)) !== isGranted);
        lags.push(performance.now() - answeredAt)
        const askedAt = performance.now()
        await allows(other, user)
        floors.push(performance.now() - askedAt)
      })().catch(failure.reject),
    )
  }
  await Promise.race([Promise.all(pending), failure.promise])
  const seconds = (performance.now() - startedAt) / 1_000
  // Everything that was written is there on both, by lists as by decisions.
  const counts = await Promise.all(
    [one, other].map(async node => {
      const { body } = await node.done('GET', `${FACTS}/role_assignments?include_total_count=true&per_page=1`)
      return (body as { total_count: number }).total_count
    }),
  )
  if (counts[0] !== counts[1]) throw new Error(`the nodes differ: ${counts.join(' and ')} assignments`)
  publish(
    'redis-propagation',
    [
      atLeast('writes a second', total / seconds, WRITES_PER_SECOND * 0.98, '1/s'),
      atMost('answered by one, decided by on the other: p50', percentile(lags, 0.5), 20, 'ms'),
      atMost('                                          p99', percentile(lags, 0.99), 20, 'ms'),
      atMost('                                          max', Math.max(...lags), 1_000, 'ms'),
      atMost('floor: one question to the other, p50', percentile(floors, 0.5), 20, 'ms'),
      atMost('                                  p99', percentile(floors, 0.99), 20, 'ms'),
      atMost('a write, from its due moment to its answer: p50', percentile(writeTimes, 0.5), 1_000, 'ms'),
      atMost('                                            p99', percentile(writeTimes, 0.99), 1_000, 'ms'),
    ],
    { watched: lags.length },
  )
} finally {
  await Promise.all([one.stop(), other.stop()])
  await redis.stop()
  rmSync(directory, { recursive: true })
}
