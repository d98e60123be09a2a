/** The store of a node on a Redis, with one environment of toy rows. */
import { expect, onTestFinished } from 'vitest'
import type { Revision } from '#model/revision.ts'
import type { Ledger } from '#store/ledger.ts'
import { openStore, type OpenStoreOptions } from '#store/open/open-store.ts'
import { redisKeys } from '#store/redis/link/redis-keys.ts'
import { parseRedisUrl } from '#store/redis/link/redis-url.ts'
import type { EnvironmentStore, Store } from '#store/store.ts'
import type { View } from '#store/view.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { KeptLog } from '../../support/kept-log.ts'
import { shown, toyRule } from '../toy-rows.ts'

export const ENVIRONMENT = 'toys'

export interface StoreNode {
  readonly store: Store
  readonly environment: EnvironmentStore
  readonly ledger: Ledger
  readonly view: View
  readonly log: KeptLog
  /** Directory of the local replicas. */
  readonly directory: string
}

/** Starts a node for the current test. If the node cannot open its environment, it is closed. */
export async function startStoreNode(url: string, options: OpenStoreOptions = {}): Promise<StoreNode> {
  const log = new KeptLog()
  const directory = options.dataDirectory ?? storeDirectory()
  const store = await openStore(url, toyRule, {
    staleAfterMs: 200,
    log,
    dataDirectory: directory,
    ...options,
  })
  onTestFinished(() => store.close())
  try {
    const environment = await store.environment(ENVIRONMENT)
    const { ledger, view } = environment
    return { store, environment, ledger, view, log, directory }
  } catch (error) {
    await store.close()
    throw error
  }
}

export const keysAt = (url: string) => redisKeys(parseRedisUrl(url).prefix, ENVIRONMENT)

/** Resolves when the feed of the node has delivered the revision. */
export async function follows(ledger: Ledger, after: Revision, until: Revision): Promise<void> {
  for await (const entry of ledger.feed(after)) if (entry.revision.sequence >= until.sequence) return
}

/** Expects that all nodes have the content of a new node, and have not loaded again. Returns the new node. */
export async function expectSame(url: string, nodes: readonly StoreNode[]): Promise<StoreNode> {
  const fresh = await startStoreNode(url)
  const { sequence } = await fresh.ledger.head()
  for (const { ledger, view, log } of nodes) {
    const { epoch } = await ledger.head()
    await follows(ledger, { epoch, sequence: sequence - 1 }, { epoch, sequence })
    expect(shown(view)).toEqual(shown(fresh.view))
    expect(log.lines.filter(({ message }) => message.includes('loading another'))).toEqual([])
  }
  return fresh
}
