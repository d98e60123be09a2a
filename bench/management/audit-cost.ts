/**
 * Measures the cost of the audit log per commit. Users are created one after the other, and each is durable
 * before the next one. With a caller, each commit contains an audit log entry. Without a caller, it contains
 * no entry. Both kinds of commits alternate on one store, in blocks. The ratio of their medians is reported.
 *
 *     node --disable-warning=ExperimentalWarning bench/management/audit-cost.ts [STORE_URL]
 */
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EnvironmentService } from '#management/environment/environment-service.ts'
import { listRule } from '#store/keyspace/keyspace.ts'
import { openStore } from '#store/open/open-store.ts'

const BLOCKS = 20
const USERS_PER_BLOCK = 250

const directory = mkdtempSync(join(tmpdir(), 'verdict-bench-'))
const store = await openStore(process.argv[2] ?? `lmdb:${directory}`, listRule)

async function serviceOf(environmentId: string): Promise<EnvironmentService> {
  return new EnvironmentService({
    store: await store.environment(environmentId),
    scope: { organizationId: randomUUID(), projectId: randomUUID(), environmentId, createdAt: 0 },
    runtime: {
      now: Date.now,
      elapsedMs: () => performance.now(),
      newId: randomUUID,
      newCommitId: () => randomBytes(16),
      newSecret: () => randomBytes(32).toString('hex'),
      seal: () => null,
      attributesBytesMax: 65_536,
      onCommit: () => {},
      onBackgroundFault: error => {
        throw error
      },
    },
    whenVisible: () => Promise.resolve(),
  })
}

const caller = { keyId: randomUUID(), requestId: randomUUID(), claim: null }
const ways = [
  { name: 'without', service: await serviceOf('without'), caller: null, ms: [] as number[] },
  { name: 'with', service: await serviceOf('with'), caller, ms: [] as number[] },
]
for (let block = 0; block < BLOCKS; block += 1) {
  for (const way of block % 2 === 0 ? ways : ways.toReversed()) {
    for (let index = 0; index < USERS_PER_BLOCK; index += 1) {
      const from = performance.now()
      await way.service.execute('createUser', { body: { key: `user-${block}-${index}` } }, way.caller)
      way.ms.push(performance.now() - from)
    }
  }
}
for (const { service } of ways) await service.close()
await store.close()

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
const [without, withEntries] = ways.map(({ ms }) => median(ms)) as [number, number]
process.stdout.write(
  `a commit: ${without.toFixed(3)} ms without an entry, ${withEntries.toFixed(3)} ms with one, ratio ${(withEntries / without).toFixed(3)}\n`,
)
for (const name of readdirSync(directory, { recursive: true })) {
  const path = join(directory, String(name))
  if (statSync(path).isFile()) process.stdout.write(`${String(name)} ${statSync(path).size} bytes\n`)
}
rmSync(directory, { recursive: true, force: true })
