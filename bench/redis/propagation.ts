/**
 * Measures the delay until a change that was completed on one node takes effect on another node. Two nodes
 * share a Redis. The first node receives 500 writes per second at fixed times, even if earlier ones have not
 * completed.
 *
 * Some of the writes are observed. Each of these is about a different user, so that only this write can
 * change the decision. For half of the observed writes, the other node is queried repeatedly after the
 * response, until the change takes effect there. For the other half, the other node is queried once, with the
 * revision of the response. The duration of one such query is measured separately as a lower bound. Keys that
 * the first node creates and revokes at the same time are observed in the same way.
 *
 *     node --disable-warning=ExperimentalWarning bench/redis/propagation.ts
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startRedis } from '#testing/processes/redis-process.ts'
import { atLeast, atMost, percentile, publish } from '../lib/measure.ts'
import { ADMIN_KEY, type Answer, type CallOptions, NodeProcess } from './node-process.ts'

const FACTS = '/v2/facts/default/default'
const WRITES_PER_SECOND = 500
const SECONDS = 20
const WARM_UP_SECONDS = 4
const USERS = 1_000
/**
 * One write in this number of writes is observed. This is about 30 per second, so that the checks add little
 * load.
 */
const WATCHED = 17
const TOTAL = WRITES_PER_SECOND * (SECONDS + WARM_UP_SECONDS)
/** Time in milliseconds after which an observed change is considered lost. */
const WATCH_MS_MAX = 30_000
const KEYS_PER_SECOND = 2

async function arrange(node: NodeProcess): Promise<void> {
  await node.done('POST', '/v2/schema/default/default/resources', {
    key: 'document',
    name: 'Document',
    actions: { read: {} },
    roles: { viewer: { name: 'Viewer', permissions: ['read'] } },
  })
  const watched = Array.from({ length: Math.ceil(TOTAL / WATCHED) }, (_, nth) => watchedUser(nth))
  const users = Array.from({ length: USERS }, (_, index) => `user-${index}`)
  const operations = [...users, ...watched].map(key => ({ key }))
  await node.done('POST', `${FACTS}/bulk/users`, { operations })
  await node.done('POST', `${FACTS}/resource_instances`, {
    resource: 'document',
    key: 'plan',
    tenant: 'default',
  })
  // Half of the observed users have the role at the start, and the observed write revokes it.
  await node.done(
    'POST',
    `${FACTS}/role_assignments/bulk`,
    watched.filter((_, nth) => nth % 2 === 1).map(assignment),
  )
}

function watchedUser(nth: number): string {
  return `watched-${nth}`
}

function assignment(user: string) {
  return { user, role: 'viewer', resource_instance: 'document:plan', tenant: 'default' }
}

async function allows(node: NodeProcess, user: string, options: CallOptions = {}): Promise<boolean> {
  const resource = { type: 'document', key: 'plan' }
  const question = { user: { key: user }, action: 'read', resource }
  const { body } = await node.done('POST', '/allowed', question, options)
  return (body as { allow: boolean }).allow
}

/** Assigns or unassigns a role. */
interface Write {
  readonly user: string
  readonly isGranted: boolean
}

function unwatchedWrite(nth: number): Write {
  return { user: `user-${nth % USERS}`, isGranted: Math.floor(nth / USERS) % 2 === 0 }
}

function watchedWrite(nth: number): Write {
  return { user: watchedUser(nth), isGranted: nth % 2 === 0 }
}

function write(node: NodeProcess, { user, isGranted }: Write): Promise<Answer> {
  return node.done(isGranted ? 'POST' : 'DELETE', `${FACTS}/role_assignments`, assignment(user))
}

/** Sends queries until the result equals `wanted`. Returns the milliseconds since the start. */
async function msUntil(wanted: unknown, ask: () => Promise<unknown>, what: string): Promise<number> {
  const from = performance.now()
  while ((await ask()) !== wanted) {
    if (performance.now() - from > WATCH_MS_MAX)
      throw new Error(`${what} is not in force after ${WATCH_MS_MAX} ms`)
  }
  return performance.now() - from
}

/**
 * Creates and revokes keys on one node. Measures the delay until the other node accepts and then rejects
 * them.
 */
