/**
 * Measures how long a node takes to become ready on a Redis with 3M facts, in three cases: it has no local
 * replica; it has the local replica of its last run; or it has the local replica of a run that was killed.
 * Also measures the peak memory of the node and the memory of Redis per fact. For comparison, measures how
 * long it takes to read all rows from Redis, which is a lower bound for a load. The decisions of each node
 * are compared with the expected ones.
 *
 *     node --disable-warning=ExperimentalWarning --max-old-space-size=8000 bench/redis/first-load.ts \
 *       [millions of facts] [--without-lists]
 *
 * After a first load, the node takes minutes to build the secondary indexes. `--without-lists` does not wait
 * for this.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { connect } from '#store/redis/link/redis-client.ts'
import { redisKeys } from '#store/redis/link/redis-keys.ts'
import { RedisLedger } from '#store/redis/ledger/redis-ledger.ts'
import { RedisLink } from '#store/redis/link/redis-link.ts'
import { parseRedisUrl } from '#store/redis/link/redis-url.ts'
import { startRedis } from '#testing/processes/redis-process.ts'
import { atMost, publish, round } from '../lib/measure.ts'
import { factCount, LargeEnvironment, SCHEMA, type Size } from './large-environment.ts'
import { NodeProcess } from './node-process.ts'

const MILLIONS = Number(process.argv[2] ?? 3)
const SIZE: Size = {
  users: Math.round(MILLIONS * 100_000),
  documents: Math.round(MILLIONS * 200_000),
  folders: 10_007,
  documentsPerUser: 6,
  foldersPerUser: 2,
}
const WITHOUT_LISTS = process.argv.includes('--without-lists')
const QUESTIONS = 3_000
const MIB = 2 ** 20
const out = process.stdout

async function timed<Result>(work: () => Promise<Result>): Promise<[Result, number]> {
  const startedAt = performance.now()
  const result = await work()
  return [result, (performance.now() - startedAt) / 1_000]
}

async function usedMemory(link: RedisLink): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(String(await link.send('INFO', 'memory')))![1])
}

async function check(node: NodeProcess, large: LargeEnvironment): Promise<void> {
  const questions = large.questions(QUESTIONS)
  if (!questions.some(({ isAllowed }) => !isAllowed)) throw new Error('nothing is denied')
  const { body } = await node.done(
    'POST',
    '/allowed/bulk',
    questions.map(({ user, document: key }) => ({
      user: { key: user },
      action: 'read',
      resource: { type: 'document', key },
    })),
  )
  const answers = (body as { allow: { allow: boolean }[] }).allow
  const wrong = questions.filter(({ isAllowed }, index) => answers[index]!.allow !== isAllowed)
  if (wrong.length > 0)
    throw new Error(`${wrong.length} wrong answers, the first for ${JSON.stringify(wrong[0])}`)
}

/**
 * Waits until the node answers management requests, which means that the secondary indexes are built. Returns
 * the number of assignments that the node reports.
 */
async function assignmentCount(node: NodeProcess): Promise<number> {
  for (;;) {
    const path = '/v2/facts/default/default/role_assignments?include_total_count=true&per_page=1'
    const { status, body } = await node.call('GET', path)
    if (status === 200) return (body as { total_count: number }).total_count
    await pause(250)
  }
}

/**
 * Waits until the secondary indexes are built, and verifies the number of assignments. Then creates a user.
 */
async function listed(node: NodeProcess): Promise<void> {
  const assignments = await assignmentCount(node)
  if (assignments !== factCount(SIZE) - SIZE.documents)
    throw new Error(`${assignments} assignments are listed`)
  await node.done('POST', '/v2/facts/default/default/users', { key: 'one-more' })
}

const redis = await startRedis()
const directory = mkdtempSync(join(tmpdir(), 'verdict-bench-'))
const storeUrl = redis.url()
const address = parseRedisUrl(storeUrl)
const link = new RedisLink(connect(address, 'bench'))
await link.recovered(10_000)
const start = (name: string) => NodeProcess.start({ storeUrl, directory: join(directory, name) })
try {
  const first = await start('first')
  const { environment_id: id } = (await first.done('GET', '/v2/api-key/scope')).body as {
    environment_id: string
  }
  for (const resource of SCHEMA) await first.done('POST', '/v2/schema/default/default/resources', resource)
  await first.stop()

  const keys = redisKeys(address.prefix, id)
  const ledger = await RedisLedger.open({ link, keys, logEntriesMax: 1, mayBegin: false })
  const large = await LargeEnvironment.open(ledger, SIZE)
  await large.addThings()
  const bytesBefore = await usedMemory(link)
  await large.addFacts()
  const bytesPerFact = ((await usedMemory(link)) - bytesBefore) / factCount(SIZE)
  const { rowCount } = await ledger.state()
  out.write(`${factCount(SIZE)} facts in ${rowCount} rows\n`)

  const [, scanSeconds] = await timed(async () => {
    let seen = 0
    for await (const rows of ledger.rows()) seen += rows.length
    if (seen < rowCount) throw new Error(`${seen} of ${rowCount} rows`)
  })
  const [fresh, freshSeconds] = await timed(() => start('node'))
  await check(fresh, large)
  const peak = fresh.memory().peak
  for (const line of fresh.log.filter(({ facts }) => facts !== undefined))
    out.write(`${JSON.stringify(line)}\n`)
  await fresh.stop()

  const [again, againSeconds] = await timed(() => start('node'))
  await check(again, large)
  const isFromSnapshot = ({ log }: NodeProcess) =>
    log.some(({ msg }) => msg === 'the index was loaded from its snapshot')
  if (!isFromSnapshot(again)) throw new Error('the index was loaded again')
  const [, listSeconds] = await timed(() => (WITHOUT_LISTS ? Promise.resolve() : listed(again)))
  await pause(2_000)
  const steady = again.memory()
  await again.kill()

  const [recovered, recoveredSeconds] = await timed(() => start('node'))
  await check(recovered, large)
  if (!isFromSnapshot(recovered)) throw new Error('the index was loaded again')
  await recovered.stop()
  publish(
    'redis-first-load',
    [
      atMost('Redis bytes per fact (hash, log aside)', bytesPerFact, 200, 'B'),
      atMost('floor: all rows read out of Redis', scanSeconds, 60, 's'),
      atMost('ready without a local copy', freshSeconds, 60, 's'),
      atMost('ready with the local copy of the last run', againSeconds, 10, 's'),
      atMost('ready after the last run was killed', recoveredSeconds, 10, 's'),
      ...(WITHOUT_LISTS ? [] : [atMost('lists there, behind that', listSeconds, 600, 's')]),
      ...(WITHOUT_LISTS
        ? []
        : [
            atMost(
              'peak of memory until ready, against steady',
              peak / (steady.anonymous + steady.mapped),
              2,
              '×',
            ),
          ]),
    ],
    {
      size: SIZE,
      facts: factCount(SIZE),
      rows: rowCount,
      peakMiB: round(peak / MIB),
      steadyAnonymousMiB: round(steady.anonymous / MIB),
      steadyMappedMiB: round(steady.mapped / MIB),
      progress: fresh.log.filter(({ facts }) => facts !== undefined),
    },
  )
  out.write(`peak ${round(peak / MIB)} MiB; steady ${round(steady.anonymous / MIB)} MiB of its own, `)
  out.write(`${round(steady.mapped / MIB)} MiB of the copy's files mapped\n`)
} finally {
  link.close()
  await redis.stop()
  rmSync(directory, { recursive: true })
}
