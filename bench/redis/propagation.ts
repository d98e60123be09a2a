/**
 * How soon a change that one node answered is decided by on another: two nodes and a Redis, 500 writes a second to the first
 * at fixed moments, whether the former ones are answered or not. Some of the writes are watched, each for a user of its own, so
 * that nothing but that write can change the answer. Half of the watched ones: from the moment their answer is there, the
 * other node is asked, one question after the other, until it decides by it. The other half: it is asked once, with the
 * revision of the answer. The floor beside it: how long one such question takes. Keys that the first node makes and
 * revokes meanwhile are watched in the same way.
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
/** Every so many writes one is watched: some 30 a second, so that the questions are no load of their own. */
const WATCHED = 17
const TOTAL = WRITES_PER_SECOND * (SECONDS + WARM_UP_SECONDS)
/** A watched change that is not in force by then never will be. */
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
  // Of the watched users every other one has the role, and is to lose it.
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

/** A role given or taken. */
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

/** Asks until the answer is that; milliseconds since the beginning. */
async function msUntil(wanted: unknown, ask: () => Promise<unknown>, what: string): Promise<number> {
  const from = performance.now()
  while ((await ask()) !== wanted) {
    if (performance.now() - from > WATCH_MS_MAX)
      throw new Error(`${what} is not in force after ${WATCH_MS_MAX} ms`)
  }
  return performance.now() - from
}

/** Makes keys on one node and revokes them, and looks how soon the other opens to them and closes. */
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
    // Where writes fall behind by seconds, those for one user must not overtake each other.
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