async function watchKeys(
  [one, other]: readonly [NodeProcess, NodeProcess],
  count: number,
): Promise<number[]> {
  const lags: number[] = []
  const admin = { key: ADMIN_KEY }
  const body = { project_id: 'default', environment_id: 'default' }
  for (let nth = 0; nth < count; nth += 1) {
    const dueAt = performance.now() + 1_000 / KEYS_PER_SECOND
    const made = (await one.done('POST', '/v2/api-key', body, admin)).body as { id: string; secret: string }
    const status = async () =>
      (await other.call('GET', '/v2/api-key/scope', undefined, { key: made.secret })).status
    lags.push(await msUntil(200, status, 'a key'))
    await one.done('DELETE', `/v2/api-key/${made.id}`, undefined, admin)
    lags.push(await msUntil(401, status, 'the end of a key'))
    await pause(Math.max(0, dueAt - performance.now()))
  }
  return lags
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
  const waits: number[] = []
  const writeTimes: number[] = []
  const floors: number[] = []
  const pending: Promise<void>[] = []
  const writing = new Map<string, Promise<Answer>>()
  const failure = Promise.withResolvers<never>()
  const watchingKeys = pause(WARM_UP_SECONDS * 1_000).then(() =>
    watchKeys([one, other], (SECONDS * KEYS_PER_SECOND) / 2),
  )
  watchingKeys.catch(failure.reject)
  const startedAt = performance.now()
  for (let index = 0; index < TOTAL; index += 1) {
    const dueAt = startedAt + (index * 1_000) / WRITES_PER_SECOND
    while (performance.now() < dueAt) await pause(1)
    const isTimed = index >= WRITES_PER_SECOND * WARM_UP_SECONDS
    const isWatched = index % WATCHED === 0
    const nth = index / WATCHED
    const change = isWatched ? watchedWrite(nth) : unwatchedWrite(index - Math.ceil(index / WATCHED))
    // Writes for the same user are sent one after the other, so that their order is kept even if writes lag
    // by seconds.
    const former = writing.get(change.user)
    const written = Promise.resolve(former).then(() => write(one, change))
    writing.set(change.user, written)
    pending.push(
      (async () => {
        const { revision } = await written
        const answeredAt = performance.now()
        if (isTimed) writeTimes.push(answeredAt - dueAt)
        if (!isTimed || !isWatched) return
        const { user, isGranted } = change
        if (nth % 4 < 2) {
          lags.push(await msUntil(isGranted, () => allows(other, user), 'a change'))
          const askedAt = performance.now()
          await allows(other, user)
          floors.push(performance.now() - askedAt)
        } else {
          const isRight = (await allows(other, user, { minRevision: revision! })) === isGranted
          if (!isRight) throw new Error('a decision was made on a state before the revision it asked for')
          waits.push(performance.now() - answeredAt)
        }
      })().catch(failure.reject),
    )
  }
  await Promise.race([Promise.all(pending), failure.promise])
  const seconds = (performance.now() - startedAt) / 1_000
  const keyLags = await Promise.race([watchingKeys, failure.promise])
  // Verifies that lists and decisions of both nodes reflect all writes.
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
      atLeast('writes a second', TOTAL / seconds, WRITES_PER_SECOND * 0.98, '1/s'),
      atMost('answered by one, decided by on the other: p50', percentile(lags, 0.5), 20, 'ms'),
      atMost('                                          p99', percentile(lags, 0.99), 20, 'ms'),
      atMost('                                          max', Math.max(...lags), 1_000, 'ms'),
      atMost('asked once, with the revision of the answer: p50', percentile(waits, 0.5), 20, 'ms'),
      atMost('                                             p99', percentile(waits, 0.99), 20, 'ms'),
      atMost('                                             max', Math.max(...waits), 1_000, 'ms'),
      atMost('a key made or revoked by one, in force on the other: p50', percentile(keyLags, 0.5), 20, 'ms'),
      atMost('                                                     max', Math.max(...keyLags), 1_000, 'ms'),
      atMost('floor: one question to the other, p50', percentile(floors, 0.5), 20, 'ms'),
      atMost('                                  p99', percentile(floors, 0.99), 20, 'ms'),
      atMost('a write, from its due moment to its answer: p50', percentile(writeTimes, 0.5), 1_000, 'ms'),
      atMost('                                            p99', percentile(writeTimes, 0.99), 1_000, 'ms'),
    ],
    { watched: lags.length, asked: waits.length, keys: keyLags.length },
  )
} finally {
  await Promise.all([one.stop(), other.stop()])
  await redis.stop()
  rmSync(directory, { recursive: true })
}
