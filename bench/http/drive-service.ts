/**
 * The service with a dataset of millions of facts that is loaded directly into its index. The HTTP threads,
 * their pool threads and the index are those of the real service. Only the store and management are missing,
 * because decisions do not use them.
 *
 *     node bench/http/drive-service.ts [scale [rules | plans | sessions]]
 *
 * The program reads HTTP_THREADS, POOL_THREADS and other settings in the same way as the service. With
 * `sessions`, 10,000 sessions exist, and the key has the level `decide`. The settings of the sign-in must be
 * set.
 */
import { hash } from 'node:crypto'
import { warmUpWriter } from '#engine/shared-index/warm-up.ts'
import { SharedIndexWriter } from '#engine/shared-index/writer.ts'
import { AuthzError } from '#model/errors.ts'
import { StalenessDeadline } from '#threads/indexes/staleness-deadline.ts'
import { HttpThreads } from '#threads/channel/http-threads.ts'
import { createSharedCounts } from '#threads/channel/shared-count.ts'
import { SharedIndexes } from '#threads/indexes/shared-indexes.ts'
import { withoutSecrets } from '../../src/config/settings.ts'
import { readConfig } from '../../src/config/read-config.ts'
import { tuneV8 } from '../../src/composition/process/v8-tuning.ts'
import { WORKER_URLS } from '../../src/composition/process/worker-urls.ts'
import { Drive } from '../data/drive.ts'
import { PlannedDrive } from '../data/planned-drive.ts'
import { RuledDrive } from '../data/ruled-drive.ts'
import { API_KEY } from '../lib/prepared-store.ts'
import { acceptedSessions } from '../lib/session-rows.ts'

const ENVIRONMENT_ID = '00000000-0000-4000-8000-000000000001'
tuneV8()
const config = readConfig({ HTTP_THREADS: '1', LOG_LEVEL: 'warn', ...process.env })
const scale = Number(process.argv[2] ?? 1)
const drives = {
  none: () => new Drive('W1', scale),
  rules: () => new RuledDrive('W6', scale),
  plans: () => new PlannedDrive('W1', scale),
  sessions: () => new Drive('W1', scale),
}
const kind = (process.argv[3] ?? 'none') as keyof typeof drives
const drive = drives[kind]()
const scope = {
  projectId: ENVIRONMENT_ID,
  environmentId: ENVIRONMENT_ID,
  projectKey: 'default',
  environmentKey: 'default',
}

const threads = new HttpThreads({
  entry: WORKER_URLS.http,
  count: config.httpThreads,
  streamBytesMax: config.changeStreamsBytesMax / 4 / config.httpThreads,
  execute: () => Promise.reject(new AuthzError('NOT_READY', 'there is no management here')),
  describeNode: () => Promise.resolve(''),
  onKeyUsed: () => {},
  onSessionUsed: sessionId => ({ sessionId, at: 0 }),
  onCounters: () => {},
  onFault: fail,
  onDeath: fail,
})
const port = await threads.start({
  host: '127.0.0.1',
  port: 0,
  tokenSecret: '00'.repeat(32),
  credentials: [
    {
      secretHash: hash('sha256', API_KEY, 'hex'),
      principal: {
        kind: 'environment',
        organizationId: ENVIRONMENT_ID,
        ...scope,
        keyId: null,
        level: kind === 'sessions' ? 'decide' : 'admin',
      },
      validUntil: null,
      slot: 0,
    },
  ],
  counts: createSharedCounts(),
  sessions: kind === 'sessions' ? acceptedSessions(ENVIRONMENT_ID, scope) : null,
  keyRates: null,
  deadline: new StalenessDeadline().handle,
  settings: withoutSecrets(config),
})
const indexes = new SharedIndexes({
  createWriter: () =>
    new SharedIndexWriter({ threadId: 1, secrets: { start: 0x3c6ef372, multiplier: 0x2545f491 } }),
  attach: (environmentId, handle) => threads.attach(environmentId, handle),
  detach: (environmentId, reason) => threads.detach(environmentId, reason),
  onFault: (_environmentId, error) => {
    throw error
  },
  kept: null,
  warmUpWriter,
})
await indexes.load(ENVIRONMENT_ID, changes(), { epoch: 'bench', sequence: 1 }, null)
await indexes.publish(ENVIRONMENT_ID)
threads.setState({ isServing: true, isFresh: true, writeRefusal: null })
process.stdout.write(`listens on http://127.0.0.1:${port}\n`)
process.once('SIGTERM', () => void threads.close().then(() => process.exit(0)))

function* changes() {
  yield* drive.things()
  yield* drive.facts()
}

function fail(error: unknown): void {
  process.stderr.write(`${String(error)}\n`)
  process.exitCode = 1
}
