/** Opens the store of this node, with the threads that write its files beside this one. */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { type Config, STORE_URL_DEFAULT } from '#config/config.ts'
import { ORGANIZATION_STORE_ID } from '#management/organization/organization.ts'
import { AuthzError } from '#model/errors.ts'
import { isKeyedLater, listRule } from '#store/keyspace/keyspace.ts'
import { isReadable } from '#store/keyspace/record-codec.ts'
import { WriteThread } from '#store/large-writes/write-thread.ts'
import { openStore, type OpenStoreOptions } from '#store/open-store.ts'
import type { Store } from '#store/store.ts'
import type { Logger } from '#telemetry/log.ts'
import { noteWritingThread } from '#threads/writing-threads.ts'
import { WORKER_URLS } from './worker-urls.ts'

/** `largeWrites` is to be closed together with the store. */
export interface NodeStore {
  readonly store: Store
  readonly largeWrites: WriteThread
}

/** `onFault` is called when the organization cannot follow its store: then no environment can go on. */
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
    // Every environment needs the organization. A fault of one environment ends nothing else.
    onFault: (environmentId, error) => {
      if (environmentId === ORGANIZATION_STORE_ID) events.onFault(error)
      else log.error({ environment: environmentId, err: error }, 'an environment does not follow its store')
    },
    onDamage: events.onDamage,
  })
  return { store, largeWrites }
}

/** Builds the lists of a fresh local copy in a thread of its own. That takes minutes, beside decisions and commits. */
async function buildListsInThread(directory: string, signal: AbortSignal): Promise<void> {
  const thread = new Worker(WORKER_URLS.listBuild, { workerData: { directory } })
  noteWritingThread(thread)
  const stop = () => thread.postMessage('stop')
  signal.addEventListener('abort', stop)
  const [code] = (await once(thread, 'exit')) as [number]
  signal.removeEventListener('abort', stop)
  signal.throwIfAborted()
  if (code !== 0) throw new Error(`the thread that builds lists ended with code ${code}`)
}

/**
 * A shared store needs `API_KEY` in the settings. Without it each of several nodes that start together would make another
 * key, and a start without the operator's key would take it from the nodes that have it. Checked before anything is
 * written.
 */
export function requireKeyForAll({ isShared }: Store, { apiKey }: Config): void {
  if (!isShared || apiKey !== null) return
  const message = 'expected a key, since the store is shared: give every node the same one'
  throw new AuthzError('INVALID_INPUT', `setting API_KEY: ${message}`)
}
