/**
 * Measures what a commit costs Redis, and how fast a node follows the log. At first, one node writes while
 * another node is suspended. Then the other node resumes and catches up. At the end, the same number of
 * writes is repeated while both nodes run. The additional cost of Redis in the last phase is the cost of one
 * more reader.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from '#store/redis/link/redis-client.ts'
import { redisKeys } from '#store/redis/link/redis-keys.ts'
import { RedisLink } from '#store/redis/link/redis-link.ts'
import { parseRedisUrl } from '#store/redis/link/redis-url.ts'
import { startRedis } from '#testing/processes/redis-process.ts'
import { NodeProcess } from '../redis/node-process.ts'

const FACTS = '/v2/facts/default/default'
const USERS = 1_000
const REACHED_MS_MAX = 60_000
/**
 * Number of concurrent callers and of writes. With one caller, each commit is read separately. With many
 * callers, several commits are read together.
 */
const ALONE = { callers: 1, writes: 1_500 }
const MANY = { callers: 32, writes: 6_000 }
/** Writes before the measurement, after which both nodes have compiled their code. */
const WARM_UP = { callers: 32, writes: 1_000 }

type Load = typeof ALONE

export interface FollowerRates {
  /** Rate of single changes over HTTP. The nodes share two cores with all other processes. */
  readonly writesPerSecondByOne: number
  readonly writesPerSecondByMany: number
  /** Commits per second that a node applies to its replica and its index after it was suspended. */
  readonly followedPerSecond: number
  /** Processor time of Redis per commit in microseconds. It includes the reads of the node that writes. */
  readonly redisUsPerCommit: number
  /**
   * Processor time of Redis in microseconds that one more follower causes: per message about a commit, per
   * read of the log, and per commit that is read.
   */
  readonly redisUsPerMessage: number
  readonly redisUsPerRead: number
  readonly redisUsPerCommitRead: number
  readonly logBytesPerCommit: number
  /** Number of bytes per commit that Redis sends to a node while it catches up. */
  readonly sentBytesPerCommit: number
  /** Size in Redis of the rows of one commit, which are an instance, an assignment and an audit log entry. */
  readonly rowBytesPerCommit: number
}

export async function measureFollower() {
  const redis = await startRedis()
  const directory = mkdtempSync(join(tmpdir(), 'verdict-bench-'))
  const storeUrl = redis.url()
  const address = parseRedisUrl(storeUrl)
  const link = new RedisLink(connect(address, 'bench'))
  await link.recovered(10_000)
  const start = (name: string) => NodeProcess.start({ storeUrl, directory: join(directory, name) })
  const [one, other] = [await start('one'), await start('other')]
  try {
    const { environment_id: id } = (await one.done('GET', '/v2/api-key/scope')).body as {
      environment_id: string
    }
    await arrange(one)
    const writes = new Writes(one)
    await reached(other, (await writes.write(WARM_UP)).revision)
    const alone = await measure({ link, writes, other }, ALONE)
    const many = await measure({ link, writes, other }, MANY)
    await judge(other, writes.count)
    const { log } = redisKeys(address.prefix, id)
    const entries = Number(await link.send('XLEN', log))
    const logBytesPerCommit = Number(await link.send('MEMORY', 'USAGE', log, 'SAMPLES', '0')) / entries
    return { ...ratesOf(alone, many, logBytesPerCommit), alone, many }
  } finally {
    other.thaw()
    await Promise.all([one.stop(), other.stop()])
    link.close()
    await redis.stop()
    rmSync(directory, { recursive: true })
  }
}

function ratesOf(alone: Measured, many: Measured, logBytesPerCommit: number): FollowerRates {
  // Solves equations with three unknowns: the cost of each commit, the cost of a read with one commit, and
  // the cost of a read with many commits.
  const redisUsPerRead =
    (alone.follower.redisUs - many.follower.redisUs) / (alone.follower.reads - many.follower.reads)
  return {
    writesPerSecondByOne: alone.writesPerSecond,
    writesPerSecondByMany: many.writesPerSecond,
    followedPerSecond: many.followedPerSecond,
    redisUsPerCommit: many.redisUs,
    redisUsPerMessage: many.follower.redisUs - many.follower.reads * redisUsPerRead - many.behind.redisUs,
    redisUsPerRead,
    redisUsPerCommitRead: many.behind.redisUs,
    logBytesPerCommit,
    sentBytesPerCommit: many.behind.sentBytes,
    rowBytesPerCommit: many.usedBytes - logBytesPerCommit,
  }
}

type Measured = Awaited<ReturnType<typeof measure>>

