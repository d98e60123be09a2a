/** A node's store on a Redis, with one environment of toy rows: what services build on, without the services. */
import { expect, onTestFinished } from 'vitest'
import type { Revision } from '#model/revision.ts'
import type { Ledger } from '#store/ledger.ts'
import { openStore, type OpenStoreOptions } from '#store/open-store.ts'
import { redisKeys } from '#store/redis/redis-keys.ts'
import { parseRedisUrl } from '#store/redis/redis-url.ts'
import type { EnvironmentStore, Store } from '#store/store.ts'
import type { View } from '#store/view.ts'
import { storeDirectory } from '#testing/processes/running-service.ts'
import { KeptLog } from '../support/kept-log.ts'
import { shown, toyRule } from './toy-rows.ts'

export const ENVIRONMENT = 'toys'

export interface StoreNode {
  readonly store: Store
  readonly environment: EnvironmentStore
  readonly ledger: Ledger
  readonly view: View
  readonly log: KeptLog
  /** Where its local copies are. */
  readonly directory: string
}

/** A node for the present test. One that cannot open its environment is closed again. */
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

/** Resolves when the node has the revision, in the way services hear of it. */
export async function follows(ledger: Ledger, after: Revision, until: Revision): Promise<void> {
  for await (const entry of ledger.feed(after)) if (entry.revision.sequence >= until.sequence) return
}

/** All nodes show what a fresh one shows, which is returned, and nobody has loaded anything again. */
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
