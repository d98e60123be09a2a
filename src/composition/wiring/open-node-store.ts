/** Opens the store of this node, and the threads that write its files concurrently with this thread. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { type Config, STORE_URL_DEFAULT } from '#config/settings.ts'
import { ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'
import { AuthzError } from '#model/errors.ts'
import { isKeyedLater, listRule } from '#store/keyspace/keyspace.ts'
import { isReadable } from '#store/keyspace/record-codec.ts'
import { WriteThread } from '#store/large-writes/write-thread.ts'
import { openStore, type OpenStoreOptions } from '#store/open/open-store.ts'
import type { Store } from '#store/store.ts'
import type { Logger } from '#telemetry/log.ts'
import { noteWritingThread } from '#threads/writing-threads.ts'
import { WORKER_URLS } from '#composition/process/worker-urls.ts'

/** The store, and the writer that must be closed together with it. */
export interface NodeStore {
  readonly store: Store
  readonly largeWrites: WriteThread
}

/**
 * Opens the store. `onFault` is called if the organization cannot follow its store. No environment can
 * continue in that case.
 */
export async function openNodeStore(
  config: Config,
  log: Logger,
  events: { readonly onFault: (error: Error) => void } & Required<Pick<OpenStoreOptions, 'onDamage'>>,
): Promise<NodeStore> {
  const largeWrites = new WriteThread(WORKER_URLS.largeWrites)
  const store = await openStore(config.storeUrl ?? STORE_URL_DEFAULT, listRule, {
    ...config,
    isKeyedLater,
    isReadable,
    buildLists: buildListsInThread,
    largeWrites,
    log,
    // Every environment depends on the organization. A fault in one environment affects no other environment.
    onFault: (environmentId, error) => {
      if (environmentId === ORGANIZATION_STORE_ID) events.onFault(error)
      else log.error({ environment: environmentId, err: error }, 'an environment cannot follow its store')
    },
    onDamage: events.onDamage,
  })
  return { store, largeWrites }
}

/**
 * Builds the secondary indexes of a fresh local replica in a separate thread. The build takes minutes;
 * decisions and commits continue in the meantime.
 */
async function buildListsInThread(directory: string, signal: AbortSignal): Promise<void> {
  const thread = new Worker(WORKER_URLS.listBuild, { workerData: { directory } })
  noteWritingThread(thread)
  const stop = () => thread.postMessage('stop')
  signal.addEventListener('abort', stop)
  const [code] = (await once(thread, 'exit')) as [number]
  signal.removeEventListener('abort', stop)
  signal.throwIfAborted()
  if (code !== 0) throw new Error(`the thread that builds secondary indexes exited with code ${code}`)
}

/**
 * Throws if the store is shared and the setting `API_KEY` is missing. Otherwise several nodes that start
 * together would each create a key, and a node started without the operator's key would revoke it for the
 * nodes that have it. Must be checked before anything is written.
 */
export function requireKeyForAll({ isShared }: Store, { apiKey }: Config): void {
  if (!isShared || apiKey !== null) return
  const message = 'a key is required because the store is shared: set the same one on every node'
  throw new AuthzError('INVALID_INPUT', `setting API_KEY: ${message}`)
}