/** Measures the figures, all of which are per commit. */
async function measure(
  { link, writes, other }: { readonly link: RedisLink; readonly writes: Writes; readonly other: NodeProcess },
  load: Load,
) {
  other.freeze()
  const first = await look(link)
  const written = await writes.write(load)
  const frozen = await look(link)
  other.thaw()
  const from = performance.now()
  await reached(other, written.revision)
  const followedPerSecond = load.writes / ((performance.now() - from) / 1_000)
  const caughtUp = await look(link)
  await reached(other, (await writes.write(load)).revision)
  const last = await look(link)
  const each = (before: Look, after: Look) => ({
    redisUs: ((after.cpuSeconds - before.cpuSeconds) * 1e6) / load.writes,
    reads: (after.reads - before.reads) / load.writes,
    sentBytes: (after.sentBytes - before.sentBytes) / load.writes,
    usedBytes: (after.usedBytes - before.usedBytes) / load.writes,
  })
  const [without, behind, together] = [each(first, frozen), each(frozen, caughtUp), each(caughtUp, last)]
  return {
    writesPerSecond: written.perSecond,
    followedPerSecond,
    ...without,
    behind,
    follower: { redisUs: together.redisUs - without.redisUs, reads: together.reads - without.reads },
  }
}

async function arrange(node: NodeProcess): Promise<void> {
  await node.done('POST', '/v2/schema/default/default/resources', {
    key: 'document',
    name: 'Document',
    actions: { read: {} },
    roles: { viewer: { name: 'Viewer', permissions: ['read'] } },
  })
  const operations = Array.from({ length: USERS }, (_, nth) => ({ key: userOf(nth) }))
  await node.done('POST', `${FACTS}/bulk/users`, { operations })
}

const userOf = (nth: number): string => `user-${nth % USERS}`

/** Creates instances and assigns a role on each of them. Each of these is a separate change. */
class Writes {
  readonly #node: NodeProcess
  count = 0

  constructor(node: NodeProcess) {
    this.#node = node
  }

  async write({ callers, writes }: Load): Promise<{ readonly revision: string; readonly perSecond: number }> {
    const end = this.count + writes
    let revision = ''
    let newest = 0
    const startedAt = performance.now()
    await Promise.all(
      Array.from({ length: callers }, async () => {
        while (this.count < end) {
          const answer = await this.#writeNext()
          const sequence = Number(answer.split('.').at(-1))
          if (sequence > newest) [newest, revision] = [sequence, answer]
        }
      }),
    )
    return { revision, perSecond: writes / ((performance.now() - startedAt) / 1_000) }
  }

  async #writeNext(): Promise<string> {
    const nth = this.count++
    const answer = await this.#node.done('POST', `${FACTS}/role_assignments`, {
      user: userOf(nth),
      role: 'viewer',
      resource_instance: `document:written-${nth}`,
      tenant: 'default',
    })
    return answer.revision!
  }
}

/** Resolves when the node makes decisions at this revision. Throws if the node does not reach it. */
async function reached(node: NodeProcess, minRevision: string): Promise<void> {
  const question = {
    user: { key: userOf(0) },
    action: 'read',
    resource: { type: 'document', key: 'written-0' },
  }
  const until = performance.now() + REACHED_MS_MAX
  while ((await node.call('POST', '/allowed', question, { minRevision })).status !== 200) {
    if (performance.now() > until) throw new Error(`a node does not come to ${minRevision}`)
  }
}

/** Throws unless all written changes are in effect on the node, and the next change is not in effect. */
async function judge(node: NodeProcess, count: number): Promise<void> {
  for (let from = 0; from < count; from += 500) {
    const questions = Array.from({ length: 1_000 }, (_, index) => ({
      user: { key: userOf(from + (index >> 1) + (index % 2)) },
      action: 'read',
      resource: { type: 'document', key: `written-${from + (index >> 1)}` },
    }))
    const { body } = await node.done('POST', '/allowed/bulk', questions)
    const { allow } = body as { readonly allow: readonly { readonly allow: boolean }[] }
    allow.forEach((each, index) => {
      if (each.allow !== (index % 2 === 0)) throw new Error(`write ${from + (index >> 1)} is not decided by`)
    })
  }
}

type Look = Awaited<ReturnType<typeof look>>

async function look(link: RedisLink) {
  const text = String(await link.send('INFO', 'everything'))
  const of = (name: string) => Number(new RegExp(`^${name}:([\\d.]+)`, 'm').exec(text)![1])
  return {
    cpuSeconds: of('used_cpu_sys_main_thread') + of('used_cpu_user_main_thread'),
    sentBytes: of('total_net_output_bytes'),
    usedBytes: of('used_memory'),
    reads: Number(/^cmdstat_xrange:calls=(\d+)/m.exec(text)![1]),
  }
}
